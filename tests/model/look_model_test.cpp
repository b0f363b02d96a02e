// Looks at tiles that are to end: when all say that they are quiet, nothing is on its way between them;
// and what would make them say it too soon.
#include <leat/base/spin_pause.hpp>
#include <leat/tile/control/look.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace leat::tile {
namespace {

using model::expect_catches;
using model::expect_holds;
using model::expect_needs_edges;

/// Two tiles that pass a ball to and fro, so often; each has an inbox that counts what was sent to it.
struct Court {
  struct sent : Edge {};  // who sends -> who takes: a channel's own edge

  struct Player {
    TileRow row;
    LookAnswers answers;
    Atomic<std::uint64_t> inbox{0};
    std::uint64_t taken = 0;

    [[nodiscard]] TileProgress progress() const {
      const std::uint64_t sent_to_it = inbox.load_acquire(sent{});
      return {.taken = taken, .there = sent_to_it - taken};
    }
  };

  std::array<Player, 2> players;
  int passes = 2;  // whose has the ball: both look at it only then

  // One pass of a tile.
  void play(std::size_t i) {
    Player& me = players[i];
    if (me.progress().there == 0) return;
    ++me.taken;
    if (passes-- == 0) return;
    Player& other = players[1 - i];
    // Only who has the ball sends.
    other.inbox.store_release(other.inbox.load_relaxed() + 1, sent{});
  }

  // A tile that settles: so many passes, with an answer behind each if it was asked.
  void settle(std::size_t i, int rounds) {
    for (int k = 0; k < rounds; ++k) {
      play(i);
      players[i].answers.answer(players[i].row, [&] { return players[i].progress(); });
      spin_pause();
    }
  }

  // Asks for so many looks, and gives up where one is not answered by both at once.
  //
  // Returns: whether all were quiet in the last.
  bool look(std::uint64_t looks) {
    bool quiet = false;
    for (std::uint64_t look = 1; look <= looks; ++look) {
      for (Player& player : players) player.row.ask(look);
      spin_pause();
      quiet = true;
      for (Player& player : players) {
        const TileAnswer answer = player.row.answer();
        if (answer.look != look) return false;
        quiet = quiet && answer.is_quiet;
      }
    }
    return quiet;
  }
};

/// Whether the last of so many looks, answered by tiles that make so many passes, says the truth.
model::Body quiet_in(std::uint64_t looks, int rounds) {
  return [=](model::Run& run) {
    auto court = std::make_shared<Court>();
    auto quiet = std::make_shared<bool>(false);
    court->players[0].inbox.store_relaxed(1);  // nobody else runs yet
    run.thread([=] { court->settle(0, rounds); });
    run.thread([=] { court->settle(1, rounds); });
    run.thread([=] { *quiet = court->look(looks); });
    run.join();
    run.outcome(*quiet ? "quiet" : "not quiet");
    if (*quiet) model::require(court->passes < 0, "the ball has come to its end");
  };
}

TEST(LookModel, WhenAllAreQuietNothingIsOnItsWay) {
  const model::Body body = quiet_in(4, 5);
  const model::Options options{.sampling = {.executions = 50'000, .depth = 4}};
  expect_holds(body, options);
  auto result = model::explore(options, body);
  EXPECT_GT(result.outcomes["quiet"], 0U) << "it is seen, too";
}

TEST(LookModel, OneAnswerThatNothingIsThereIsNotEnough) {
  expect_catches(quiet_in(1, 2), {"look.quiet_at_once"}, "come to its end", {.preemptions = 0});
  expect_catches(quiet_in(2, 3), {"look.uncounted"}, "come to its end",
                 {.sampling = {.executions = 20'000, .depth = 4}});
}

// One sends and answers; then the other is asked.
void asked_after_an_answer(model::Run& run) {
  auto court = std::make_shared<Court>();
  court->players[0].inbox.store_relaxed(1);  // nobody else runs yet
  court->players[0].row.ask(1);
  run.thread([=] { court->settle(0, 1); });
  run.thread([=] {
    if (court->players[0].row.answer().look == 1) court->players[1].row.ask(2);
  });
  run.thread([=] {
    if (court->players[1].row.is_asked() != 2) return;
    model::require(court->players[1].progress().there == 1, "what was sent before is there");
  });
  run.join();
}

TEST(LookModel, WhoIsAskedSeesWhatOthersSentBeforeTheyAnswered) {
  expect_holds(asked_after_an_answer, {.preemptions = 3});
}

TEST(LookModel, TheOrderOfQuestionsAndAnswersIsNeeded) {
  expect_needs_edges(asked_after_an_answer, {"TileRow::answers", "TileRow::asks"},
                     "what was sent before is there");
}

}  // namespace
}  // namespace leat::tile
