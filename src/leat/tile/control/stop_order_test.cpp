#include <leat/tile/control/stop_order.hpp>

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

namespace leat::tile {
namespace {

constexpr TileAnswer kQuiet{.is_quiet = true, .has_caught_up = true};
constexpr TileAnswer kBusy{.is_quiet = false, .has_caught_up = true};
constexpr TileAnswer kBehind{};

/// Four tiles, who do nothing but what a test says.
class StopOrderTest : public testing::Test {
 protected:
  StopOrderTest() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].tell(Command::run);
      rows_[i].consumes.set(std::uint64_t{1} << i);  // a channel each
      tiles_.push_back({.row = &rows_[i], .is_ready = true});
    }
  }
  void is_source(std::size_t i) { rows_[i].consumes.set(0); }
  void feeds(std::size_t from, std::initializer_list<std::size_t> to) {
    for (const std::size_t k : to) {
      rows_[from].produces.set(rows_[from].produces.get() | std::uint64_t{1} << k);
    }
  }
  void end(std::size_t i) { tiles_[i].has_ended = true; }
  void step(Patience patience = Patience::some) { order_.step(tiles_, patience); }
  void answer(std::size_t i, TileAnswer answer) {
    answer.look = rows_[i].is_asked();
    rows_[i].give(answer);
  }
  /// All who are left answer so, and the order goes on.
  void all_answer(const std::array<TileAnswer, 4>& answers) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!tiles_[i].has_ended) answer(i, answers[i]);
    }
    step();
  }
  void all_are_quiet() { all_answer({kQuiet, kQuiet, kQuiet, kQuiet}); }
  /// Who was told to drain and has not ended, as text.
  [[nodiscard]] std::string draining() const {
    std::string text;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!tiles_[i].has_ended && rows_[i].is_told() == Command::drain) text += std::to_string(i);
    }
    return text;
  }
  [[nodiscard]] std::uint64_t look() const { return rows_[3].is_asked(); }

  std::array<TileRow, 4> rows_;
  std::vector<EndingTile> tiles_;
  StopOrder order_;
};

TEST_F(StopOrderTest, SourcesDrainAtOnceAndOthersAreAskedWhenTheyHaveEnded) {
  is_source(0);
  step();
  EXPECT_EQ(draining(), "0");
  EXPECT_EQ(rows_[1].is_told(), Command::settle);
  step();
  EXPECT_EQ(look(), 0U);
  end(0);
  step();
  EXPECT_EQ(look(), 1U);
}

TEST_F(StopOrderTest, WhoIsNotReadyIsNoSourceYet) {
  is_source(0);
  tiles_[0].is_ready = false;
  step();
  EXPECT_EQ(rows_[0].is_told(), Command::settle);
}

TEST_F(StopOrderTest, TheyEndInTheOrderInWhichTheyFeedEachOther) {
  feeds(0, {1});
  feeds(1, {2});
  feeds(2, {3});
  std::string order;
  step();
  for (int i = 0; i < 4; ++i) {
    all_are_quiet();
    order += draining();
    end(static_cast<std::size_t>(i));
    step();
  }
  EXPECT_EQ(order, "0123");
}

TEST_F(StopOrderTest, NobodyDrainsBeforeAllAreQuiet) {
  feeds(0, {1});
  step();
  all_answer({kQuiet, kQuiet, kQuiet, kBehind});
  EXPECT_EQ(draining(), "");
  all_answer({kQuiet, kBehind, kQuiet, kQuiet});
  EXPECT_EQ(draining(), "");
  feeds(1, {2});  // learnt meanwhile
  feeds(2, {3});
  all_are_quiet();
  EXPECT_EQ(draining(), "0");
}

TEST_F(StopOrderTest, ALookIsAskedForWhenAllHaveAnsweredTheOneBefore) {
  step();
  EXPECT_EQ(look(), 1U);
  for (std::size_t i = 0; i < 3; ++i) answer(i, kQuiet);
  step();
  EXPECT_EQ(look(), 1U);
  answer(3, kBehind);
  step();
  EXPECT_EQ(look(), 2U);
}

// What it sent at its end may not have been seen by those who answered before.
TEST_F(StopOrderTest, ALookFromBeforeAnEndDoesNotCount) {
  step();
  for (std::size_t i = 1; i < 4; ++i) answer(i, kQuiet);
  end(0);
  step();
  EXPECT_EQ(draining(), "");
  EXPECT_EQ(look(), 2U);
  all_are_quiet();
  EXPECT_EQ(draining(), "123");
}

