// Slot rings: what is delivered is whole and the one awaited, nobody who gates is overtaken, each message
// of a group is one member's, a sleeper is told; with a producer that dies at each step; and what breaks
// each of these.
#include <leat/base/mutant.hpp>
#include <leat/base/plain.hpp>
#include <leat/base/spin_pause.hpp>
#include <leat/queue/ring/ring.hpp>
#include <leat/queue/ring/spsc.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace leat::queue {
namespace {

using model::expect_catches;
using model::expect_fails;
using model::expect_holds;
using model::expect_needs_edges;

constexpr const char* kTorn = "the message is whole";
constexpr const char* kMisdelivered = "the message that was awaited";
constexpr const char* kWrong = "the message";  // either of the two

/// Two words, so that it can be torn.
struct Record {
  std::uint64_t value = 0;
  std::uint64_t proof = 0;

  static Record of(std::uint64_t value) { return {value, ~value}; }
  void check() const { model::require(proof == ~value, kTorn); }
};

/// A peer whose death is ordered after all it did, as a process's is.
class Peers final : public RingPeers {
  struct died : Edge {};  // who dies -> who has proof of it

 public:
  explicit Peers(std::uint64_t self, std::shared_ptr<Atomic<std::uint32_t>> two_is_dead)
      : self_(self), two_is_dead_(std::move(two_is_dead)) {}
  [[nodiscard]] std::uint64_t self() const noexcept override { return self_; }
  [[nodiscard]] bool is_dead(std::uint64_t owner) const noexcept override {
    return owner == 2 && two_is_dead_->load_acquire(died{}) != 0;
  }
  static void die(Atomic<std::uint32_t>& two_is_dead) { two_is_dead.store_release(1, died{}); }

 private:
  std::uint64_t self_;
  std::shared_ptr<Atomic<std::uint32_t>> two_is_dead_;
};

RingOptions with(RingKind kind, bool reliable, std::uint64_t slots = 2) {
  return {.kind = kind, .slots = slots, .reliable = reliable, .seats = 4, .groups = 1};
}

/// All executions with one switch and one stale look: of three threads that is much already.
constexpr model::Options kAll{.preemptions = 1, .stale_repeats = 1};

/// Further ones, drawn at random.
model::Options some(std::uint64_t executions) {
  model::Options options;
  options.sampling.executions = executions;
  return options;
}

// Lossy broadcast.

/// Reads until `until`; each message is whole, and its value its sequence; a loss is a range.
void read_until(BroadcastConsumer<Record>& consumer, std::uint64_t until, bool by_sequence) {
  while (consumer.next_sequence() < until) {
    const std::uint64_t awaited = consumer.next_sequence();
    Record got;
    const Pull pulled = consumer.try_pop(got);
    if (pulled == Pull::ok) {
      got.check();
      if (by_sequence) model::require(got.value == awaited, kMisdelivered);
    } else if (pulled == Pull::lost) {
      model::require(consumer.loss().first == awaited &&
                         consumer.next_sequence() == awaited + consumer.loss().count,
                     "the loss is the range between");
    } else {
      spin_pause();
    }
  }
}

template <int kConsumers, int kMessages, int kSlots = 2>
void single_broadcast(model::Run& run) {
  auto ring = std::make_shared<Ring<Record>>(
      Ring<Record>::make(with(RingKind::single_producer, false, kSlots)).value());
  auto producer = std::make_shared<SingleProducer<Record>>(ring->single_producer().value());
  run.thread([=] {
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      static_cast<void>(producer->try_push(Record::of(i)));
    }
  });
  for (int i = 0; i < kConsumers; ++i) {
    auto consumer = std::make_shared<BroadcastConsumer<Record>>(ring->consumer().value());
    run.thread([=] { read_until(*consumer, kMessages, true); });
  }
  run.join();
}

