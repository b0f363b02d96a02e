#include <leat/actor/channel/channel.hpp>

#include <leat/actor/channel/broadcast.hpp>
#include <leat/actor/channel/oneshot.hpp>
#include <leat/actor/channel/select.hpp>
#include <leat/actor/channel/watch.hpp>
#include <leat/actor/local.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/time/interval.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::milliseconds;

class Channels : public testing::TestWithParam<int> {
 protected:
  Runtime runtime{GetParam() == 0 ? Config::current_thread()
                                  : Config::exact(static_cast<std::size_t>(GetParam()))};
};
INSTANTIATE_TEST_SUITE_P(Threads, Channels, testing::Values(0, 1, 2));

TEST_P(Channels, MessagesOfEachSenderComeInOrderAndNoneIsLost) {
  runtime.run([] {
    auto [sender, receiver] = channel<std::pair<int, int>>();
    std::vector<JoinHandle<void>> senders;
    for (int who = 0; who < 4; ++who) {
      senders.push_back(spawn([who, to = sender]() mutable {
        for (int i = 0; i < 500; ++i) {
          EXPECT_EQ(to.send({who, i}), Sent::ok);
          if (i % 7 == who) yield_now();
        }
      }));
    }
    sender.close();
    int next[4] = {};
    while (const auto message = receiver.receive()) {
      EXPECT_EQ(message->second, next[message->first]++);
    }
    for (const int count : next) EXPECT_EQ(count, 500);
    EXPECT_TRUE(receiver.is_at_end());
    for (auto& handle : senders) handle.join();
  });
}

TEST_P(Channels, AMessageMayBeMovableOnlyAndStaysWithItsSenderIfNobodyListens) {
  runtime.run([] {
    auto [sender, receiver] = channel<std::unique_ptr<int>>();
    EXPECT_EQ(sender.send(std::make_unique<int>(3)), Sent::ok);
    EXPECT_EQ(**receiver.receive(), 3);
    receiver.close();
    auto message = std::make_unique<int>(4);
    EXPECT_EQ(sender.try_send(message), Sent::closed);
    EXPECT_EQ(*message, 4);
    EXPECT_TRUE(sender.is_closed());
  });
}

TEST_P(Channels, WhatWaitsInAChannelEndsWithItsReceiver) {
  auto owned = std::make_shared<int>(1);
  runtime.run([&owned] {
    auto [sender, receiver] = channel<std::shared_ptr<int>>();
    for (int i = 0; i < 3; ++i) (void)sender.send(owned);
    receiver.close();
    EXPECT_EQ(owned.use_count(), 1);
  });
}

TEST_P(Channels, ABoundMakesTheSenderWait) {
  runtime.run([] {
    auto [sender, receiver] = channel<int>({.messages = 2});
    auto producer = spawn([to = std::move(sender)]() mutable {
      for (int i = 0; i < 100; ++i) EXPECT_EQ(to.send(i), Sent::ok);
    });
    for (int i = 0; i < 100; ++i) {
      EXPECT_LE(receiver.size_approx(), 2U);
      EXPECT_EQ(receiver.receive(), i);
    }
    EXPECT_EQ(receiver.receive(), std::nullopt);
    producer.join();
  });
}

TEST(Channel, WhatHappensWhenItIsFullIsTheMakersChoice) {
  Runtime runtime;
  runtime.run([] {
    auto fails = channel<int>({.messages = 1, .on_full = OnFull::fail});
    EXPECT_EQ(fails.sender.send(1), Sent::ok);
    EXPECT_EQ(fails.sender.send(2), Sent::full);
    EXPECT_EQ(fails.receiver.receive(), 1);
    auto drops_new = channel<int>({.messages = 1, .on_full = OnFull::drop_new});
    EXPECT_EQ(drops_new.sender.send(1), Sent::ok);
    EXPECT_EQ(drops_new.sender.send(2), Sent::dropped);
    EXPECT_EQ(drops_new.receiver.receive(), 1);
    EXPECT_EQ(drops_new.sender.dropped(), 1U);
    auto drops_old = channel<int>({.messages = 2, .on_full = OnFull::drop_old});
    for (int i = 0; i < 5; ++i) EXPECT_EQ(drops_old.sender.send(i), Sent::ok);
    EXPECT_EQ(drops_old.receiver.receive(), 3);
    EXPECT_EQ(drops_old.receiver.receive(), 4);
    EXPECT_EQ(drops_old.sender.dropped(), 3U);
    auto waits = channel<int>({.messages = 1});
    EXPECT_EQ(waits.sender.send(1), Sent::ok);
    EXPECT_EQ(waits.sender.try_send(2), Sent::full);
    int kept = 3;
    EXPECT_EQ(waits.sender.send_until(kept, now_here()), Sent::full);
    EXPECT_EQ(kept, 3);
    EXPECT_THROW((void)channel<int>({.messages = 0}), UsageError);
  });
}

