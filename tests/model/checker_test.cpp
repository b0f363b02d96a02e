// The model checker itself: it finds what is there to find, each time by the model and not by luck,
// and what it finds can be replayed.

#include <leat/base/model/explore.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <leat/base/atomic.hpp>
#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/futex.hpp>
#include <leat/base/plain.hpp>
#include <leat/base/spin_pause.hpp>
#include <leat/base/thread_tag.hpp>

namespace leat {
namespace {

using model::Options;
using model::Result;

bool says(const Result& result, const std::string& words) {
  return result.failure.find(words) != std::string::npos;
}

// One message through a flag.
// [letter]
class Letter {
  struct publish : Edge {};  // sender -> receiver: the text is whole before it is read

 public:
  void send(int text) {
    text_.set(text);
    sent_.store_release(true, publish{});
  }
  int receive() {
    while (!sent_.load_acquire(publish{})) spin_pause();
    return text_.read();
  }

 private:
  Plain<int> text_{0};
  Atomic<bool> sent_{false};
};

void pass_a_letter(model::Run& run) {
  auto letter = std::make_shared<Letter>();
  run.thread([=] { letter->send(7); });
  run.thread([=] { model::require(letter->receive() == 7, "the text arrives"); });
  run.join();
}
// [/letter]

// [tests]
TEST(Model, PassesALetterThroughAReleasedFlag) {
  const Result result = model::explore({}, pass_a_letter);
  EXPECT_TRUE(result.ok) << result.failure;
  EXPECT_TRUE(result.complete);
  EXPECT_GT(result.executions, 1U);
}

TEST(Model, FindsTheRaceWhenTheEdgeIsWeakened) {
  for (const char* name : {"publish", "publish/acquire", "publish/release", "Letter::publish"}) {
    const Result result = model::explore({.weaken = {name}}, pass_a_letter);
    EXPECT_FALSE(result.ok) << name;
    EXPECT_TRUE(says(result, "data race")) << result.failure;
  }
}
// [/tests]

TEST(Model, TellsThatAnEdgeOrMutantToBreakIsNotThere) {
  const Result result = model::explore({.weaken = {"pubish"}, .mutants = {"none"}}, pass_a_letter);
  EXPECT_TRUE(result.ok);
  EXPECT_TRUE(says(result, "no operation has the edge pubish")) << result.failure;
  EXPECT_TRUE(says(result, "nothing asks for the mutant none")) << result.failure;
}

TEST(Model, ReplaysAFailingSchedule) {
  const Options broken{.weaken = {"publish"}};
  const Result found = model::explore(broken, pass_a_letter);
  ASSERT_FALSE(found.ok);
  const Result again = model::replay(broken, found.schedule, pass_a_letter);
  EXPECT_FALSE(again.ok);
  EXPECT_TRUE(says(again, "data race"));
  EXPECT_EQ(again.schedule, found.schedule);
  EXPECT_EQ(again.executions, 1U);
  EXPECT_TRUE(
      model::replay({}, found.schedule, pass_a_letter).ok);  // nothing is wrong with it as such
  EXPECT_FALSE(model::replay({}, "what?", pass_a_letter).ok);
}

TEST(Model, IsDeterministic) {
  const Result first = model::explore({.weaken = {"publish"}}, pass_a_letter);
  const Result second = model::explore({.weaken = {"publish"}}, pass_a_letter);
  EXPECT_EQ(first.executions, second.executions);
  EXPECT_EQ(first.failure, second.failure);
}

TEST(Model, FindsAnUpdateLostBetweenLoadAndStore) {
  const auto count = [](bool atomically) {
    return [=](model::Run& run) {
      auto counter = std::make_shared<Atomic<int>>(0);
      for (int i = 0; i < 2; ++i) {
        run.thread([=] {
          if (atomically) {
            counter->fetch_add_relaxed(1);
          } else {
            counter->store_relaxed(counter->load_relaxed() + 1);
          }
        });
      }
      run.join();
      model::require(counter->load_relaxed() == 2, "both are counted");
    };
  };
  const Result whole = model::explore({}, count(true));
  EXPECT_TRUE(whole.ok) << whole.failure;
  const Result torn = model::explore({}, count(false));
  EXPECT_FALSE(torn.ok);
  EXPECT_TRUE(says(torn, "both are counted")) << torn.failure;
}

TEST(Model, FindsAPlainCounterRacing) {
  const Result result = model::explore({}, [](model::Run& run) {
    auto counter = std::make_shared<Plain<int>>(0);
    for (int i = 0; i < 2; ++i) run.thread([=] { ++counter->write(); });
    run.join();
  });
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(says(result, "data race")) << result.failure;
}

// Dekker's entry: each raises its flag, then looks at the other's.
struct TwoFlags {
  struct raise : Edge {
  };  // one side -> the other: a flag raised first is seen by whoever looks later