TEST(RingModel, AConsumerOfOneProducerGetsWholeMessagesAndExactLosses) {
  expect_holds(single_broadcast<1, 1>);
  expect_holds(single_broadcast<1, 2, 1>, kAll);
  expect_holds(single_broadcast<1, 3>, kAll);
  expect_holds(single_broadcast<1, 5>, some(10'000));
}

TEST(RingModel, TwoConsumersDoNotDisturbEachOther) {
  expect_holds(single_broadcast<2, 2, 1>, some(10'000));
  expect_holds(single_broadcast<2, 3>, some(10'000));
}

TEST(RingModel, NeedsTheEdgesOfItsSlots) {
  expect_needs_edges(single_broadcast<1, 1>, {"published/acquire", "published/release"}, kTorn);
  expect_needs_edges(single_broadcast<1, 2, 1>, {"overwrite/acquire", "overwrite/release"}, kWrong);
}

TEST(RingModel, FindsATornCopyAndAnotherLapsMessage) {
  expect_catches(single_broadcast<1, 2, 1>, {"slot.no_second_look", "slot.no_busy"}, kWrong);
  expect_catches(single_broadcast<1, 3>, {"ring.any_lap"}, kMisdelivered);
}

template <int kConsumers, int kEach>
void many_broadcast(model::Run& run) {
  auto ring = std::make_shared<Ring<Record>>(
      Ring<Record>::make(with(RingKind::many_producers, false)).value());
  for (std::uint64_t p = 0; p < 2; ++p) {
    auto producer = std::make_shared<SharedProducer<Record>>(ring->shared_producer().value());
    run.thread([=] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        static_cast<void>(producer->try_push(Record::of(10 * p + i)));
      }
    });
  }
  // A sequence may be passed over, so that there is no last one to wait for: look a few times.
  for (int i = 0; i < kConsumers; ++i) {
    auto consumer = std::make_shared<BroadcastConsumer<Record>>(ring->consumer().value());
    run.thread([=] {
      std::array<std::uint64_t, 2> next{};
      for (int looks = 0; looks < 2 * kEach; ++looks) {
        Record got;
        if (consumer->try_pop(got) != Pull::ok) continue;
        got.check();
        const std::uint64_t producer = got.value / 10;
        model::require(producer < 2 && got.value % 10 >= next[producer], "in its producer's order");
        next[producer] = got.value % 10 + 1;
      }
    });
  }
  run.join();
  const std::uint64_t frontier = ring->core().frontier();
  model::require(frontier >= 2 * kEach, "each message has a sequence of its own");
  for (std::uint64_t n = ring->core().oldest(frontier); n < frontier; ++n) {
    model::require(!stamp::is_busy(ring->core().stamp(n).look()), "nothing stays busy");
  }
}

TEST(RingModel, TwoProducersAndTwoConsumersOverTwoSlots) {
  expect_holds(many_broadcast<1, 1>, kAll);
  expect_holds(many_broadcast<2, 1>, some(10'000));
  expect_holds(many_broadcast<2, 2>, some(20'000));
}

TEST(RingModel, ManyProducersNeedTheEdgesOfTheirSlots) {
  expect_needs_edges(many_broadcast<1, 1>, {"published/acquire", "published/release"}, kTorn);
}

TEST(RingModel, ManyProducersFindATornCopy) {
  expect_catches(many_broadcast<1, 2>, {"slot.no_second_look"}, kTorn, some(100'000));
}

// A producer that dies: by hand, step by step, what SharedProducer does.
enum class Step { noted, claimed, half_filled, filled, published };

void dying_push(RingCore& core, const RingCore::Seated& seat, Step step) {
  std::uint64_t n = core.frontier();
  for (;;) {
    std::uint64_t found = core.stamp(n).look();
    if (found >= stamp::busy(n)) {
      n = stamp::sequence(found) + 1;
      continue;
    }
    if (stamp::is_busy(found)) return;
    if (!LEAT_MUTANT("ring.claim_unnoted")) core.seat(seat.place).cursor.note_relaxed(n);
    if (step == Step::noted) return;
    if (core.stamp(n).claim(found, n)) break;
  }
  auto& slot = *reinterpret_cast<RingSlot<Record>*>(&core.stamp(n));
  if (step == Step::claimed) return;
  core.words().head.set(n + 1);
  const Record record = Record::of(50);
  if (step == Step::half_filled) {
    slot.words[0].store_relaxed(record.value);
    return;
  }
  slot.fill(record);
  if (step == Step::filled) return;
  slot.stamp.publish(n);
}

template <Step kStep>
void one_dies(model::Run& run) {
  auto shape = Ring<Record>::shape_of(with(RingKind::many_producers, true)).value();
  auto first = make_private_ring(shape);
  auto* memory = reinterpret_cast<std::byte*>(&first->words());
  auto two_is_dead = std::make_shared<Atomic<std::uint32_t>>(0U);
  const auto view = [&](std::uint64_t self) {
    return std::make_shared<RingCore>(memory, shape, std::make_shared<Peers>(self, two_is_dead),
                                      first);
  };
  auto lives = std::make_shared<Ring<Record>>(view(1));
  auto producer = std::make_shared<SharedProducer<Record>>(lives->shared_producer().value());
  auto consumer =
      std::make_shared<BroadcastConsumer<Record>>(lives->consumer({.reliable = true}).value());
  auto doomed = view(2);
  const auto seat = doomed->sit(SeatRole::producer, "", {}, false).value();
  run.thread([=] {
    dying_push(*doomed, seat, kStep);
    Peers::die(*two_is_dead);
  });
  run.thread([=] {
    while (producer->try_push(Record::of(1)) != Push::ok) spin_pause();
  });
  run.thread([=] {
    // The living one's message comes, whatever the dead one left. What only waiting shows, repair
    // does at once here: the real one looks a thousand times first.
    for (bool found = false; !found;) {
      Record got;
      const Pull pulled = consumer->try_pop(got);
      model::require(pulled != Pull::lost, "nothing is lost");
      if (pulled == Pull::ok) {
        got.check();
        model::require(got.value == 1 || (kStep == Step::published && got.value == 50),
                       "what was not published is not delivered");
        found = got.value == 1;
      } else if (pulled == Pull::in_flight) {
        if (lives->repair() == 0) spin_pause();
      } else {
        spin_pause();
      }
    }
  });
  run.join();
}

TEST(RingModel, AProducerThatDiesAtAnyStepBlocksNobodyAndIsNotDelivered) {
  expect_holds(one_dies<Step::noted>, some(2'000));
  expect_holds(one_dies<Step::claimed>, some(2'000));
  expect_holds(one_dies<Step::half_filled>, some(2'000));
  expect_holds(one_dies<Step::filled>, some(2'000));
  expect_holds(one_dies<Step::published>, some(2'000));
}

TEST(RingModel, ASlotThatNoSeatAnswersForBlocksForEver) {
  expect_catches(one_dies<Step::claimed>, {"ring.claim_unnoted", "ring.free_unsettled"},
                 "no end after", some(20'000));
}

// Two try for the same sequence; the loser dies with it noted.
void loser_dies(model::Run& run) {
  auto shape = Ring<Record>::shape_of(with(RingKind::many_producers, false)).value();
  auto first = make_private_ring(shape);
  auto* memory = reinterpret_cast<std::byte*>(&first->words());
  auto two_is_dead = std::make_shared<Atomic<std::uint32_t>>(0U);
  const auto view = [&](std::uint64_t self) {
    return std::make_shared<RingCore>(memory, shape, std::make_shared<Peers>(self, two_is_dead),
                                      first);
  };
  auto lives = std::make_shared<Ring<Record>>(view(1));
  auto producer = std::make_shared<SharedProducer<Record>>(lives->shared_producer().value());
  auto doomed = view(2);
  const auto seat = doomed->sit(SeatRole::producer, "", {}, false).value();
  run.thread([=] {
    dying_push(*doomed, seat, Step::noted);
    Peers::die(*two_is_dead);
  });
  run.thread([=] { static_cast<void>(producer->try_push(Record::of(1))); });
  run.thread([=] { lives->repair(); });
  run.join();
  model::require(lives->core().stamp(0).look() == stamp::published(0), "who lives is not buried");
  model::require(lives->report().buried == 0, "and nothing was");
}

TEST(RingModel, TheWinnerIsNotBuriedForTheLosersDeath) {
  expect_holds(loser_dies, kAll);
  expect_holds(loser_dies, some(5'000));
  expect_catches(loser_dies, {"ring.bury_the_living"}, "nothing was", {.preemptions = 2});
}

// Reliable.

template <RingKind kKind, int kMessages>
void nothing_is_overtaken(model::Run& run) {
  auto ring = std::make_shared<Ring<Record>>(Ring<Record>::make(with(kKind, true)).value());
  auto consumer =
      std::make_shared<BroadcastConsumer<Record>>(ring->consumer({.reliable = true}).value());
  const auto produce = [](auto& producer) {
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      while (producer.try_push(Record::of(i)) != Push::ok) spin_pause();
    }
  };
  if constexpr (kKind == RingKind::single_producer) {
    auto producer = std::make_shared<SingleProducer<Record>>(ring->single_producer().value());
    run.thread([=] { produce(*producer); });
  } else {
    auto producer = std::make_shared<SharedProducer<Record>>(ring->shared_producer().value());
    run.thread([=] { produce(*producer); });
  }
  run.thread([=] {
    for (std::uint64_t n = 0; n < kMessages;) {
      Record got;
      const Pull pulled = consumer->try_pop(got);
      model::require(pulled != Pull::lost, "nothing is lost");
      if (pulled != Pull::ok) {
        spin_pause();
        continue;
      }
      got.check();
      model::require(got.value == n++, kMisdelivered);
    }
  });
  run.join();
}

TEST(RingModel, AReliableConsumerIsNotOvertaken) {
  expect_holds(nothing_is_overtaken<RingKind::single_producer, 4>, some(10'000));
  expect_holds(nothing_is_overtaken<RingKind::many_producers, 4>, some(10'000));
}

// That a copy is over before the cursor says so is an edge (recycle) whose lack shows only where a load
// sees a store that is yet to come; the search for those is too long here.
TEST(RingModel, AProducerThatForgetsTheSlowOvertakesThem) {
  expect_catches(nothing_is_overtaken<RingKind::single_producer, 3>, {"ring.forget_the_slow"},
                 "nothing is lost", some(20'000));
}

// Somebody joins while the producer has credit from before.
void joins_meanwhile(model::Run& run) {
  RingOptions options = with(RingKind::single_producer, true);
  options.slots = 1;
  auto ring = std::make_shared<Ring<Record>>(Ring<Record>::make(options).value());
  auto producer = std::make_shared<SingleProducer<Record>>(ring->single_producer().value());
  auto consumer = std::make_shared<std::optional<BroadcastConsumer<Record>>>();
  run.thread([=] {
    for (std::uint64_t i = 0; i < 2; ++i) {
      // `full` is an answer: the consumer may have come and not read yet.
      if (producer->try_push(Record::of(i)) != Push::ok) return;
    }
  });
  run.thread([=] {
    consumer->emplace(ring->consumer({.reliable = true}).value());
    for (int looks = 0; looks < 2; ++looks) {
      Record got;
      const Pull pulled = (*consumer)->try_pop(got);
      model::require(pulled != Pull::lost, "nothing is lost");
      if (pulled == Pull::ok) got.check();
    }
  });
  run.join();
  Record got;
  model::require((*consumer)->try_pop(got) != Pull::lost, "nothing is lost");
}

TEST(RingModel, WhoJoinsIsNotOvertakenByCreditFromBefore) {
  expect_holds(joins_meanwhile, some(10'000));
  expect_catches(joins_meanwhile, {"ring.join_without_epoch", "ring.limit_without_epoch"},
                 "nothing is lost", some(100'000));
  expect_needs_edges(joins_meanwhile, {"RingCore::gate"}, "nothing is lost", some(100'000));
}

// Groups.

template <bool kReliable, int kMessages>
void shared_work(model::Run& run) {
  RingOptions options = with(RingKind::single_producer, kReliable);
  options.slots = kReliable ? 1 : 2;
  options.window = kReliable ? 1 : 2;
  auto ring = std::make_shared<Ring<Record>>(Ring<Record>::make(options).value());
  auto producer = std::make_shared<SingleProducer<Record>>(ring->single_producer().value());
  struct Tally {
    Atomic<std::uint32_t> handled{0};
    Atomic<std::uint32_t> times[kMessages] = {};
  };
  struct tallied : Edge {};
  auto tally = std::make_shared<Tally>();
  run.thread([=] {
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      while (producer->try_push(Record::of(i)) != Push::ok) spin_pause();
    }
  });
  for (int m = 0; m < 2; ++m) {
    auto member = std::make_shared<GroupMember<Record>>(
        ring->member("work", {.reliable = kReliable, .ack = Ack::explicitly}).value());
    run.thread([=] {
      while (tally->handled.load_acquire(tallied{}) < kMessages) {
        Record got;
        const Pull pulled = member->try_pop(got);
        if (pulled == Pull::ok) {
          got.check();
          model::require(got.value == member->sequence(), kMisdelivered);
          tally->times[got.value].fetch_add_relaxed(1);
          model::require(member->ack(member->sequence()), "it is this member's");
          tally->handled.fetch_add_release(1, tallied{});
        } else if (pulled == Pull::lost) {
          model::require(!kReliable, "nothing is lost");
          tally->handled.fetch_add_release(static_cast<std::uint32_t>(member->loss().count),
                                           tallied{});
        } else {
          spin_pause();
        }
      }
    });
  }
  run.join();
  for (auto& times : tally->times) {
    model::require(times.load_relaxed() <= 1 && (!kReliable || times.load_relaxed() == 1),
                   "each message once");
  }
  model::require(tally->handled.load_relaxed() == kMessages, "and each is counted once");
}

TEST(RingModel, MembersShareTheMessages) {
  expect_holds(shared_work<false, 2>, some(10'000));
  expect_holds(shared_work<true, 2>, some(10'000));
}

TEST(RingModel, AClaimIsOneMembers) {
  expect_catches(shared_work<false, 2>, {"group.claim_by_store"}, "", some(20'000));
}

// Sleeping.

void publish_and_sleep(model::Run& run) {
  RingOptions options = with(RingKind::single_producer, false);
  options.wakeable = true;
  auto ring = std::make_shared<Ring<Record>>(Ring<Record>::make(options).value());
  auto producer = std::make_shared<SingleProducer<Record>>(ring->single_producer().value());
  auto consumer = std::make_shared<BroadcastConsumer<Record>>(ring->consumer().value());
  run.thread([=] {
    for (std::uint64_t i = 0; i < 2; ++i) static_cast<void>(producer->try_push(Record::of(i)));
  });
  run.thread([=] {
    while (consumer->next_sequence() < 2) {
      Record got;
      if (consumer->try_pop(got) != Pull::ok) consumer->sleep(std::nullopt);
    }
  });
  run.join();
}

TEST(RingModel, ASleeperIsToldOfEachMessage) { expect_holds(publish_and_sleep, some(10'000)); }

TEST(RingModel, SleepingNeedsAFullBarrierOnBothSides) {
  expect_needs_edges(publish_and_sleep, {"RingBell::doze"}, model::kStuck, some(50'000));
  expect_catches(publish_and_sleep, {"ring.publish_softly", "ring.sleep_unchecked"}, model::kStuck);
}

// A producer sleeps until there is room, its consumer until there is a message. Of a group, each message
// that is done may be the one that makes room.

template <RingKind kKind>
void room_and_sleep(model::Run& run) {
  RingOptions options = with(kKind, true, 1);
  options.wakeable = true;
  auto ring = std::make_shared<Ring<Record>>(Ring<Record>::make(options).value());
  auto consumer =
      std::make_shared<BroadcastConsumer<Record>>(ring->consumer({.reliable = true}).value());
  const auto produce = [](auto& producer) {
    for (std::uint64_t i = 0; i < 2; ++i) {
      while (producer.try_push(Record::of(i)) != Push::ok) producer.sleep(std::nullopt);
    }
  };
  if constexpr (kKind == RingKind::single_producer) {
    auto producer = std::make_shared<SingleProducer<Record>>(ring->single_producer().value());
    run.thread([=] { produce(*producer); });
  } else {
    auto producer = std::make_shared<SharedProducer<Record>>(ring->shared_producer().value());
    run.thread([=] { produce(*producer); });
  }
  run.thread([=] {
    for (std::uint64_t n = 0; n < 2;) {
      Record got;
      if (consumer->try_pop(got) != Pull::ok) {
        consumer->sleep(std::nullopt);
        continue;
      }
      model::require(got.value == n++, kMisdelivered);
    }
  });
  run.join();
}

void group_room_and_sleep(model::Run& run) {
  RingOptions options = with(RingKind::single_producer, true, 2);
  options.window = 2;
  options.wakeable = true;
  auto ring = std::make_shared<Ring<Record>>(Ring<Record>::make(options).value());
  auto producer = std::make_shared<SingleProducer<Record>>(ring->single_producer().value());
  using Member = GroupMember<Record>;
  const MemberOptions member{.reliable = true, .ack = Ack::explicitly};
  auto first = std::make_shared<Member>(ring->member("work", member).value());
  auto second = std::make_shared<Member>(ring->member("work", member).value());
  for (std::uint64_t i = 0; i < 2; ++i) {
    model::require(producer->try_push(Record::of(i)) == Push::ok, "there is room");
  }
  Record got;
  model::require(first->try_pop(got) == Pull::ok && second->try_pop(got) == Pull::ok, "two");
  run.thread([=] {
    for (std::uint64_t i = 2; i < 4; ++i) {
      while (producer->try_push(Record::of(i)) != Push::ok) producer->sleep(std::nullopt);
    }
  });
  run.thread([=] { model::require(first->ack(0), "it is the first's"); });
  run.thread([=] { model::require(second->ack(1), "it is the second's"); });
  run.join();
}

TEST(RingModel, AProducerThatSleepsIsToldOfRoom) {
  expect_holds(room_and_sleep<RingKind::single_producer>, some(10'000));
  expect_holds(room_and_sleep<RingKind::many_producers>, some(10'000));
  expect_holds(group_room_and_sleep, some(10'000));
}

TEST(RingModel, AProducersSleepNeedsABarrierOnBothSides) {
  expect_needs_edges(room_and_sleep<RingKind::single_producer>, {"RingBell::room"}, model::kStuck,
                     some(100'000));
  expect_catches(room_and_sleep<RingKind::single_producer>,
                 {"bell.no_barrier", "ring.tell_no_producer"}, model::kStuck, some(100'000));
  expect_catches(group_room_and_sleep, {"group.tell_no_producer"}, model::kStuck, some(100'000));
}

// The index ring.

template <int kMessages>
void one_to_one(model::Run& run) {
  auto ring = std::make_shared<SpscRing<std::uint64_t>>(
      SpscRing<std::uint64_t>::make({.slots = 2}).value());
  auto producer = std::make_shared<SpscProducer<std::uint64_t>>(ring->producer().value());
  auto consumer = std::make_shared<SpscConsumer<std::uint64_t>>(ring->consumer().value());
  run.thread([=] {
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      while (producer->try_push(i) != Push::ok) spin_pause();
    }
  });
  run.thread([=] {
    for (std::uint64_t i = 0; i < kMessages;) {
      std::uint64_t got = 0;
      if (consumer->try_pop(got) != Pull::ok) {
        spin_pause();
        continue;
      }
      model::require(got == i++, "in order");
    }
  });
  run.join();
}

TEST(SpscModel, RecordsComeWholeAndInOrder) {
  expect_holds(one_to_one<3>, kAll);
  expect_holds(one_to_one<5>, some(10'000));
}

void one_to_one_asleep(model::Run& run) {
  auto ring = std::make_shared<SpscRing<std::uint64_t>>(
      SpscRing<std::uint64_t>::make({.slots = 1, .wakeable = true}).value());
  auto producer = std::make_shared<SpscProducer<std::uint64_t>>(ring->producer().value());
  auto consumer = std::make_shared<SpscConsumer<std::uint64_t>>(ring->consumer().value());
  run.thread([=] {
    for (std::uint64_t i = 0; i < 2; ++i) {
      while (producer->try_push(i) != Push::ok) producer->sleep(std::nullopt);
    }
  });
  run.thread([=] {
    for (std::uint64_t i = 0; i < 2; ++i) {
      std::uint64_t got = 0;
      while (consumer->try_pop(got) != Pull::ok) consumer->sleep(std::nullopt);
      model::require(got == i, "in order");
    }
  });
  run.join();
}

TEST(SpscModel, BothEndsMaySleep) {
  expect_holds(one_to_one_asleep, some(20'000));
  expect_catches(one_to_one_asleep, {"spsc.tell_no_producer", "bell.no_barrier"}, model::kStuck,
                 some(100'000));
}

TEST(SpscModel, NeedsBothEdges) {
  expect_needs_edges(one_to_one<1>, {"SpscWords::publish/acquire", "SpscWords::publish/release"},
                     model::kRace);
  expect_needs_edges(one_to_one<3>, {"SpscWords::recycle/acquire", "SpscWords::recycle/release"},
                     model::kRace);
}

}  // namespace
}  // namespace leat::queue
