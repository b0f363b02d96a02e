// Collaborative groups: each message once, whoever polls when; what the dead and the leaving held comes
// again; losses are counted once.
#include <leat/queue/ring/group.hpp>

#include <leat/queue/ring/test_ring.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

namespace leat::queue {
namespace {

using test::AnyProducer;
using test::Mortals;
using test::produce;
using test::SharedMemory;

class GroupOf : public testing::TestWithParam<RingKind> {
 protected:
  static RingOptions options(std::uint64_t slots) { return {.kind = GetParam(), .slots = slots}; }
};
INSTANTIATE_TEST_SUITE_P(Kinds, GroupOf, testing::ValuesIn(test::kKinds), test::kind_name);

TEST_P(GroupOf, OneMemberIsAnOrdinaryReader) {
  auto ring = Ring<std::uint64_t>::make(options(16)).value();
  AnyProducer producer(ring);
  auto member = ring.member("work").value();
  produce(producer, 0, 10);
  std::uint64_t got = 0;
  for (std::uint64_t n = 0; n < 10; ++n) {
    ASSERT_EQ(member.try_pop(got), Pull::ok);
    EXPECT_EQ(got, n);
    EXPECT_EQ(member.sequence(), n);
    EXPECT_FALSE(member.was_redelivered());
  }
  EXPECT_EQ(member.try_pop(got), Pull::empty);
}

TEST_P(GroupOf, ClaimsAreDisjointAndCompleteInEveryOrderOfPolling) {
  constexpr std::uint64_t kMessages = 24;
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    auto ring = Ring<std::uint64_t>::make(options(8)).value();
    AnyProducer producer(ring);
    std::vector<GroupMember<std::uint64_t>> members;
    for (int i = 0; i < 3; ++i) members.push_back(ring.member("work").value());
    std::map<std::uint64_t, int> times;
    std::uint64_t sent = 0;
    for (int round = 0; times.size() < kMessages && round < 100; ++round) {
      while (sent < kMessages && sent < times.size() + 5) produce(producer, sent, sent + 1), ++sent;
      for (const std::size_t who : order) {
        std::uint64_t got = 0;
        if (members[who].try_pop(got) == Pull::ok) ++times[got];
      }
    }
    EXPECT_EQ(times.size(), kMessages);
    for (const auto& [n, count] : times) EXPECT_EQ(count, 1) << n;
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(GroupOf,
       AClaimTwiceWouldBeSeen) {  // the check above, shown a message that is handed out twice
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  auto member = ring.member("work").value();
  produce(producer, 0, 2);
  std::map<std::uint64_t, int> times;
  std::uint64_t got = 0;
  ASSERT_EQ(member.try_pop(got), Pull::ok);
  ++times[got];
  // Forge: sequence 0's word says again that nobody has it, and the hint points there.
  ring.core().claims(0)[0].store_relaxed(claim::done(0 - std::uint64_t{1}));
  ring.core().group(0).next.store_relaxed(0);
  auto other = ring.member("work").value();
  ASSERT_EQ(other.try_pop(got), Pull::ok);
  ++times[got];
  EXPECT_EQ(times[0], 2);
}

TEST_P(GroupOf, GroupsAndBroadcastConsumersDoNotDisturbEachOther) {
  auto ring = Ring<std::uint64_t>::make(options(32)).value();
  AnyProducer producer(ring);
  auto all = ring.consumer().value();
  std::vector<GroupMember<std::uint64_t>> members;
  for (const char* name : {"a", "b"}) {
    for (int i = 0; i < 2; ++i) members.push_back(ring.member(name).value());
  }
  produce(producer, 0, 32);
  EXPECT_EQ(all.consume_all([](const std::uint64_t&) {}).messages, 32U);
  std::uint64_t sums[2] = {};
  for (int round = 0; round < 40; ++round) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::uint64_t got = 0;
      if (members[i].try_pop(got) == Pull::ok) sums[i / 2] += got + 1;
    }
  }
  EXPECT_EQ(sums[0], 32U * 33 / 2);
  EXPECT_EQ(sums[1], 32U * 33 / 2);
}

TEST_P(GroupOf, BeginsWhereTheFirstMemberSays) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  produce(producer, 0, 5);
  auto latest = ring.member("latest").value();
  auto oldest = ring.member("oldest", {.start = StartAt::oldest()}).value();
  auto third = ring.member("third", {.start = StartAt::at(3)}).value();
  auto follows = ring.member("third", {.start = StartAt::oldest()}).value();
  produce(producer, 5, 6);
  std::uint64_t got = 0;
  EXPECT_EQ(latest.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 5U);
  EXPECT_EQ(oldest.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 0U);
  EXPECT_EQ(third.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 3U);
  EXPECT_EQ(follows.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 4U);
}

