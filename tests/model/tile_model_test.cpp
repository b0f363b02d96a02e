// The words of a tile: no watchdog suspects a tile that was parked, no command and no message leaves a
// tile asleep; and what would.
#include <leat/base/mutant.hpp>
#include <leat/tile/control/board.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace leat::tile {
namespace {

using model::expect_catches;
using model::expect_holds;
using model::expect_needs_edges;

struct ticked : Edge {};  // who moves the clock -> who reads it: real clocks come with no less

// A tile that never is in a pass for long, but is parked for long.
void sleeps_long(model::Run& run) {
  struct State {
    TileRow row;
    Atomic<std::int64_t> time{1};
  };
  auto state = std::make_shared<State>();
  run.thread([=] {
    state->row.unpark(Nanos{1});
    state->row.enter(TileState::parked);
    state->time.store_release(100, ticked{});
    state->row.unpark(Nanos{100});
  });
  run.thread([=] {
    const auto now = [&] { return Nanos{state->time.load_acquire(ticked{})}; };
    model::require(!state->row.is_stuck(Nanos{10}, now), "a parked tile is not suspected");
  });
  run.join();
}

TEST(TileModel, AWatchdogNeverSuspectsWhoWasParked) { expect_holds(sleeps_long); }

TEST(TileModel, ItReadsTheTimeFirstAndTheTileBeatsBeforeItRuns) {
  expect_catches(sleeps_long, {"row.time_last", "row.run_before_beat"}, "is not suspected");
  expect_needs_edges(sleeps_long, {"TileRow::seen"}, "is not suspected");
}

struct Message {
  struct published : Edge {};  // producer -> tile: seq_cst, against the bits of who sleeps
  Atomic<int> stamp{0};
};

// A tile that sleeps until a channel has something; the producer looks at the channel's bits.
struct Sleeper {
  TileRow row;
  ChannelEntry channel;
  Message message;

  void produce() {
    message.stamp.store_seq_cst(1, Message::published{});
    channel.for_each_sleeper([this](std::uint32_t) { row.bell.ring(); });
  }
  [[nodiscard]] bool has_news() const {
    return message.stamp.load_seq_cst(Message::published{}) == 1;
  }
  void await() {
    while (!has_news()) {
      if (!LEAT_MUTANT("test.bit_after_the_look")) channel.say_sleeps(3);
      row.bell.sleep(
          [this] {
            const bool news = has_news();
            if (LEAT_MUTANT("test.bit_after_the_look")) channel.say_sleeps(3);
            return news;
          },
          std::nullopt);
      channel.say_awake(3);
    }
  }
};

void wakes_through_a_channel(model::Run& run) {
  auto state = std::make_shared<Sleeper>();
  run.thread([=] { state->produce(); });
  run.thread([=] { state->await(); });
  run.join();
}

TEST(TileModel, AMessageNeverLeavesItsConsumerAsleep) {
  expect_holds(wakes_through_a_channel, {.preemptions = 4});
}

TEST(TileModel, WakingThroughAChannelNeedsItsOrder) {
  expect_needs_edges(wakes_through_a_channel, {"ChannelEntry::doze", "RingBell::doze"},
                     model::kStuck);
  expect_catches(wakes_through_a_channel, {"test.bit_after_the_look"}, model::kStuck);
}

void is_told_to_end(model::Run& run) {
  auto row = std::make_shared<TileRow>();
  run.thread([=] { row->tell(Command::halt); });
  run.thread([=] {
    while (row->is_told() != Command::halt) {
      row->bell.sleep([=] { return row->is_told() == Command::halt; }, std::nullopt);
    }
  });
  run.join();
}

TEST(TileModel, ACommandReachesATileThatSleeps) {
  expect_holds(is_told_to_end, {.preemptions = 4});
}

TEST(TileModel, ACommandNeedsItsOrder) {
  expect_needs_edges(is_told_to_end, {"TileRow::told"}, model::kStuck);
}

}  // namespace
}  // namespace leat::tile
