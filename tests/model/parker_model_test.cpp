// Parker and ParkMask: no wake-up is lost, in any interleaving; and what would lose one.
#include <leat/base/mutant.hpp>
#include <leat/base/plain.hpp>
#include <leat/core/park_mask.hpp>
#include <leat/core/parker.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace leat::core {
namespace {

using model::expect_catches;
using model::expect_holds;
using model::expect_needs_edges;

constexpr auto kNothing = [] { return false; };

/// Something that is announced to a sleeper.
struct News {
  struct announced : Edge {};  // announcer -> sleeper, seq_cst: announce, then look for the sleeper

  void announce(int number) {
    text.set(number);
    number_.store_seq_cst(number, announced{});
  }
  [[nodiscard]] bool came(int number) const { return number_.load_seq_cst(announced{}) >= number; }

  Plain<int> text{0};

 private:
  Atomic<int> number_{0};
};

// One announces and rings, one sleeps until it knows.
void ring_for_news(model::Run& run) {
  struct State {
    News news;
    Parker parker;
  };
  auto state = std::make_shared<State>();
  run.thread([=] {
    state->news.announce(1);
    state->parker.ring();
  });
  run.thread([=] {
    const auto came = [&] { return state->news.came(1); };
    while (!came()) state->parker.park(came);
    model::require(state->news.text.read() == 1, "the news are readable");
  });
  run.join();
}

TEST(ParkerModel, ARingAfterAnAnnouncementIsNeverMissed) {
  expect_holds(ring_for_news, {.preemptions = 4});
}

TEST(ParkerModel, RingingNeedsBothSeqCstHalvesAndTheRecheck) {
  expect_needs_edges(ring_for_news, {"Parker::doze"}, model::kStuck);
  expect_catches(ring_for_news, {"parker.no_recheck"}, model::kStuck);
}

// Tokens alone carry everything: nothing is rechecked.
void unpark_with_a_letter(model::Run& run) {
  struct State {
    Parker parker;
    Plain<int> letter{0};
  };
  auto state = std::make_shared<State>();
  run.thread([=] {
    state->letter.set(1);
    state->parker.unpark();
  });
  run.thread([=] {
    state->parker.park(kNothing);
    model::require(state->letter.read() == 1, "the letter is readable");
  });
  run.join();
}

TEST(ParkerModel, WhatWasDoneBeforeUnparkIsVisibleAfterPark) {
  expect_holds(unpark_with_a_letter, {.preemptions = 4});
}

TEST(ParkerModel, UnparkingNeedsTheTokensBothHalves) {
  expect_needs_edges(unpark_with_a_letter, {"token/acquire", "token/release"}, model::kRace);
}

// Two wakers: the release sequence carries the first one's letter through the second one's token,
// and one of them at most makes the system call.
void two_unpark(model::Run& run) {
  struct State {
    Parker parker;
    Plain<int> letters[2];
    Plain<int> calls[2];
  };
  auto state = std::make_shared<State>();
  for (int waker : {0, 1}) {
    run.thread([=] {
      state->letters[waker].set(1);
      state->calls[waker].set(state->parker.unpark() ? 1 : 0);
    });
  }
  run.thread([=] { state->parker.park(kNothing); });
  run.join();
  model::require(state->calls[0].read() + state->calls[1].read() <= 1, "one sleep, one call");
}

TEST(ParkerModel, OneSleepCostsOneSystemCallHoweverManyWake) {
  expect_holds(two_unpark, {.preemptions = 3});
}

// The sleeper looks at a count between parks, without recheck: each token must end a park that
// starts after it.
void unpark_twice(model::Run& run) {
  struct State {
    Parker parker;
    Atomic<int> count{0};
  };
  auto state = std::make_shared<State>();
  run.thread([=] {
    for (int i = 0; i < 2; ++i) {
      state->count.fetch_add_relaxed(1);  // the token orders it
      state->parker.unpark();
    }
  });
  run.thread([=] {
    while (state->count.load_relaxed() < 2) state->parker.park(kNothing);
  });
  run.join();
}

TEST(ParkerModel, ATokenThatComesAfterAWakeUpEndsTheNextPark) {
  expect_holds(unpark_twice, {.preemptions = 3});
}

TEST(ParkerModel, ClearingTheTokenAfterTheScanLosesIt) {
  expect_catches(unpark_twice, {"parker.token_cleared_late"}, model::kStuck, {.preemptions = 3});
}

// A timed park that runs out leaves the parker as if nothing had been.
void time_runs_out(model::Run& run) {
  struct State {
    News news;
    Parker parker;
  };
  auto state = std::make_shared<State>();
  run.thread([=] {
    state->news.announce(1);
    state->parker.ring();
  });
  run.thread([=] {
    const auto came = [&] { return state->news.came(1); };
    state->parker.park(kNothing, Nanos{1});
    while (!came()) state->parker.park(came);
    model::require(!state->parker.was_parked(), "awake");
  });
  run.join();
}

TEST(ParkerModel, ATimeThatRunsOutLosesNothing) {
  expect_holds(time_runs_out, {.preemptions = 3, .spurious_wakeups = 2});
}

// -- ParkMask -------------------------------------------------------------------------------------

struct Masked {
  News news;
  ParkMask mask{1};
  Parker parker;

  void publish(int number) {
    if (LEAT_MUTANT("test.mask_before_news")) {
      bool parked = false;
      mask.for_each_parked([&](std::size_t) { parked = true; });
      news.announce(number);
      if (parked) parker.ring();
      return;
    }
    news.announce(number);
    mask.for_each_parked([this](std::size_t worker) {
      parker.ring();
      if (LEAT_MUTANT("test.waker_clears_the_bit")) mask.clear(worker);
    });
  }

  void await(int number) {
    const auto came = [&] { return news.came(number); };
    while (!came()) {
      mask.set(0);
      if (LEAT_MUTANT("test.recheck_before_parking")) {
        if (!came()) parker.park(kNothing);
      } else {
        parker.park(came);
      }
      mask.clear(0);
    }
  }
};

void publish_through_the_mask(model::Run& run) {
  auto state = std::make_shared<Masked>();
  run.thread([=] { state->publish(1); });
  run.thread([=] { state->await(1); });
  run.join();
}

TEST(ParkMaskModel, APublisherThatAsksTheMaskMissesNoSleeper) {
  expect_holds(publish_through_the_mask, {.preemptions = 3});
}

TEST(ParkMaskModel, ItNeedsTheOrderOnBothSides) {
  expect_needs_edges(publish_through_the_mask, {"ParkMask::doze", "Parker::doze", "announced"},
                     model::kStuck);
  expect_catches(publish_through_the_mask,
                 {"test.mask_before_news", "test.recheck_before_parking", "parker.no_recheck"},
                 model::kStuck);
}

void publish_twice_through_the_mask(model::Run& run) {
  auto state = std::make_shared<Masked>();
  run.thread([=] {
    state->publish(1);
    state->publish(2);
  });
  run.thread([=] {
    state->await(1);
    state->await(2);
  });
  run.join();
}

TEST(ParkMaskModel, TwoPublicationsInARowAreBothSeen) {
  expect_holds(publish_twice_through_the_mask, {.preemptions = 2});
}

TEST(ParkMaskModel, AWakerThatClearsTheBitHidesTheNextSleep) {
  expect_catches(publish_twice_through_the_mask, {"test.waker_clears_the_bit"}, model::kStuck);
}

}  // namespace
}  // namespace leat::core