TEST_P(GroupOf, ABusySlotIsNotClaimedAndTheOthersWaitForIt) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  auto first = ring.member("work").value();
  auto second = ring.member("work").value();
  producer.with_batch(1, [&](auto& batch) {
    std::uint64_t got = 0;
    EXPECT_EQ(first.try_pop(got), Pull::in_flight);
    EXPECT_EQ(second.try_pop(got), Pull::in_flight);
    batch.set(0, 42);
    batch.publish();
    EXPECT_EQ(second.try_pop(got), Pull::ok);
    EXPECT_EQ(got, 42U);
    EXPECT_EQ(first.try_pop(got), Pull::empty);
  });
}

TEST_P(GroupOf, WhatALeavingMemberHeldComesAgain) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  auto stays = ring.member("work").value();
  std::uint64_t got = 0;
  {
    auto leaves = ring.member("work").value();
    produce(producer, 0, 2);
    ASSERT_EQ(leaves.try_pop(got), Pull::ok);
    EXPECT_EQ(got, 0U);
  }
  ASSERT_EQ(stays.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 1U);
  ASSERT_EQ(stays.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 0U);
  EXPECT_TRUE(stays.was_redelivered());
  EXPECT_EQ(stays.try_pop(got), Pull::empty);
  EXPECT_EQ(ring.report().groups.at(0).redelivered, 1U);
}

TEST_P(GroupOf, WhatADeadMemberHeldComesAgain) {
  const Mortals mortals;
  auto peers = mortals;
  const SharedMemory<std::uint64_t> memory(options(8));
  auto living = memory.as(1, mortals);
  auto doomed = memory.as(2, mortals);
  AnyProducer producer(living);
  auto stays = living.member("work", {.ack = Ack::explicitly}).value();
  auto dies = doomed.member("work", {.ack = Ack::explicitly}).value();
  produce(producer, 0, 4);
  std::uint64_t got = 0;
  ASSERT_EQ(dies.try_pop(got), Pull::ok);
  ASSERT_EQ(dies.try_pop(got), Pull::ok);
  EXPECT_TRUE(dies.ack(0));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(stays.try_pop(got), Pull::ok);
    EXPECT_TRUE(stays.ack(stays.sequence()));
  }
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(stays.try_pop(got), Pull::empty);  // it may just be slow
  peers.kill(2);
  std::vector<std::uint64_t> again;
  for (int i = 0; i < 3000; ++i) {
    if (stays.try_pop(got) != Pull::ok) continue;
    again.push_back(got);
    EXPECT_TRUE(stays.was_redelivered());
    EXPECT_TRUE(stays.ack(stays.sequence()));
  }
  EXPECT_EQ(again, std::vector<std::uint64_t>{1});
  EXPECT_FALSE(dies.ack(1));  // it was another's since
}

TEST_P(GroupOf, MessagesAreDoneWhenTheirMemberSaysSo) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  auto member = ring.member("work", {.ack = Ack::explicitly}).value();
  produce(producer, 0, 3);
  std::uint64_t got = 0;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(member.try_pop(got), Pull::ok);
  EXPECT_EQ(ring.core().raise_floor(0), 0U);
  EXPECT_TRUE(member.ack(1));
  EXPECT_EQ(ring.core().raise_floor(0), 0U);
  EXPECT_TRUE(member.ack(0));
  EXPECT_EQ(ring.core().group(0).floor.get(), 2U);
  EXPECT_FALSE(member.ack(1));
  EXPECT_TRUE(member.ack(2));
  EXPECT_EQ(ring.core().group(0).floor.get(), 3U);
}

TEST_P(GroupOf, HoldsNoMoreThanItsWindow) {
  RingOptions narrow = options(16);
  narrow.window = 2;
  auto ring = Ring<std::uint64_t>::make(narrow).value();
  AnyProducer producer(ring);
  auto member = ring.member("work", {.ack = Ack::explicitly}).value();
  produce(producer, 0, 5);
  std::uint64_t got = 0;
  ASSERT_EQ(member.try_pop(got), Pull::ok);
  ASSERT_EQ(member.try_pop(got), Pull::ok);
  EXPECT_EQ(member.try_pop(got), Pull::crowded);
  EXPECT_TRUE(member.ack(1));
  EXPECT_EQ(member.try_pop(got), Pull::crowded);
  EXPECT_TRUE(member.ack(0));
  EXPECT_EQ(member.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 2U);
}

TEST_P(GroupOf, ALostRangeIsCountedOnce) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  std::vector<GroupMember<std::uint64_t>> members;
  for (int i = 0; i < 3; ++i) members.push_back(ring.member("work").value());
  produce(producer, 0, 23);
  std::uint64_t lost = 0;
  std::vector<std::uint64_t> seen;
  for (int round = 0; round < 50; ++round) {
    for (auto& member : members) {
      std::uint64_t got = 0;
      const Pull pulled = member.try_pop(got);
      if (pulled == Pull::ok) seen.push_back(got);
      if (pulled == Pull::lost) lost += member.loss().count;
    }
  }
  EXPECT_EQ(lost, 19U);
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{19, 20, 21, 22}));
  EXPECT_EQ(ring.report().groups.at(0).lost, 19U);
}