TEST(Channel, ASenderThatWaitsIsToldThatTheReceiverHasGone) {
  Runtime runtime;
  runtime.run([] {
    auto [sender, receiver] = channel<int>({.messages = 1});
    auto waits = spawn([to = std::move(sender)]() mutable {
      EXPECT_EQ(to.send(1), Sent::ok);
      EXPECT_EQ(to.send(2), Sent::closed);
    });
    yield_now();
    receiver.close();
    waits.join();
  });
}

TEST(Channel, ReceiveGivesUpWhenItsTimeHasComeAndNotBefore) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    auto [sender, receiver] = channel<int>();
    EXPECT_EQ(receiver.try_receive(), std::nullopt);
    EXPECT_EQ(receiver.receive_for(milliseconds(7)), std::nullopt);
    EXPECT_EQ(now_here(), milliseconds(7));
    EXPECT_FALSE(receiver.is_at_end());
    auto later = after(milliseconds(3), [to = sender]() mutable { (void)to.send(1); });
    EXPECT_EQ(receiver.receive_for(milliseconds(100)), 1);
    EXPECT_EQ(now_here(), milliseconds(10));
    later.join();
  });
}

TEST_P(Channels, PlainThreadsSendAndReceive) {
  runtime.run([] {
    auto [sender, receiver] = channel<int>();
    auto [back_sender, back] = channel<int>();
    std::thread echo([from = std::move(receiver), to = std::move(back_sender)]() mutable {
      while (const auto message = from.receive()) EXPECT_EQ(to.send(*message + 1), Sent::ok);
    });
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(sender.send(i), Sent::ok);
      EXPECT_EQ(back.receive(), i + 1);
    }
    sender.close();
    EXPECT_EQ(back.receive(), std::nullopt);
    echo.join();
  });
}

TEST_P(Channels, AnAnswerComesOnceOrNever) {
  runtime.run([] {
    auto [promise, answer] = oneshot<std::string>();
    auto worker = spawn([p = std::move(promise)]() mutable {
      EXPECT_TRUE(p.is_awaited());
      EXPECT_EQ(p.send("yes"), Sent::ok);
      EXPECT_EQ(p.send("again"), Sent::closed);
    });
    EXPECT_EQ(answer.receive(), "yes");
    EXPECT_EQ(answer.receive(), std::nullopt);
    worker.join();
    auto never = oneshot<int>();
    spawn([p = std::move(never.promise)] {}).join();
    EXPECT_EQ(never.answer.receive(), std::nullopt);
    auto late = oneshot<int>();
    late.answer.close();
    EXPECT_EQ(late.promise.send(1), Sent::closed);
  });
}

TEST_P(Channels, AWatcherSeesTheLatestValue) {
  runtime.run([] {
    auto [setter, watcher] = watch<int>(0);
    EXPECT_EQ(watcher.get(), 0);
    auto sees = spawn([w = watcher]() mutable {
      int last = 0;
      while (w.changed()) {
        const int value = w.get();
        EXPECT_GT(value, last);
        last = value;
      }
      return last;
    });
    for (int i = 1; i <= 20; ++i) {
      setter.set(i);
      if (i % 3 == 0) yield_now();
    }
    setter.close();
    EXPECT_EQ(sees.join(), 20);
    EXPECT_FALSE(watcher.changed(now_here()) && watcher.get() != 20);
  });
}

