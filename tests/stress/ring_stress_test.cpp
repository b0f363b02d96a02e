// Rings on real cores: lapping, reliable and shared work, with payloads that prove themselves; sleepers
// that are woken, of threads and of processes.
//
// LEAT_WAKES=n wakes each kind of sleeper about n times.
#include <leat/core/segment/test_segments.hpp>
#include <leat/queue/ring/in_segment.hpp>
#include <leat/queue/ring/ring.hpp>
#include <leat/queue/ring/spsc.hpp>

#include "payload.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace leat::stress {
namespace {

using namespace leat::queue;

constexpr std::uint64_t kEach = 20'000;

/// 64 bytes: a torn copy mixes two of them.
struct Message {
  Payload payload;
  std::array<std::uint64_t, 5> echo;

  static Message make(std::uint64_t writer, std::uint64_t sequence) {
    Message message{Payload::make(writer, sequence), {}};
    for (std::size_t i = 0; i < message.echo.size(); ++i) {
      message.echo[i] = message.payload.proof + i;
    }
    return message;
  }
  [[nodiscard]] bool is_whole() const {
    bool whole = payload.is_whole();
    for (std::size_t i = 0; i < echo.size(); ++i) whole = whole && echo[i] == payload.proof + i;
    return whole;
  }
};

/// One reader's check: whole, and each writer's in order.
class Check {
 public:
  void see(const Message& message) {
    ASSERT_TRUE(message.is_whole());
    ASSERT_LT(message.payload.writer, next_.size());
    ASSERT_GE(message.payload.sequence, next_[message.payload.writer]);
    next_[message.payload.writer] = message.payload.sequence + 1;
    ++seen_;
  }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }

 private:
  std::array<std::uint64_t, 4> next_{};
  std::uint64_t seen_ = 0;
};

void run_all(std::vector<std::function<void()>> bodies) {
  std::vector<std::thread> threads;
  for (auto& body : bodies) threads.emplace_back(std::move(body));
  for (auto& thread : threads) thread.join();
}

template <class Producer>
void push_all(Producer& producer, std::uint64_t writer) {
  for (std::uint64_t i = 0; i < kEach; ++i) {
    while (producer.try_push(Message::make(writer, i)) != Push::ok) std::this_thread::yield();
  }
}