TEST_F(StopOrderTest, ThoseInACircleDrainTogetherAndBeforeWhomTheyFeed) {
  feeds(0, {1});
  feeds(1, {0, 2});
  feeds(2, {3});
  step();
  all_are_quiet();
  EXPECT_EQ(draining(), "01");
  end(0);
  step();
  EXPECT_EQ(draining(), "1") << "while somebody drains, nobody is asked";
  end(1);
  step();
  all_are_quiet();
  EXPECT_EQ(draining(), "2");
}

// It may send at its end, what nobody knows yet.
TEST_F(StopOrderTest, WhoWasNeverFedWaitsForThoseWhoWere) {
  is_source(0);
  feeds(0, {1});
  step();
  end(0);
  step();
  all_are_quiet();
  EXPECT_EQ(draining(), "1");
  feeds(1, {2});
  end(1);
  step();
  all_are_quiet();
  EXPECT_EQ(draining(), "2");
  end(2);
  step();
  all_are_quiet();
  EXPECT_EQ(draining(), "3");
}

TEST_F(StopOrderTest, WhoMakesMessagesOfNothingHoldsNobodyUp) {
  feeds(0, {1});
  feeds(2, {3});
  step();
  int looks = 0;
  for (; draining().empty() && looks < 100; ++looks) {
    // Sometimes a look comes between two of their messages.
    all_answer({kQuiet, looks % 2 == 0 ? kQuiet : kBusy, kQuiet, kBusy});
  }
  EXPECT_GT(looks, 4) << "what was on its way has to arrive first";
  EXPECT_EQ(draining(), "02");
}

TEST_F(StopOrderTest, NorDoesWhoFeedsItself) {
  feeds(0, {0, 1});
  step();
  for (int i = 0; draining().empty() && i < 100; ++i) {
    all_answer({kBusy, kQuiet, kQuiet, kQuiet});
  }
  EXPECT_EQ(draining(), "0");
}

TEST_F(StopOrderTest, WhoIsFedByNobodyThatIsKnownIsWaitedForWhileItIsBusy) {
  step();
  for (int i = 0; i < 20; ++i) all_answer({kBusy, kQuiet, kQuiet, kQuiet});
  EXPECT_EQ(draining(), "");
}

TEST_F(StopOrderTest, NobodyIsSaidToMakeThemWhileSomebodyIsBehindOrInACircle) {
  feeds(0, {1});
  step();
  for (int i = 0; i < 20; ++i) all_answer({kQuiet, i % 4 == 0 ? kBehind : kBusy, kQuiet, kQuiet});
  EXPECT_EQ(draining(), "");
  feeds(1, {2});
  feeds(2, {1});
  for (int i = 0; i < 20; ++i) all_answer({kQuiet, kBusy, kBusy, kQuiet});
  EXPECT_EQ(draining(), "");
}

TEST_F(StopOrderTest, WithoutPatienceKnownChannelsDecideAndCirclesDrain) {
  feeds(0, {1});
  feeds(2, {3});
  feeds(3, {2});
  step();
  step(Patience::none);
  EXPECT_EQ(draining(), "23") << "who was ever fed is first";
  step(Patience::none);
  end(2);
  end(3);
  step(Patience::none);
  EXPECT_EQ(draining(), "0");
  end(0);
  step(Patience::none);
  EXPECT_EQ(draining(), "1");
}

TEST(LookAnswers, ATileIsQuietIfItTookNothingSinceItAnsweredBefore) {
  TileRow row;
  LookAnswers answers;
  const auto answer = [&](std::uint64_t look, TileProgress progress) {
    row.ask(look);
    EXPECT_TRUE(answers.answer(row, [&] { return progress; }));
    EXPECT_FALSE(answers.answer(row, [&] { return progress; })) << "once for one look";
    EXPECT_EQ(row.answer().look, look);
    return row.answer();
  };
  EXPECT_FALSE(answer(1, {.taken = 5}).is_quiet) << "it has not answered before";
  EXPECT_TRUE(answer(2, {.taken = 5}).is_quiet);
  EXPECT_FALSE(answer(3, {.taken = 5, .there = 3}).is_quiet);
  EXPECT_FALSE(answer(4, {.taken = 7, .there = 4}).has_caught_up) << "one of three is left";
  const TileAnswer busy = answer(5, {.taken = 11, .there = 9});
  EXPECT_TRUE(busy.has_caught_up);
  EXPECT_FALSE(busy.is_quiet);
  EXPECT_FALSE(answer(6, {.taken = 20, .held = 1}).has_caught_up);
  EXPECT_FALSE(answer(7, {.taken = 20, .held = 1}).is_quiet);
  EXPECT_TRUE(answer(8, {.taken = 20}).is_quiet);
}

}  // namespace
}  // namespace leat::tile
