// What actors are scheduled by: each wake runs its actor once, nobody in a queue is lost or taken twice,
// nobody sleeps while there is work, and a lock that is one worker's lets strangers in.
#include <leat/actor/scheduler/idle_workers.hpp>
#include <leat/actor/scheduler/run_queue.hpp>
#include <leat/actor/scheduler/run_state.hpp>
#include <leat/actor/wait/object_lock.hpp>
#include <leat/base/plain.hpp>
#include <leat/base/spin_pause.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace leat::actor {
namespace {

using model::expect_catches;
using model::expect_holds;
using model::expect_needs_edges;

// -- RunState: one actor waits for a letter; two others write and wake it --------------------------

// A queue of one place, as the actor is in it once at most.
struct OneQueue {
  struct handed : Edge {};
  void put() {
    model::require(full.exchange_acq_rel(1, handed{}, handed{}) == 0, "it was queued once");
  }
  bool take() {
    return full.load_acquire(handed{}) != 0 && full.exchange_acq_rel(0, handed{}, handed{}) != 0;
  }
  Atomic<int> full{0};
};

template <int kWakers>
void letters(model::Run& run) {
  struct State {
    RunState state;
    OneQueue queue;
    Plain<int> registers{0};  // what is saved when the stack is left
    Atomic<int> letters{0};
  };
  auto s = std::make_shared<State>();
  for (int i = 0; i < kWakers; ++i) {
    run.thread([=] {
      s->letters.fetch_add_relaxed(1);  // what the token, or the queue, carries
      if (s->state.wake(Sharing::shared)) {
        s->registers.set(s->registers.read() + 1);  // the waker runs it first, as a thief would
        s->queue.put();
      }
    });
  }
  run.thread([=] {
    while (s->letters.load_relaxed() < kWakers) {
      s->registers.set(s->registers.read() + 1);
      if (!s->state.park(Sharing::shared)) continue;
      while (!s->queue.take()) spin_pause();
    }
  });
  run.join();
}

TEST(RunStateModel, NoWakeIsLostAndEachQueuesOnce) {
  expect_holds(letters<1>, {.preemptions = 3});
  expect_holds(letters<2>, {.preemptions = 2});
}
TEST(RunStateModel, NeedsTheTokenAndTheRest) {
  expect_catches(letters<1>, {"run_state.no_token"}, "");
  expect_needs_edges(letters<1>, {"rest/acquire", "rest/release"}, model::kRace,
                     {.preemptions = 3});
}

// The same, while a third takes the actor away for a moment, as who puts its stack away does.
void letters_while_claimed(model::Run& run) {
  struct State {
    RunState state;
    OneQueue queue;
    Plain<int> registers{0};
    Atomic<int> letters{0};
  };
  auto s = std::make_shared<State>();
  run.thread([=] {
    s->letters.fetch_add_relaxed(1);
    if (s->state.wake(Sharing::shared)) {
      s->registers.set(s->registers.read() + 1);
      s->queue.put();
    }
  });
  run.thread([=] {
    const bool marked = s->state.mark_idle(Sharing::shared);
    model::require(!marked, "it was marked before anybody did so");
    if (!s->state.claim(Sharing::shared, false)) return;
    s->registers.set(s->registers.read() + 1);
    if (!s->state.park(Sharing::shared)) s->queue.put();
  });
  run.thread([=] {
    while (s->letters.load_relaxed() < 1) {
      s->registers.set(s->registers.read() + 1);
      if (!s->state.park(Sharing::shared)) continue;
      while (!s->queue.take()) spin_pause();
    }
  });
  run.join();
}

TEST(RunStateModel, WhoIsClaimedMeanwhileLosesNoWake) {
  expect_holds(letters_while_claimed, {.preemptions = 2});
}
TEST(RunStateModel, AClaimNeedsTheTokenAndTheRest) {
  expect_needs_edges(letters_while_claimed, {"rest/acquire", "rest/release"}, model::kRace,
                     {.preemptions = 2});
}

// -- RunQueue ---------------------------------------------------------------------------------------

struct Item {
  Plain<int> whole{0};
  Atomic<int> taken{0};
};

template <int kItems>
void share(model::Run& run) {
  struct State {
    RunQueue<Item, 2> queue;
    Item items[kItems];
  };
  auto s = std::make_shared<State>();
  const auto take = [](Item* item) {
    model::require(item->whole.read() == 1, "it is whole");
    model::require(item->taken.fetch_add_relaxed(1) == 0, "it was taken once");
  };
  run.thread([=] {
    for (Item& item : s->items) {
      item.whole.set(1);
      if (!s->queue.push(&item)) take(&item);
      if (&item == &s->items[0]) continue;
      if (Item* const own = s->queue.pop(Sharing::shared)) take(own);
    }
    while (Item* const own = s->queue.pop(Sharing::shared)) take(own);
  });
  run.thread([=] { s->queue.steal(2, take); });
  run.join();
  while (Item* const left = s->queue.pop(Sharing::shared)) take(left);
  int taken = 0;
  for (Item& item : s->items) taken += item.taken.load_relaxed();
  model::require(taken == kItems, "each was taken");
}

TEST(RunQueueModel, EachActorIsTakenOnceByItsOwnerOrAThief) {
  expect_holds(share<2>, {.preemptions = 3});
  expect_holds(share<3>, {.preemptions = 2});
}
TEST(RunQueueModel, NeedsTheSwapsAndWhatTheTailCarries) {
  expect_catches(share<2>, {"run_queue.pop_stores", "run_queue.steal_stores"}, "taken once",
                 {.preemptions = 3});
}

// -- IdleWorkers: one puts work, one sleeps ----------------------------------------------------------

void work_comes(model::Run& run) {
  struct doze : Edge {};
  struct State {
    IdleWorkers idle{1, false};
    core::Parker parker;
    Atomic<int> work{0};
  };
  auto s = std::make_shared<State>();
  run.thread([=] {
    s->work.store_release(1, doze{});
    s->idle.wake_one_if_needed();
  });
  run.thread([=] {
    const auto has_work = [&] { return s->work.load_acquire(doze{}) != 0; };
    while (!has_work()) {
      s->idle.sleep(s->parker, false);
      s->parker.park(has_work);
      if (s->idle.woken(s->parker)) s->idle.stop_search();
    }
  });
  run.join();
}

TEST(IdleWorkersModel, NobodySleepsWhileThereIsWork) {
  expect_holds(work_comes, {.preemptions = 3});
}
TEST(IdleWorkersModel, NeedsTheSwapOfWhoPuts) {
  expect_catches(work_comes, {"idle_workers.no_swap"}, model::kStuck, {.preemptions = 3});
}

// -- ObjectLock: its worker and strangers ------------------------------------------------------------

template <int kOwn, int kStrangers>
void sections(model::Run& run) {
  struct State {
    SoloMark mark;
    ObjectLock lock{&mark};
    Plain<int> count{0};
  };
  auto s = std::make_shared<State>();
  run.thread([=] {
    for (int i = 0; i < kOwn; ++i) {
      SoloMark* const held = s->lock.enter(&s->mark);
      s->count.set(s->count.read() + 1);
      s->lock.leave(held);
    }
  });
  for (int i = 0; i < kStrangers; ++i) {
    run.thread([=] {
      SoloMark* const held = s->lock.enter(nullptr);
      s->count.set(s->count.read() + 1);
      s->lock.leave(held);
    });
  }
  run.join();
  model::require(s->count.read() == kOwn + kStrangers, "each was alone");
}

TEST(ObjectLockModel, OneIsInAtATime) {
  expect_holds(sections<1, 1>, {.preemptions = 3});
  expect_holds(sections<2, 1>, {.preemptions = 1});
}
TEST(ObjectLockModel, NeedsTheSecondLookTheWaitAndItsEdges) {
  expect_catches(sections<1, 1>, {"object_lock.no_second_look", "object_lock.no_wait"},
                 model::kRace);
  expect_needs_edges(sections<1, 1>, {"bias"}, model::kRace);
  expect_needs_edges(sections<1, 2>, {"held/acquire", "held/release"}, model::kRace);
}

}  // namespace
}  // namespace leat::actor