TEST_P(Channels, EachSubscriberGetsAllOrIsToldWhatItLost) {
  runtime.run([] {
    auto all = std::make_unique<Broadcast<int>>(16);
    std::vector<JoinHandle<int>> sums;
    for (int n = 0; n < 3; ++n) {
      sums.push_back(spawn([s = all->subscribe()]() mutable {
        int sum = 0;
        int expected = 0;
        for (;;) {
          const Heard<int> heard = s.receive();
          if (!heard.message && heard.lost == 0) return sum;
          expected += static_cast<int>(heard.lost);
          if (!heard.message) continue;
          EXPECT_EQ(*heard.message, expected++);
          sum += 1;
        }
      }));
    }
    auto slow = all->subscribe();
    for (int i = 0; i < 100; ++i) {
      all->send(i);
      yield_now();
    }
    EXPECT_EQ(slow.receive().lost, 84U);
    EXPECT_EQ(slow.receive().message, 84);
    all = nullptr;
    for (auto& sum : sums) EXPECT_GT(sum.join(), 0);
  });
}

TEST_P(Channels, SelectTakesOneAndLeavesTheOthers) {
  runtime.run([] {
    auto a = channel<int>();
    auto b = channel<int>();
    (void)b.sender.send(5);
    int got = 0;
    EXPECT_EQ(select(on(a.receiver, [](std::optional<int>) {}),
                     on(b.receiver, [&](std::optional<int> m) { got = *m; })),
              1U);
    EXPECT_EQ(got, 5);
    auto later = spawn([to = a.sender]() mutable {
      yield_now();
      (void)to.send(6);
    });
    EXPECT_EQ(select(on(b.receiver, [](std::optional<int>) {}),
                     on(a.receiver, [&](std::optional<int> m) { got = *m; })),
              1U);
    EXPECT_EQ(got, 6);
    later.join();
    b.sender.close();
    EXPECT_EQ(select(on(a.receiver, [](std::optional<int>) {}),
                     on(b.receiver, [&](std::optional<int> m) { EXPECT_FALSE(m); })),
              1U);
  });
}

TEST(Select, IsFairAmongThoseThatAreReady) {
  Runtime runtime;
  runtime.run([] {
    auto a = channel<int>();
    auto b = channel<int>();
    int counts[2] = {};
    for (int i = 0; i < 400; ++i) {
      (void)a.sender.send(i);
      (void)b.sender.send(i);
    }
    for (int i = 0; i < 400; ++i) {
      select(on(a.receiver, [&](std::optional<int>) { ++counts[0]; }),
             on(b.receiver, [&](std::optional<int>) { ++counts[1]; }));
    }
    EXPECT_GT(counts[0], 100);
    EXPECT_GT(counts[1], 100);
  });
}

TEST(Select, ATimeIsOneOfTheThings) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    auto [sender, receiver] = channel<int>();
    EXPECT_EQ(select(on(receiver, [](std::optional<int>) {}),
                     at(deadline_after(milliseconds(30)), [] {})),
              1U);
    EXPECT_EQ(now_here(), milliseconds(30));
  });
}

TEST(Interval, DoesNotDrift) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    Interval every(milliseconds(10));
    for (int i = 1; i <= 5; ++i) {
      EXPECT_EQ(every.wait(), milliseconds(10 * i));
      sleep_for(milliseconds(i));
    }
    EXPECT_EQ(now_here(), milliseconds(55));
  });
}

TEST_P(Channels, AnActorsLocalValuesAreItsOwnAndEndWithIt) {
  static int alive = 0;
  struct Value {
    int number = 0;
    Value() { ++alive; }
    ~Value() { --alive; }
  };
  static const ActorLocal<Value> local;
  if (GetParam() == 2) GTEST_SKIP() << "`alive` is one thread's";
  runtime.run([] {
    std::vector<JoinHandle<void>> handles;
    for (int i = 1; i <= 10; ++i) {
      handles.push_back(spawn([i] {
        local.get().number = i;
        yield_now();
        EXPECT_EQ(local.get().number, i);
      }));
    }
    for (auto& handle : handles) handle.join();
    EXPECT_EQ(alive, 0);
  });
}

}  // namespace
}  // namespace leat::actor
