// A process is killed (kill -9) at each named step of a ring's protocol; whoever survives keeps the ring's
// promises: nothing torn, nothing misdelivered, nobody blocked, each message of a group handled.
//
// LEAT_KILLS=n kills about n processes in all.
#define LEAT_RING_STEPS 1
#include <leat/base/fields.hpp>
#include <leat/core/segment/test_segments.hpp>
#include <leat/queue/ring/in_segment.hpp>

#include <gtest/gtest.h>

#include "../stress/payload.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace leat::crash {
namespace {

using namespace leat::queue;
using stress::Payload;

/// 64 bytes that prove themselves.
struct Message {
  std::uint64_t writer = 0;
  std::uint64_t sequence = 0;
  std::uint64_t proof = 0;
  std::array<std::uint64_t, 5> echo{};

  static Message make(std::uint64_t writer, std::uint64_t sequence) {
    const Payload payload = Payload::make(writer, sequence);
    Message message{writer, sequence, payload.proof, {}};
    message.echo.fill(payload.proof);
    return message;
  }
  [[nodiscard]] bool is_whole() const {
    bool whole = Payload{writer, sequence, proof}.is_whole();
    for (const std::uint64_t each : echo) whole = whole && each == proof;
    return whole;
  }
};

std::size_t kills_per_test() {
  const char* const kills = std::getenv("LEAT_KILLS");
  return kills == nullptr ? 12 : static_cast<std::size_t>(std::atoi(kills)) / 6;
}

// What the child dies of: the `after`th time it comes to the step `name`.
struct Doom {
  std::string_view name;
  unsigned after = 0;
};
Doom doom;
const core::ChildProcess* doomed = nullptr;

void stop_there(const char* name) {
  if (doom.name != name || doom.after-- != 0) return;
  doomed->say('.');
  core::ChildProcess::wait_for_ever();
}

/// Runs `body` in a child until it comes to the step, and kills it there. A child that never comes
/// there ends by itself. Returns: whether it was killed.
template <class Body>
bool kill_at(const Doom& where, Body&& body) {
  core::ChildProcess child([&](const core::ChildProcess& self) {
    doom = where;
    doomed = &self;
    ring_step = stop_there;
    body();
  });
  const bool came = child.listen() == '.';
  if (came) {
    child.kill();
  } else {
    EXPECT_EQ(child.wait(), 0);
  }
  return came;
}

class RingCrash : public testing::Test {
 protected:
  [[nodiscard]] core::SegmentName name() const { return {.name = "ring", .base = folder_.path()}; }

 private:
  core::TestFolder folder_;
};

template <class Producer>
void push_some(Producer& producer, std::uint64_t writer, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = from; i < from + count; ++i) {
    static_cast<void>(producer.try_push(Message::make(writer, i)));
  }
}

constexpr std::array<std::string_view, 8> kProducerSteps{
    "sit.owner_written", "sit.done",       "produce.noted",     "produce.claimed",
    "produce.begun",     "produce.filled", "produce.published", "batch.begun"};