TEST_P(GroupOf, PassesOverWhatHoldsNoMessage) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  auto member = ring.member("work").value();
  producer.with_batch(3, [](auto& batch) {
    batch.set(1, 7);
    batch.publish();
  });
  produce(producer, 3, 4);
  std::uint64_t got = 0;
  EXPECT_EQ(member.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 7U);
  EXPECT_EQ(member.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 3U);
  EXPECT_EQ(member.try_pop(got), Pull::empty);
  EXPECT_EQ(ring.report().groups.at(0).floor, 4U);
  EXPECT_EQ(ring.report().groups.at(0).lost, 0U);
}

TEST_P(GroupOf, ABacklogIsSkippedAndNothingThatComesAfter) {
  auto ring = Ring<std::uint64_t>::make(options(64)).value();
  AnyProducer producer(ring);
  auto member = ring.member("work").value();
  auto other = ring.member("work").value();
  produce(producer, 0, 30);
  std::uint64_t got = 0;
  ASSERT_EQ(member.try_pop(got), Pull::ok);  // held, and stays so
  EXPECT_EQ(member.skip_backlog(), 29U);
  EXPECT_EQ(other.try_pop(got), Pull::empty);
  produce(producer, 30, 35);
  for (std::uint64_t n = 30; n < 35; ++n) {
    ASSERT_EQ((n % 2 == 0 ? member : other).try_pop(got), Pull::ok);
    EXPECT_EQ(got, n);
  }
  EXPECT_EQ(member.skip_backlog(), 0U);
  const auto group = ring.report().groups.at(0);
  EXPECT_EQ(group.skipped, 29U);
  EXPECT_EQ(group.lost, 0U);
}

TEST_P(GroupOf, ABacklogIsSkippedUpToWhatIsHeldAWindowBefore) {
  RingOptions narrow = options(64);
  narrow.window = 4;
  auto ring = Ring<std::uint64_t>::make(narrow).value();
  AnyProducer producer(ring);
  auto member = ring.member("work", {.ack = Ack::explicitly}).value();
  produce(producer, 0, 20);
  std::uint64_t got = 0;
  ASSERT_EQ(member.try_pop(got), Pull::ok);
  ASSERT_EQ(member.try_pop(got), Pull::ok);
  EXPECT_TRUE(member.ack(0));
  EXPECT_EQ(member.skip_backlog(), 3U);  // 2, 3, 4; 5 has the word of 1, which is held
  EXPECT_EQ(member.try_pop(got), Pull::crowded);
  EXPECT_TRUE(member.ack(1));
  EXPECT_EQ(member.skip_backlog(), 15U);
  EXPECT_EQ(member.try_pop(got), Pull::empty);
}

TEST_P(GroupOf, AMessageThatIsBeingWrittenIsSkippedToo) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  auto member = ring.member("work").value();
  std::uint64_t got = 0;
  producer.with_batch(1, [&](auto& batch) {
    // One producer counts what it has published, several what they have begun.
    EXPECT_EQ(member.skip_backlog(), GetParam() == RingKind::single_producer ? 0U : 1U);
    batch.set(0, 9);
    batch.publish();
  });
  EXPECT_EQ(member.try_pop(got), GetParam() == RingKind::single_producer ? Pull::ok : Pull::empty);
}

TEST(Groups, AreRemovedWhenNobodyIsInThem) {
  const Mortals mortals;
  auto peers = mortals;
  const SharedMemory<int> memory({.slots = 4, .reliable = true, .groups = 1});
  auto ring = memory.as(1, mortals);
  auto doomed = memory.as(2, mortals);
  EXPECT_NE(ring.remove_group("a").error().message.find("none of that name"), std::string::npos);
  auto dies = doomed.member("a", {.reliable = true}).value();
  auto producer = ring.single_producer().value();
  for (int i = 0; i < 4; ++i) ASSERT_EQ(producer.try_push(i), Push::ok);
  EXPECT_EQ(producer.try_push(4), Push::full);
  EXPECT_NE(ring.remove_group("a").error().message.find("is a member of it"), std::string::npos);
  peers.kill(2);
  EXPECT_TRUE(ring.remove_group("a"));
  EXPECT_EQ(producer.try_push(4), Push::ok);
  EXPECT_TRUE(ring.report().groups.empty());
  auto member = ring.member("b").value();  // its place is another's now
  ASSERT_EQ(producer.try_push(5), Push::ok);
  int got = 0;
  EXPECT_EQ(member.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 5);
}

TEST(Groups, SayWhatIsWrongWithTheirNamesAndTheirRoom) {
  auto ring = Ring<int>::make({.groups = 1}).value();
  EXPECT_NE(ring.member("").error().message.find("1 to 64 bytes"), std::string::npos);
  EXPECT_FALSE(ring.member(std::string(65, 'x')));
  EXPECT_TRUE(ring.member("a"));
  EXPECT_NE(ring.member("b").error().message.find("as many as it was made for"), std::string::npos);
  EXPECT_NE(ring.member("a", {.reliable = true}).error().message.find("reliable = true"),
            std::string::npos);
  EXPECT_TRUE(ring.member("a"));
}

}  // namespace
}  // namespace leat::queue