/// Reads until all `writers` are done and the ring is empty. What it saw, lost and passed over is all.
void read_all(Ring<Message>& ring, BroadcastConsumer<Message>& consumer,
              const std::atomic<int>& writers, Check& check) {
  Message got;
  for (;;) {
    const bool done = writers.load() == 0;
    const Pull pulled = consumer.try_pop(got);
    if (pulled == Pull::ok) {
      check.see(got);
    } else if (pulled != Pull::lost) {
      if (done && consumer.next_sequence() >= ring.core().frontier()) break;
      std::this_thread::yield();
    }
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(check.seen() + consumer.lost() + consumer.passed_over(), consumer.next_sequence());
}

void broadcast(const RingOptions& options, int producers, int consumers) {
  auto ring = Ring<Message>::make(options).value();
  std::atomic<int> writing{producers};
  std::vector<Check> checks(static_cast<std::size_t>(consumers));
  std::vector<std::optional<BroadcastConsumer<Message>>> ends(checks.size());
  std::vector<std::function<void()>> bodies;
  for (std::size_t c = 0; c < checks.size(); ++c) {
    ends[c].emplace(ring.consumer({.reliable = options.reliable}).value());
    bodies.emplace_back([&, c] { read_all(ring, *ends[c], writing, checks[c]); });
  }
  for (int p = 0; p < producers; ++p) {
    bodies.emplace_back([&, p] {
      if (options.kind == RingKind::single_producer) {
        auto producer = ring.single_producer().value();
        push_all(producer, static_cast<std::uint64_t>(p));
      } else {
        auto producer = ring.shared_producer().value();
        push_all(producer, static_cast<std::uint64_t>(p));
      }
      writing.fetch_sub(1);
    });
  }
  run_all(std::move(bodies));
  for (std::size_t c = 0; c < checks.size(); ++c) {
    if (!options.reliable) continue;
    EXPECT_EQ(checks[c].seen(), kEach * static_cast<std::uint64_t>(producers));
    EXPECT_EQ(ends[c]->lost(), 0U);
  }
}

TEST(RingStress, ScaffoldOnOneThread) {
  auto ring = Ring<Message>::make({.kind = RingKind::many_producers, .slots = 8}).value();
  auto consumer = ring.consumer().value();
  const std::atomic<int> nobody{0};
  Check check;
  auto producer = ring.shared_producer().value();
  for (std::uint64_t i = 0; i < 100; ++i) {
    for (std::uint64_t j = 0; j < i % 13; ++j) {
      ASSERT_EQ(producer.try_push(Message::make(i % 3, 100 * i + j)), Push::ok);
    }
    read_all(ring, consumer, nobody, check);
  }
  EXPECT_GT(check.seen(), 0U);
  EXPECT_GT(consumer.lost(), 0U);
}

TEST(RingStress, LappedConsumersOfOneProducerGetWholeMessages) {
  broadcast({.slots = 4}, 1, 2);
  broadcast({.slots = 64}, 1, 2);
}

TEST(RingStress, LappedConsumersOfManyProducersGetWholeMessages) {
  broadcast({.kind = RingKind::many_producers, .slots = 4}, 3, 2);
  broadcast({.kind = RingKind::many_producers, .slots = 64}, 2, 3);
}

TEST(RingStress, ReliableConsumersGetAll) {
  broadcast({.slots = 256, .reliable = true}, 1, 2);
  broadcast({.kind = RingKind::many_producers, .slots = 256, .reliable = true}, 3, 2);
}

void share(RingKind kind, bool reliable, int producers, int members) {
  auto ring = Ring<Message>::make({.kind = kind, .slots = 64, .reliable = reliable}).value();
  const std::uint64_t total = kEach * static_cast<std::uint64_t>(producers);
  std::vector<std::atomic<std::uint8_t>> times(total);
  std::atomic<std::uint64_t> handled{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<int> writing{producers};
  std::vector<std::function<void()>> bodies;
  for (int m = 0; m < members; ++m) {
    auto member =
        std::make_shared<GroupMember<Message>>(ring.member("work", {.reliable = reliable}).value());
    bodies.emplace_back([&, member] {
      Message got;
      for (;;) {
        const bool done = writing.load() == 0;
        const Pull pulled = member->try_pop(got);
        if (pulled == Pull::ok) {
          ASSERT_TRUE(got.is_whole());
          times[got.payload.writer * kEach + got.payload.sequence].fetch_add(1);
          handled.fetch_add(1);
        } else if (pulled == Pull::lost) {
          lost.fetch_add(member->loss().count);
        } else if (done && pulled == Pull::empty) {
          break;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  for (int p = 0; p < producers; ++p) {
    bodies.emplace_back([&, p] {
      if (kind == RingKind::single_producer) {
        auto producer = ring.single_producer().value();
        push_all(producer, static_cast<std::uint64_t>(p));
      } else {
        auto producer = ring.shared_producer().value();
        push_all(producer, static_cast<std::uint64_t>(p));
      }
      writing.fetch_sub(1);
    });
  }
  run_all(std::move(bodies));
  for (const auto& each : times) EXPECT_LE(each.load(), 1);
  if (reliable) {
    EXPECT_EQ(handled.load(), total);
  }
  // Of many producers who lap each other, a sequence may be passed over: it counts as lost.
  EXPECT_GE(handled.load() + lost.load(), total);
  EXPECT_EQ(handled.load() + lost.load(), ring.core().frontier());
  EXPECT_EQ(lost.load(), ring.report().groups.at(0).lost);
}

TEST(RingStress, MembersOfAGroupShareWhatOneProduces) {
  share(RingKind::single_producer, true, 1, 3);
  share(RingKind::single_producer, false, 1, 3);
}

TEST(RingStress, MembersOfAGroupShareWhatManyProduce) {
  share(RingKind::many_producers, true, 2, 2);
  share(RingKind::many_producers, false, 2, 2);
}

// Sleeping. Whoever is not woken is found by a minute without news.

std::uint64_t wakes() {
  const char* const wakes = std::getenv("LEAT_WAKES");
  return wakes == nullptr ? 2'000 : std::strtoull(wakes, nullptr, 10);
}

constexpr Nanos kPatience = std::chrono::minutes(1);
constexpr Waiting kAtOnce{.looks = 0, .yields = 0, .sleeps = true, .sleep_at_most = kPatience};

/// Both ends sleep: one for messages, the other for room.
TEST(RingStress, ProducersAndConsumersThatSleepMissNothing) {
  for (const RingKind kind : {RingKind::single_producer, RingKind::many_producers}) {
    auto ring =
        Ring<Message>::make({.kind = kind, .slots = 8, .reliable = true, .wakeable = true}).value();
    auto consumer = ring.consumer({.reliable = true}).value();
    const std::uint64_t messages = 4 * wakes();
    const int producers = kind == RingKind::single_producer ? 1 : 2;
    std::vector<std::function<void()>> bodies;
    for (int p = 0; p < producers; ++p) {
      bodies.emplace_back([&, p] {
        const auto push = [&](auto producer) {
          for (std::uint64_t i = 0; i < messages; ++i) {
            const auto message = Message::make(static_cast<std::uint64_t>(p), i);
            ASSERT_EQ(producer.push(message, kPatience, OnSlow::give_up, kAtOnce), Push::ok);
            if (i % 32 == 0) std::this_thread::yield();
          }
        };
        if (kind == RingKind::single_producer) {
          push(ring.single_producer().value());
        } else {
          push(ring.shared_producer().value());
        }
      });
    }
    bodies.emplace_back([&] {
      Check check;
      Message got;
      while (check.seen() < messages * static_cast<std::uint64_t>(producers)) {
        ASSERT_EQ(consumer.pop(got, kPatience, kAtOnce), Pull::ok);
        check.see(got);
        if (testing::Test::HasFatalFailure()) return;
      }
    });
    run_all(std::move(bodies));
  }
}

/// A member of a reliable group wakes a producer by what it says done, in any order.
TEST(RingStress, AProducerThatSleepsHearsOfWhatAGroupHasDone) {
  auto ring = Ring<Message>::make({.slots = 4, .reliable = true, .wakeable = true}).value();
  const std::uint64_t messages = 4 * wakes();
  std::atomic<std::uint64_t> handled{0};
  std::vector<std::function<void()>> bodies;
  for (int m = 0; m < 2; ++m) {
    // What a member that leaves did not say done goes to another, so each says so before it counts.
    auto member = std::make_shared<GroupMember<Message>>(
        ring.member("work", {.reliable = true, .ack = Ack::explicitly}).value());
    bodies.emplace_back([&, member] {
      Message got;
      while (handled.load() < messages) {
        if (member->try_pop(got) != Pull::ok) {
          std::this_thread::yield();
          continue;
        }
        ASSERT_TRUE(got.is_whole());
        ASSERT_TRUE(member->ack(member->sequence()));
        handled.fetch_add(1);
      }
    });
  }
  bodies.emplace_back([&] {
    auto producer = ring.single_producer().value();
    for (std::uint64_t i = 0; i < messages; ++i) {
      ASSERT_EQ(producer.push(Message::make(0, i), kPatience, OnSlow::give_up, kAtOnce), Push::ok);
    }
  });
  run_all(std::move(bodies));
  EXPECT_EQ(handled.load(), messages);
}

/// There and back, so that each message finds its consumer asleep, or about to be.
template <class There, class Back>
void answer(There& there, Back& back, std::uint64_t times) {
  Message got;
  for (std::uint64_t i = 0; i < times; ++i) {
    ASSERT_EQ(there.pop(got, kPatience, kAtOnce), Pull::ok) << "not woken for " << i;
    ASSERT_TRUE(got.is_whole() && got.payload.sequence == i);
    ASSERT_EQ(back.try_push(Message::make(1, i)), Push::ok);
  }
}
template <class There, class Back>
void ask(There& there, Back& back, std::uint64_t times) {
  Message got;
  for (std::uint64_t i = 0; i < times; ++i) {
    ASSERT_EQ(there.try_push(Message::make(0, i)), Push::ok);
    ASSERT_EQ(back.pop(got, kPatience, kAtOnce), Pull::ok) << "not woken for " << i;
    ASSERT_TRUE(got.is_whole() && got.payload.sequence == i);
  }
}

TEST(RingStress, EachMessageWakesTheThreadThatWaitsForIt) {
  auto there = Ring<Message>::make({.slots = 4, .wakeable = true}).value();
  auto back = SpscRing<Message>::make({.slots = 4, .wakeable = true}).value();
  auto asks = there.single_producer().value();
  auto hears = there.consumer().value();
  auto answers = back.producer().value();
  auto knows = back.consumer().value();
  const std::uint64_t times = wakes() / 2;
  run_all({[&] { ask(asks, knows, times); }, [&] { answer(hears, answers, times); }});
}

TEST(RingStress, EachMessageWakesTheProcessThatWaitsForIt) {
  const core::TestFolder folder;
  const core::SegmentName to{.name = "there", .base = folder.path()};
  const core::SegmentName from{.name = "back", .base = folder.path()};
  const std::uint64_t times = wakes() / 2;
  auto there = create_ring<Message>(to, {.slots = 4, .wakeable = true}).value();
  auto back = create_or_join_spsc<Message>(from, {.slots = 4, .wakeable = true}).value();
  core::ChildProcess child([&](const core::ChildProcess& self) {
    auto joined = join_ring<Message>(to).value();
    auto answering = join_spsc<Message>(from).value();
    auto hears = joined.consumer().value();
    auto answers = answering.producer().value();
    self.say('r');
    answer(hears, answers, times);
    return testing::Test::HasFatalFailure() ? 1 : 0;
  });
  ASSERT_EQ(child.listen(), 'r');
  auto asks = there.single_producer().value();
  auto knows = back.consumer().value();
  ask(asks, knows, times);
  EXPECT_EQ(child.wait(), 0);
}

TEST(SpscStress, RecordsComeWholeAndInOrder) {
  auto ring = SpscRing<Message>::make({.slots = 16}).value();
  auto producer = ring.producer().value();
  auto consumer = ring.consumer().value();
  run_all({[&] { push_all(producer, 0); },
           [&] {
             Message got;
             for (std::uint64_t i = 0; i < kEach;) {
               if (consumer.try_pop(got) != Pull::ok) {
                 std::this_thread::yield();
                 continue;
               }
               ASSERT_TRUE(got.is_whole());
               ASSERT_EQ(got.payload.sequence, i++);
             }
           }});
}

}  // namespace
}  // namespace leat::stress