  Atomic<bool> flags[2] = {};
  Plain<int> inside{0};

  void try_enter(int me) {
    flags[me].store_seq_cst(true, raise{});
    if (!flags[1 - me].load_seq_cst(raise{})) ++inside.write();
  }
};

void enter_both(model::Run& run) {
  auto flags = std::make_shared<TwoFlags>();
  for (int me = 0; me < 2; ++me) run.thread([=] { flags->try_enter(me); });
  run.join();
}

TEST(Model, LetsOneOfTwoEnterBySeqCstFlags) {
  const Result result = model::explore({}, enter_both);
  EXPECT_TRUE(result.ok) << result.failure;
  const Result broken = model::explore({.weaken = {"raise"}}, enter_both);
  EXPECT_FALSE(broken.ok);
  EXPECT_TRUE(says(broken, "data race")) << broken.failure;
}

// Weak outcomes need no preemption: a stale load is enough.
TEST(Model, FindsStaleLoadsWithoutPreemptions) {
  EXPECT_FALSE(model::explore({.preemptions = 0, .weaken = {"raise"}}, enter_both).ok);
}

// A sleeper on one word; the mutant sleeps without having looked again after it announced itself.
class Bed {
  struct announce : Edge {};  // sleeper -> waker: asleep_ is set before the last look at work_
  struct hand_in : Edge {};   // waker -> sleeper: the work is there before asleep_ is looked at

 public:
  void wait() {
    while (work_.load_seq_cst(hand_in{}) == 0) {
      asleep_.store_seq_cst(1, announce{});
      if (LEAT_MUTANT("bed.no_second_look") || work_.load_seq_cst(hand_in{}) == 0) {
        os::futex_wait(asleep_, 1);
      }
      asleep_.store_relaxed(0);  // only a hint to save the waker's call
    }
  }
  void give() {
    work_.store_seq_cst(1, hand_in{});
    if (asleep_.load_seq_cst(announce{}) == 1) {
      asleep_.store_relaxed(0);  // the kernel compares: one who is not asleep yet stays awake
      os::futex_wake(asleep_, 1);
    }
  }

