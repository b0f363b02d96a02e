#include <leat/progress/ledger.hpp>

#include <leat/base/rng.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace leat::progress {
namespace {

using Time = std::uint64_t;
using Entry = std::tuple<PortIndex, Time, std::int64_t>;

struct Written {
  core::ActivationSet active;
  LocalPtr<Ledger<Time>> ledger = make_local<Ledger<Time>>(core::Activation(active, 0));

  std::vector<Entry> changes() {
    std::vector<Entry> entries;
    for (const auto& [at, diff] : ledger->changes().changes())
      entries.emplace_back(at.port, at.time, diff);
    return entries;
  }
};

TEST(Ledger, HoldsTheNetOfWhatWasWrittenByPortAndTime) {
  Written written;
  written.ledger->update(2, 5, +1);
  written.ledger->update(1, 9, +1);
  written.ledger->update(2, 5, +2);
  written.ledger->update(1, 9, -1);
  written.ledger->update(1, 3, -4);
  EXPECT_EQ(written.changes(), (std::vector<Entry>{{1, 3, -4}, {2, 5, 3}}));
}

TEST(Ledger, PutsTogetherWhatIsFarApartWhenItIsTaken) {
  Written written;
  for (PortIndex round = 0; round < 2; ++round) {
    for (PortIndex port = 0; port < 40; ++port)
      written.ledger->update(port, 7, port == 5 ? -2 : +1);
  }
  for (PortIndex port = 10; port < 40; ++port) written.ledger->update(port, 7, -2);
  std::vector<Entry> expected;
  for (PortIndex port = 0; port < 10; ++port) expected.emplace_back(port, 7, port == 5 ? -4 : 2);
  EXPECT_EQ(written.changes(), expected);
  EXPECT_FALSE(written.ledger->changes().is_empty());
  for (PortIndex port = 0; port < 10; ++port) {
    written.ledger->update(port, 7, port == 5 ? 4 : -2);
  }
  EXPECT_TRUE(written.ledger->changes().is_empty());
}

TEST(Ledger, EqualsACountPerPointstampHoweverManyAreWritten) {
  Rng rng(7);
  Written written;
  for (int round = 0; round < 300; ++round) {
    std::map<std::pair<PortIndex, Time>, std::int64_t> counts;
    const std::uint64_t ports = 1 + rng.below(60);
    const std::uint64_t times = 1 + rng.below(3);
    for (std::uint64_t n = rng.below(200); n > 0; --n) {
      const auto port = static_cast<PortIndex>(rng.below(ports));
      const Time time = rng.below(times);
      const std::int64_t diff = rng.below(2) == 0 ? +1 : -1;
      written.ledger->update(port, time, diff);
      if ((counts[{port, time}] += diff) == 0) counts.erase({port, time});
      if (rng.below(50) == 0) {
        ASSERT_EQ(written.ledger->changes().is_empty(), counts.empty());
      }
    }
    std::vector<Entry> expected;
    for (const auto& [at, count] : counts) expected.emplace_back(at.first, at.second, count);
    ASSERT_EQ(written.ledger->changes().net().size(), expected.size());
    ASSERT_EQ(written.changes(), expected);
    if (rng.below(2) == 0) written.ledger->changes().clear();
    for (const auto& [port, time, diff] : written.changes())
      written.ledger->update(port, time, -diff);
    ASSERT_TRUE(written.ledger->changes().is_empty());
    if (rng.below(10) == 0) written.ledger->changes().release_spares();
  }
}

TEST(Ledger, WhatComesAndGoesWithinAFewWritesLeavesNothing) {
  Written written;
  for (PortIndex port = 0; port < 6; ++port) {
    written.ledger->update(port + 1, 3, +1);  // put out
    written.ledger->update(port, 3, -1);      // taken in
  }
  EXPECT_EQ(written.changes(), (std::vector<Entry>{{0, 3, -1}, {6, 3, +1}}));
  EXPECT_EQ(written.ledger->changes().net().size(), 2U);
}

TEST(Ledger, AWriteFromOutsideARunActivatesTheScope) {
  Written written;
  EXPECT_FALSE(written.active.is_set(0));
  written.ledger->update(0, 1, +1);
  EXPECT_TRUE(written.active.is_set(0));
}

TEST(Ledger, AWriteWithinARunDoesNot) {
  Written written;
  written.ledger->enter_run();
  written.ledger->update(0, 1, +1);
  EXPECT_FALSE(written.active.is_set(0));
  written.ledger->leave_run();
  EXPECT_FALSE(written.changes().empty());
  written.ledger->update(0, 2, +1);
  EXPECT_TRUE(written.active.is_set(0));
}

TEST(Ledger, NothingHasEffectAfterClose) {
  Written written;
  written.ledger->update(0, 1, +1);
  written.active.clear(0);
  written.ledger->close();
  EXPECT_TRUE(written.ledger->closed());
  written.ledger->update(0, 1, +1);
  EXPECT_TRUE(written.changes().empty());
  EXPECT_FALSE(written.active.is_set(0));
  written.ledger->enter_run();  // nor does a run open it again
  written.ledger->leave_run();
  EXPECT_TRUE(written.ledger->closed());
}

TEST(Pointstamp, IsOrderedByPortAndThenByTime) {
  const Pointstamp<Time> a{1, 9};
  const Pointstamp<Time> b{2, 3};
  const Pointstamp<Time> c{2, 4};
  EXPECT_TRUE(a < b);
  EXPECT_TRUE(b < c);
  EXPECT_FALSE(c < a);
  EXPECT_EQ(b, (Pointstamp<Time>{2, 3}));
}

}  // namespace
}  // namespace leat::progress
