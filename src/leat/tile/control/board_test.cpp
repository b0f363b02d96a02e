#include <leat/tile/control/board.hpp>

#include <leat/core/segment/test_segments.hpp>

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace leat::tile {
namespace {

using std::chrono::milliseconds;

TEST(TileBoard, ATileIsSeenWithWhatItSaysOfItself) {
  auto board = TileBoard::make_private();
  const auto seat = board->seat("parser").value();
  seat.row().began_ns.set(100);
  seat.row().looked_ns.set(1100);
  seat.row().busy_ns.set(250);
  seat.row().beat(Nanos{1100});
  seat.row().unpark(Nanos{1200});
  const auto tiles = board->tiles();
  ASSERT_EQ(tiles.size(), 1U);
  EXPECT_EQ(tiles[0].name, "parser");
  EXPECT_EQ(tiles[0].id, seat.id());
  EXPECT_EQ(tiles[0].state, TileState::run);
  EXPECT_EQ(tiles[0].heartbeat, Nanos{1200});
  EXPECT_DOUBLE_EQ(tiles[0].utilisation(), 0.25);
  EXPECT_TRUE(tiles[0].is_alive);
}

TEST(TileBoard, ATileThatHasLeftIsNobodyAndItsRowTheNextOnes) {
  auto board = TileBoard::make_private();
  auto first = board->seat("a").value();
  const TileId gone = first.id();
  first.row().consumed.set(7);
  first.leave();
  EXPECT_FALSE(board->find(gone).has_value());
  const auto second = board->seat("b").value();
  EXPECT_NE(second.id(), gone);
  EXPECT_EQ(board->find(second.id())->name, "b");
  EXPECT_EQ(board->find(second.id())->consumed, 0U);
  EXPECT_FALSE(board->find(gone).has_value());
}

TEST(TileBoard, NamesOfNoLengthOrTooMuchAreRefused) {
  auto board = TileBoard::make_private();
  EXPECT_FALSE(board->seat(""));
  EXPECT_TRUE(board->seat(std::string(32, 'x')).has_value());
  const auto refused = board->seat(std::string(33, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("33 bytes; take 1 to 32"), std::string::npos);
}

TEST(TileBoard, TheTwoHundredAndFiftySeventhTileIsRefusedAndNotTheProcess) {
  auto board = TileBoard::make_private();
  std::vector<TileSeat> seats;
  for (int i = 0; i < 256; ++i) seats.push_back(board->seat("t").value());
  const auto refused = board->seat("one more");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("all 256 taken"), std::string::npos);
}

TEST(TileBoard, NobodyHasTheNumberZeroHoweverOftenItsRowIsTaken) {
  auto board = TileBoard::make_private();
  for (int i = 0; i < 600; ++i) EXPECT_TRUE(static_cast<bool>(board->seat("t").value().id()));
}

TEST(TileBoard, ChannelsOfOneNameShareAnEntryAndOthersDoNot) {
  auto board = TileBoard::make_private();
  std::set<std::uint32_t> entries;
  for (int i = 0; i < 64; ++i) {
    const std::string name = "channel" + std::to_string(i);
    const auto entry = board->channel(name).value();
    EXPECT_EQ(board->channel(name).value(), entry);
    EXPECT_EQ(board->channel_name(entry), name);
    entries.insert(entry);
  }
  EXPECT_EQ(entries.size(), 64U);
  EXPECT_FALSE(board->channel("one more"));
}

TEST(TileBoard, ChildrenThatRegisterAtOnceGetNumbersOfTheirOwn) {
  const core::TestFolder folder;
  const core::SegmentName name{.name = TileBoard::kSegmentName, .base = folder.path()};
  auto board = TileBoard::open(name).value();
  constexpr int kChildren = 4;
  constexpr std::size_t kTiles = 20;
  std::vector<std::unique_ptr<core::ChildProcess>> children;
  for (int i = 0; i < kChildren; ++i) {
    children.push_back(std::make_unique<core::ChildProcess>([&](const core::ChildProcess& self) {
      auto theirs = TileBoard::open(name).value();
      std::vector<TileSeat> seats;
      for (std::size_t n = 0; n < kTiles; ++n) seats.push_back(theirs->seat("child").value());
      self.say('.');
      core::ChildProcess::wait_for_ever();
    }));
  }
  for (const auto& child : children) ASSERT_EQ(child->listen(), '.');
  std::set<std::uint16_t> numbers;
  for (const TileFacts& tile : board->tiles()) {
    EXPECT_TRUE(tile.is_alive);
    numbers.insert(tile.id.number);
  }
  EXPECT_EQ(numbers.size(), kChildren * kTiles);

  // Whoever was killed is seen to be dead, and its rows are there for others when no other is free.
  for (const auto& child : children) child->kill();
  for (const TileFacts& tile : board->tiles()) EXPECT_FALSE(tile.is_alive);
  std::vector<TileSeat> seats;
  for (std::uint32_t i = 0; i < kTilesMax; ++i) seats.push_back(board->seat("mine").value());
  EXPECT_FALSE(board->seat("one more"));
}

TEST(TileRow, AWatchdogSuspectsWhoRunsWithoutAHeartbeatAlone) {
  TileRow row;
  const auto at = [](int ms) { return [ms]() -> Nanos { return milliseconds(ms); }; };
  EXPECT_FALSE(row.is_stuck(milliseconds(10), at(100))) << "it has not begun";
  row.unpark(milliseconds(100));
  EXPECT_FALSE(row.is_stuck(milliseconds(10), at(110)));
  EXPECT_TRUE(row.is_stuck(milliseconds(10), at(111)));
  row.beat(milliseconds(111));
  EXPECT_FALSE(row.is_stuck(milliseconds(10), at(120)));
  row.enter(TileState::parked);
  EXPECT_FALSE(row.is_stuck(milliseconds(10), at(1000))) << "who is parked owes nothing";
  row.unpark(milliseconds(1000));
  EXPECT_FALSE(row.is_stuck(milliseconds(10), at(1005)));
  row.enter(TileState::halt);
  EXPECT_FALSE(row.is_stuck(milliseconds(10), at(5000)));
}

TEST(TileRow, CommandsOnlyGrow) {
  TileRow row;
  row.tell(Command::drain);
  row.tell(Command::run);
  EXPECT_EQ(row.is_told(), Command::drain);
  row.tell(Command::halt);
  EXPECT_EQ(row.is_told(), Command::halt);
}

}  // namespace
}  // namespace leat::tile