 private:
  Atomic<std::uint32_t> asleep_{0};
  Atomic<int> work_{0};
};

void sleep_and_wake(model::Run& run) {
  auto bed = std::make_shared<Bed>();
  run.thread([=] { bed->wait(); });
  run.thread([=] { bed->give(); });
  run.join();
}

TEST(Model, WakesASleeper) {
  const Result result = model::explore({.preemptions = 3}, sleep_and_wake);
  EXPECT_TRUE(result.ok) << result.failure;
  EXPECT_TRUE(result.complete);
}

TEST(Model, FindsALostWakeUp) {
  const Result hasty = model::explore({.mutants = {"bed.no_second_look"}}, sleep_and_wake);
  EXPECT_FALSE(hasty.ok);
  EXPECT_TRUE(says(hasty, "deadlock: T1 sleeps")) << hasty.failure;
  for (const char* name : {"announce", "hand_in"}) {
    const Result weak = model::explore({.weaken = {name}}, sleep_and_wake);
    EXPECT_FALSE(weak.ok) << name;
    EXPECT_TRUE(says(weak, "deadlock: T1 sleeps")) << weak.failure;
  }
}

TEST(Model, ReplaysADeadlock) {
  const Options broken{.weaken = {"announce"}};
  const Result found = model::explore(broken, sleep_and_wake);
  ASSERT_FALSE(found.ok);
  EXPECT_NE(found.schedule, "0");  // not the first execution of all
  const Result again = model::replay(broken, found.schedule, sleep_and_wake);
  EXPECT_TRUE(says(again, "deadlock: T1 sleeps")) << again.failure;
  EXPECT_EQ(again.schedule, found.schedule);
}

TEST(Model, ReplaysLoadsFromTheFuture) {
  const auto body = [](model::Run& run) {
    auto x = std::make_shared<Atomic<int>>(0);
    auto y = std::make_shared<Atomic<int>>(0);
    auto sum = std::make_shared<Atomic<int>>(0);
    run.thread([=] {
      sum->fetch_add_relaxed(x->load_relaxed());
      y->store_relaxed(1);
    });
    run.thread([=] {
      sum->fetch_add_relaxed(y->load_relaxed());
      x->store_relaxed(1);
    });
    run.join();
    model::require(sum->load_relaxed() < 2, "one of the loads comes first");
  };
  EXPECT_TRUE(model::explore({}, body).ok);
  const Options options{.promises = 1};
  const Result found = model::explore(options, body);
  EXPECT_FALSE(found.ok);
  EXPECT_TRUE(says(found, "from a store yet to come")) << found.failure;
  const Result again = model::replay(options, found.schedule, body);
  EXPECT_TRUE(says(again, "one of the loads comes first")) << again.failure;
}

TEST(Model, LetsATimeoutEndASleepThatNobodyElseWould) {
  const Result result = model::explore({}, [](model::Run& run) {
    auto word = std::make_shared<Atomic<std::uint32_t>>(0);
    run.thread([=] { os::futex_wait(*word, 0, std::chrono::milliseconds(1)); });
    run.join();
  });
  EXPECT_TRUE(result.ok) << result.failure;
}

TEST(Model, LetsATimeoutEndASleepWhileAnotherThreadSpins) {
  const Result result = model::explore({}, [](model::Run& run) {
    auto word = std::make_shared<Atomic<std::uint32_t>>(0);
    auto done = std::make_shared<Atomic<bool>>(false);
    run.thread([=] {
      os::futex_wait(*word, 0, std::chrono::milliseconds(1));
      done->store_relaxed(true);
    });
    run.thread([=] {
      while (!done->load_relaxed()) spin_pause();
    });
    run.join();
  });
  EXPECT_TRUE(result.ok) << result.failure;
  EXPECT_TRUE(result.complete);
}

TEST(Model, GivesEachModelThreadItsOwnTag) {
  const Result result = model::explore({}, [](model::Run& run) {
    const ThreadTag body = this_thread_tag();
    run.thread([=] { model::require(!(this_thread_tag() == body), "another thread"); });
    run.join();
    model::require(this_thread_tag() == body, "the same thread");
  });
  EXPECT_TRUE(result.ok) << result.failure;
}

TEST(Model, FindsALoopThatNobodyEnds) {
  const Result result = model::explore({.steps_max = 100}, [](model::Run& run) {
    auto flag = std::make_shared<Atomic<bool>>(false);
    run.thread([=] {
      while (!flag->load_relaxed()) spin_pause();
    });
    run.join();
  });
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(says(result, "livelock")) << result.failure;
}

TEST(Model, FindsAnAtomicUsedBeforeItIsPublished) {
  struct Node {
    Atomic<int> next{0};
  };
  struct publish : Edge {};  // maker -> user: the node is whole before it is used
  const auto body = [](model::Run& run) {
    auto head = std::make_shared<Atomic<Node*>>(nullptr);
    run.thread([=] { head->store_release(new Node, publish{}); });
    run.thread([=] {
      if (Node* node = head->load_acquire(publish{})) (void)node->next.load_relaxed();
    });
    run.join();
    delete head->load_relaxed();
  };
  const Result result = model::explore({}, body);
  EXPECT_TRUE(result.ok) << result.failure;
  const Result broken = model::explore({.weaken = {"publish"}}, body);
  EXPECT_FALSE(broken.ok);
  EXPECT_TRUE(says(broken, "its construction by T1 does not happen before")) << broken.failure;
}

TEST(Model, FindsAnAtomicUsedAfterItsEnd) {
  const Result result = model::explore({}, [](model::Run& run) {
    auto* word = new Atomic<int>(0);
    run.thread([=] { word->store_relaxed(1); });
    run.thread([=] {
      while (word->load_relaxed() == 0) spin_pause();
      delete word;
    });
    run.join();
  });
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(says(result, "destroys the atomic while")) << result.failure;
}

TEST(Model, ReportsExceptionsAndFailedChecksAsFailures) {
  const Result thrown = model::explore({}, [](model::Run& run) {
    run.thread([] { throw std::runtime_error("no luck"); });
    run.join();
  });
  EXPECT_FALSE(thrown.ok);
  EXPECT_TRUE(says(thrown, "T1 threw: no luck")) << thrown.failure;

  const Result aborted = model::explore({}, [](model::Run& run) {
    run.thread([] { LEAT_CHECK(model::self() != 1, "the test wants this to fail"); });
    run.join();
  });
  EXPECT_FALSE(aborted.ok);
  EXPECT_TRUE(says(aborted, "T1 aborted")) << aborted.failure;
}

TEST(Model, TriesASpuriousFailureOfAWeakCompareExchange) {
  const auto body = [](bool loop) {
    return [=](model::Run& run) {
      auto word = std::make_shared<Atomic<int>>(0);
      run.thread([=] {
        int expected = 0;
        while (!word->compare_exchange_weak_relaxed(expected, 1) && loop) {
        }
      });
      run.join();
      model::require(word->load_relaxed() == 1, "it was set");
    };
  };
  EXPECT_TRUE(model::explore({}, body(true)).ok);
  EXPECT_FALSE(model::explore({}, body(false)).ok);
}

TEST(Model, TakesThreadsInTurnsBetweenJoins) {
  const Result result = model::explore({}, [](model::Run& run) {
    auto word = std::make_shared<Plain<int>>(0);
    run.thread([=] { word->set(1); });
    run.join();
    run.thread([=] { model::require(word->read() == 1, "what happened before the join is seen"); });
    run.join();
  });
  EXPECT_TRUE(result.ok) << result.failure;
}

}  // namespace
}  // namespace leat
