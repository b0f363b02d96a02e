// Participants of a segment: nobody who lives is called dead, nobody is taken for another, and what
// a dead one left is put right once; and what would break that.
#include <leat/base/atomic.hpp>
#include <leat/base/plain.hpp>
#include <leat/core/segment/participants.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace leat::core {
namespace {

using model::expect_catches;
using model::expect_holds;
using model::expect_needs_edges;

constexpr std::uint32_t kPlaces = 1;

/// What the kernel does: whoever has a lock has it alone. `kOrders`: what was done before it was
/// given back is seen by who asks later, as with system calls; without, our own edges must do.
template <bool kOrders>
struct Kernel {
  struct held : Edge {};  // who gives back -> who takes or asks

  bool take(std::uint32_t place, std::uint32_t who) {
    std::uint32_t expected = 0;
    return kOrders ? owner[place].compare_exchange_strong_acq_rel(expected, who, held{}, held{})
                   : owner[place].compare_exchange_strong_relaxed(expected, who);
  }
  void give_back(std::uint32_t place) {
    if (kOrders) {
      owner[place].store_release(0, held{});
    } else {
      owner[place].store_relaxed(0);
    }
  }
  [[nodiscard]] bool is_taken(std::uint32_t place, std::uint32_t by_other_than) const {
    const std::uint32_t found =
        kOrders ? owner[place].load_acquire(held{}) : owner[place].load_relaxed();
    return found != 0 && found != by_other_than;
  }

  std::array<Atomic<std::uint32_t>, kPlaces> owner{};
};

template <bool kOrders>
struct Locks {
  Kernel<kOrders>* kernel;
  std::uint32_t who;

  [[nodiscard]] bool try_lock(std::uint32_t place) const { return kernel->take(place, who); }
  void unlock(std::uint32_t place) const { kernel->give_back(place); }
  [[nodiscard]] bool is_held_by_another(std::uint32_t place) const {
    return kernel->is_taken(place, who);
  }
};

template <bool kOrders>
struct World {
  Kernel<kOrders> kernel;
  std::array<ParticipantEntry, kPlaces> entries{};

  /// The table as participant `who` sees it.
  Participants<Locks<kOrders>> seen_by(std::uint32_t who) {
    return {entries, Locks<kOrders>{&kernel, who}};
  }
};

/// A process of no boot: the table cannot look it up, so its lock decides.
os::ProcessIdentity process(std::uint64_t pid) { return {.pid = pid}; }

// One place, two participants one after the other, and one who looks.
void look_while_a_place_changes_hands(model::Run& run) {
  auto world = std::make_shared<World<true>>();
  run.thread([=] {
    auto first = world->seen_by(1);
    first.leave(first.join(process(101), "a", 0));
    static_cast<void>(world->seen_by(2).join(process(102), "b", 0));
  });
  run.thread([=] {
    const auto found = world->seen_by(3).facts(0);
    if (!found) return;
    model::require(found->process.pid == 100 + found->id.generation, "who it is, is its own");
    model::require(found->label == (found->id.generation == 1 ? "a" : "b"), "its label is its own");
  });
  run.join();
}

TEST(ParticipantsModel, NobodyIsTakenForAnotherWhoHadThePlace) {
  expect_holds(look_while_a_place_changes_hands, {.preemptions = 1});
}

TEST(ParticipantsModel, LookingNeedsItsEdgesAndTheSecondLook) {
  expect_needs_edges(look_while_a_place_changes_hands, {"introduced", "moved_in"}, "its own",
                     {.preemptions = 1});
  expect_catches(look_while_a_place_changes_hands, {"participants.trust_fields"}, "its own",
                 {.preemptions = 1});
}

// One joins and leaves in order; another asks all the while.
void ask_whether_it_lives(model::Run& run) {
  auto world = std::make_shared<World<true>>();
  run.thread([=] {
    auto table = world->seen_by(1);
    table.leave(table.join(process(101), "a", 0));
  });
  run.thread([=] {
    const ParticipantLife found = world->seen_by(2).life({.place = 0, .generation = 1}, {});
    model::require(found != ParticipantLife::dead, "who leaves in order never seems dead");
  });
  run.join();
}

TEST(ParticipantsModel, NobodyWhoLivesOrLeavesSeemsDead) {
  expect_holds(ask_whether_it_lives, {.preemptions = 3});
}

TEST(ParticipantsModel, LifeNeedsTheLockAroundItAndTheSecondLook) {
  expect_catches(
      ask_whether_it_lives,
      {"participants.lock_last", "participants.unlock_first", "participants.skip_second_look"},
      "never seems dead", {.preemptions = 3});
}

// One died with something unfinished. Two find it, one comes anew.
void make_good_for_a_dead_one(model::Run& run) {
  struct State : World<true> {
    Plain<int> unfinished{1};
    Plain<int> made_good{0};
  };
  auto state = std::make_shared<State>();
  static_cast<void>(state->seen_by(1).join(process(101), "a", 0));
  state->kernel.give_back(0);  // its process died
  for (const std::uint32_t who : {2U, 3U}) {
    run.thread([=] {
      auto table = state->seen_by(who);
      table.reap({}, [&](ParticipantId id) {
        model::require(id == ParticipantId{0, 1}, "it is the dead one");
        state->unfinished.set(0);
        state->made_good.set(state->made_good.read() + 1);
        return true;
      });
      if (const ParticipantId self = table.join(process(100 + who), "b", 0)) {
        model::require(state->unfinished.read() == 0, "its place is in order");
        model::require(self.generation > 1, "the id is new");
      }
    });
  }
  run.join();
  model::require(state->made_good.read() == 1, "once");
}

TEST(ParticipantsModel, WhatADeadOneLeftIsMadeGoodOnceBeforeItsPlaceIsGivenOut) {
  expect_holds(make_good_for_a_dead_one, {.preemptions = 2});
}

// As above with one who makes good and one who joins, and locks that order nothing.
void hand_on_a_place(model::Run& run) {
  struct State : World<false> {
    Plain<int> unfinished{1};
  };
  auto state = std::make_shared<State>();
  static_cast<void>(state->seen_by(1).join(process(101), "a", 0));
  state->kernel.give_back(0);
  run.thread([=] {
    state->seen_by(2).reap({}, [&](ParticipantId) {
      state->unfinished.set(0);
      return true;
    });
  });
  run.thread([=] {
    if (state->seen_by(3).join(process(103), "b", 0)) {
      model::require(state->unfinished.read() == 0, "its place is in order");
    }
  });
  run.join();
}

TEST(ParticipantsModel, WhoeverGetsAPlaceSeesWhatWasMadeGoodThere) {
  expect_holds(hand_on_a_place, {.preemptions = 3});
  expect_needs_edges(hand_on_a_place, {"handed_on"}, model::kRace);
}

}  // namespace
}  // namespace leat::core