// A killed producer: the survivor's messages come, in order and whole; what the dead one had finished
// comes, too; what it had not is passed over.
void survives_producers(const core::SegmentName& name, RingKind kind) {
  auto ring = create_ring<Message>(name, {.kind = kind, .slots = 8, .reliable = true}).value();
  auto consumer = ring.consumer({.reliable = true}).value();
  std::uint64_t mine = 0;
  std::uint64_t killed = 0;
  for (std::size_t round = 0; round < kills_per_test(); ++round) {
    const Doom where{kProducerSteps[round % kProducerSteps.size()],
                     static_cast<unsigned>(round / kProducerSteps.size() % 3)};
    killed += kill_at(where, [&] {
      auto theirs = join_ring<Message>(name).value();
      const auto work = [&](auto producer) {
        push_some(producer, 1 + round, 0, 3);
        auto batch = producer.reserve(2);
        for (std::size_t i = 0; i < batch.size(); ++i)
          batch.set(i, Message::make(1 + round, 3 + i));
        batch.publish();
      };
      if (kind == RingKind::single_producer) {
        work(theirs.single_producer().value());
      } else {
        work(theirs.shared_producer().value());
      }
    });
    const auto finish = [&](auto producer) {
      while (producer.try_push(Message::make(0, mine)) != Push::ok) {
        Message got;
        if (consumer.try_pop(got) == Pull::ok) {
          ASSERT_TRUE(got.is_whole());
        }
      }
    };
    if (kind == RingKind::single_producer) {
      finish(ring.single_producer().value());
    } else {
      finish(ring.shared_producer().value());
    }
    std::uint64_t theirs = 0;
    for (int looks = 0;; ++looks) {
      ASSERT_LT(looks, 100'000) << "blocked after a death at " << where.name;
      Message got;
      const Pull pulled = consumer.try_pop(got);
      ASSERT_NE(pulled, Pull::lost) << where.name;
      if (pulled != Pull::ok) continue;
      ASSERT_TRUE(got.is_whole()) << where.name;
      if (got.writer == 0) {
        ASSERT_EQ(got.sequence, mine);
        break;
      }
      ASSERT_EQ(got.writer, 1 + round) << where.name;
      ASSERT_GE(got.sequence, theirs);
      theirs = got.sequence + 1;
    }
    ++mine;
  }
  EXPECT_GT(killed, 0U);
}

TEST_F(RingCrash, OneProducerAfterTheOtherIsKilledAtEachStep) {
  survives_producers(name(), RingKind::single_producer);
}

TEST_F(RingCrash, OneOfSeveralProducersIsKilledAtEachStep) {
  survives_producers(name(), RingKind::many_producers);
}

// A killed consumer gates nobody for ever.
TEST_F(RingCrash, AReliableConsumerIsKilledAtEachStep) {
  auto ring = create_ring<Message>(name(), {.slots = 4, .reliable = true}).value();
  auto producer = ring.single_producer().value();
  constexpr std::array<std::string_view, 6> kSteps{"lock.held",          "sit.owner_written",
                                                   "sit.cursor_written", "sit.open",
                                                   "sit.done",           "consume.copied"};
  std::uint64_t killed = 0;
  for (std::size_t round = 0; round < kills_per_test(); ++round) {
    push_some(producer, 0, 0, 4);
    killed += kill_at({kSteps[round % kSteps.size()], 0}, [&] {
      auto theirs = join_ring<Message>(name()).value();
      auto consumer = theirs.consumer({.start = StartAt::oldest(), .reliable = true}).value();
      Message got;
      static_cast<void>(consumer.try_pop(got));
    });
    ring.repair();
    for (std::uint64_t i = 0; i < 9; ++i) {
      ASSERT_EQ(producer.try_push(Message::make(0, i)), Push::ok)
          << "gated by one killed at " << kSteps[round % kSteps.size()];
    }
  }
  EXPECT_GT(killed, 0U);
}

// A killed member of a group: what it held is handled by another, and all is handled.
TEST_F(RingCrash, AMemberOfAGroupIsKilledAtEachStep) {
  constexpr std::array<std::string_view, 7> kSteps{"group.making",  "group.made",  "member.claimed",
                                                   "member.copied", "member.done", "member.adopted",
                                                   "repair.buried"};
  std::uint64_t killed = 0;
  for (std::size_t round = 0; round < kills_per_test(); ++round) {
    const core::SegmentName there{.name = "ring" + std::to_string(round), .base = name().base};
    auto ring = create_ring<Message>(there, {.slots = 16, .reliable = true}).value();
    auto producer = ring.single_producer().value();
    const auto steps = [&](bool claims_more) {
      return [&, claims_more] {
        auto theirs = join_ring<Message>(there).value();
        auto member = theirs.member("work", {.start = StartAt::oldest(), .reliable = true}).value();
        Message got;
        for (int i = 0; i < (claims_more ? 3000 : 3); ++i) static_cast<void>(member.try_pop(got));
      };
    };
    // Somebody first dies over a message, so that there is one to adopt.
    push_some(producer, 0, 0, 10);
    killed += kill_at({"member.copied", 1}, steps(false));
    killed +=
        kill_at({kSteps[round % kSteps.size()], static_cast<unsigned>(round % 2)}, steps(true));
    auto member = ring.member("work", {.start = StartAt::oldest(), .reliable = true}).value();
    std::set<std::uint64_t> handled;
    Message got;
    for (int looks = 0; looks < 5000; ++looks) {
      const Pull pulled = member.try_pop(got);
      ASSERT_NE(pulled, Pull::lost);
      if (pulled != Pull::ok) continue;
      ASSERT_TRUE(got.is_whole());
      handled.insert(got.sequence);
    }
    // What the dead had said done is gone with them; nothing else is.
    const std::uint64_t floor = ring.core().raise_floor(0);
    EXPECT_EQ(floor, 10U) << "left over after a death at " << kSteps[round % kSteps.size()];
    ASSERT_EQ(core::destroy_segment(there, core::Force::yes).has_value(), true);
  }
  EXPECT_GT(killed, 0U);
}

// Who sleeps is not forgotten by a producer that dies between saying so and waking him.
TEST_F(RingCrash, AProducerIsKilledBeforeItWakesWhoSleeps) {
  auto ring = create_ring<Message>(name(), {.slots = 8, .wakeable = true}).value();
  auto consumer = ring.consumer().value();
  constexpr std::array<std::string_view, 2> kSteps{"produce.published", "ring.bit_cleared"};
  for (std::size_t round = 0; round < kills_per_test(); ++round) {
    ring.repair();             // of the last round: else the child does it, and wakes who sleeps
    consumer.sleep(Nanos{1});  // leaves the bit that says so
    ASSERT_TRUE(kill_at({kSteps[round % kSteps.size()], 0}, [&] {
      auto theirs = join_ring<Message>(name()).value();
      auto producer = theirs.single_producer().value();
      push_some(producer, round, 0, 1);
    })) << "nobody rang";
    Message got;
    const Waiting sleeps{
        .looks = 0, .yields = 0, .sleeps = true, .sleep_at_most = std::chrono::milliseconds(1)};
    ASSERT_EQ(consumer.pop(got, std::chrono::minutes(1), sleeps), Pull::ok);
    ASSERT_TRUE(got.is_whole());
    ASSERT_EQ(got.writer, round);
  }
}

// The index ring: a record is there or it is not; one that was not given back comes again.
TEST_F(RingCrash, EitherEndOfAnIndexRingIsKilledAtEachStep) {
  auto ring = create_or_join_spsc<Message>(name(), {.slots = 4}).value();
  constexpr std::array<std::string_view, 3> kSteps{"spsc.filled", "spsc.published", "spsc.copied"};
  std::uint64_t expected = 0;
  std::uint64_t sent = 0;
  for (std::size_t round = 0; round < kills_per_test(); ++round) {
    const std::string_view step = kSteps[round % kSteps.size()];
    ASSERT_TRUE(kill_at({step, 0}, [&] {
      auto theirs = join_spsc<Message>(name()).value();
      auto producer = theirs.producer().value();
      static_cast<void>(producer.try_push(Message::make(0, sent)));
      Message got;
      static_cast<void>(theirs.consumer().value().try_pop(got));
    })) << step;
    if (step != "spsc.filled") ++sent;
    {
      auto producer = ring.producer().value();
      ASSERT_EQ(producer.try_push(Message::make(0, sent)), Push::ok);
      ++sent;
    }
    auto consumer = ring.consumer().value();
    Message got;
    while (consumer.try_pop(got) == Pull::ok) {
      ASSERT_TRUE(got.is_whole());
      ASSERT_EQ(got.sequence, expected++) << step;
    }
    ASSERT_EQ(expected, sent) << step;
  }
}

}  // namespace
}  // namespace leat::crash
