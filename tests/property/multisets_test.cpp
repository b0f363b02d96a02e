// Antichains and change batches against an oracle that only follows the definitions: a map from
// time to count, searched in full at every question.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/rng.hpp>
#include <leat/progress/antichain.hpp>
#include <leat/progress/change_batch.hpp>
#include <leat/progress/mutable_antichain.hpp>
#include <leat/progress/product.hpp>

#include "draw_time.hpp"
#include "property.hpp"

namespace leat::progress {
namespace {

using property::draw;
using property::draw_diff;

template <class T>
using Counts = std::map<T, std::int64_t>;

template <class T>
void add(Counts<T>& counts, const T& time, std::int64_t diff) {
  if ((counts[time] += diff) == 0) counts.erase(time);
}

/// Ascending, as all lists of times here.
template <class T>
std::vector<T> minimal(const Counts<T>& counts) {
  std::vector<T> frontier;
  for (const auto& [time, count] : counts) {
    bool is_minimal = count > 0;
    for (const auto& [other, other_count] : counts) {
      if (other_count > 0 && less_than(other, time)) is_minimal = false;
    }
    if (is_minimal) frontier.push_back(time);
  }
  return frontier;
}

template <class T>
std::vector<T> sorted(AntichainRef<T> frontier) {
  std::vector<T> times(frontier.begin(), frontier.end());
  std::sort(times.begin(), times.end());
  return times;
}

template <class T>
bool any_less_equal(const std::vector<T>& times, const T& time) {
  for (const T& t : times) {
    if (less_equal(t, time)) return true;
  }
  return false;
}

template <class T>
bool any_less_than(const std::vector<T>& times, const T& time) {
  for (const T& t : times) {
    if (less_than(t, time)) return true;
  }
  return false;
}

template <class T>
class Multisets : public ::testing::Test {};
using Grid = Product<std::uint64_t, std::uint64_t>;
using Times = ::testing::Types<std::uint64_t, Grid, std::pair<Grid, std::uint32_t>>;
TYPED_TEST_SUITE(Multisets, Times);

TYPED_TEST(Multisets, FrontierIsThatOfTheOracleAndReportsSumToItsChanges) {
  using T = TypeParam;
  Rng rng(property::seed());
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t range = 1 + rng.below(round % 3 == 0 ? 40 : 6);
    MutableAntichain<T> counts;
    Counts<T> oracle;
    Counts<T> reported;  // what a reader who applies all reports believes to be the frontier
    const bool advances =
        round % 2 == 0;  // times come from a window that moves on, else from the same
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t base = advances ? static_cast<std::uint64_t>(step) : 0;
      T time = property::shifted(draw<T>(rng, range), base);
      std::int64_t diff = draw_diff(rng);
      if (rng.below(advances ? 2 : 3) == 0 &&
          !counts.empty()) {  // retire what is in front, as a dataflow does
        const auto frontier = counts.frontier();
        time = frontier[rng.below(frontier.size())];
        diff = -counts.count_for(time);
      }
      const bool was_empty = reported.empty();
      bool gap = false;
      counts.update(time, diff, [&](const T& changed, int by) {
        add(reported, changed, by);
        gap = gap || (reported.empty() && !was_empty);
      });
      add(oracle, time, diff);

      const std::vector<T> expected = minimal(oracle);
      LEAT_HOLDS(sorted(counts.frontier()) == expected);
      LEAT_HOLDS(reported.size() == expected.size());
      for (const T& element : expected)
        LEAT_HOLDS(reported.contains(element) && reported[element] == 1);
      LEAT_HOLDS(!gap || expected.empty());
      LEAT_HOLDS(counts.empty() == expected.empty());
      LEAT_HOLDS(counts.nonzero() == oracle.size());
      const T asked = property::shifted(draw<T>(rng, range), base);
      LEAT_HOLDS(counts.count_for(asked) == (oracle.contains(asked) ? oracle[asked] : 0));
      LEAT_HOLDS(counts.less_equal(asked) == any_less_equal(expected, asked));
      LEAT_HOLDS(counts.less_than(asked) == any_less_than(expected, asked));
    }
    Counts<T> listed;
    counts.for_each([&](const T& time, std::int64_t count) { listed[time] = count; });
    LEAT_HOLDS(listed == oracle);
    // Everything retires: nothing may be left.
    for (const auto& [time, count] : oracle) counts.update(time, -count);
    LEAT_HOLDS(counts.empty() && counts.nonzero() == 0);
  }
}

TYPED_TEST(Multisets, StorageIsBoundedByWhatIsOutstanding) {
  using T = TypeParam;
  Rng rng(property::seed());
  MutableAntichain<T> counts;
  std::vector<T> outstanding;
  std::size_t most = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (outstanding.size() < 10 && rng.below(2) == 0) {
      outstanding.push_back(draw<T>(rng, 1'000'000));
      counts.update(outstanding.back(), 1);
    } else if (!outstanding.empty()) {
      std::swap(outstanding[rng.below(outstanding.size())], outstanding.back());
      counts.update(outstanding.back(), -1);
      outstanding.pop_back();
    }
    most = std::max(most, counts.stored());
  }
  LEAT_HOLDS(most <= 32);
}

TYPED_TEST(Multisets, UpdateAllReportsExactlyTheDifferenceOfTheFrontiers) {
  using T = TypeParam;
  Rng rng(property::seed());
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t range = 1 + rng.below(12);
    MutableAntichain<T> counts;
    Counts<T> oracle;
    for (int call = 0; call < 10; ++call) {
      std::vector<std::pair<T, std::int64_t>> changes;
      for (std::uint64_t n = rng.below(8); n > 0; --n) {
        changes.emplace_back(draw<T>(rng, range), draw_diff(rng));
      }
      Counts<T> expected;
      for (const T& time : minimal(oracle)) add(expected, time, -1);
      for (const auto& [time, diff] : changes) add(oracle, time, diff);
      for (const T& time : minimal(oracle)) add(expected, time, 1);
      Counts<T> reported;
      int calls = 0;
      counts.update_all(changes, [&](const T& time, int by) {
        add(reported, time, by);
        ++calls;
      });
      LEAT_HOLDS(reported == expected);
      LEAT_HOLDS(static_cast<std::size_t>(calls) == expected.size());
    }
  }
}

TYPED_TEST(Multisets, CopiesAndMovesBehaveAsTheOriginal) {
  using T = TypeParam;
  Rng rng(property::seed());
  for (int round = 0; round < 100; ++round) {
    MutableAntichain<T> original;
    for (std::uint64_t n = rng.below(30); n > 0; --n)
      original.update(draw<T>(rng, 20), draw_diff(rng));
    MutableAntichain<T> copy = original;
    MutableAntichain<T> moved;
    moved.update(draw<T>(rng, 20), 1);
    moved = MutableAntichain<T>(original);
    for (int step = 0; step < 30; ++step) {
      const T time = draw<T>(rng, 20);
      const std::int64_t diff = draw_diff(rng);
      for (auto* each : {&original, &copy, &moved}) each->update(time, diff);
      LEAT_HOLDS(copy.frontier() == original.frontier() && moved.frontier() == original.frontier());
    }
  }
}

TYPED_TEST(Multisets, AntichainKeepsTheMinimalOfWhatWasInserted) {
  using T = TypeParam;
  Rng rng(property::seed());
  for (int round = 0; round < 200; ++round) {
    Antichain<T> antichain;
    Counts<T> inserted;
    for (std::uint64_t n = rng.below(20); n > 0; --n) {
      const T time = draw<T>(rng, 8);
      const std::vector<T> before = minimal(inserted);
      inserted[time] = 1;
      const std::vector<T> after = minimal(inserted);
      LEAT_HOLDS(antichain.insert(time) == (after != before));
      LEAT_HOLDS(sorted(antichain.borrow()) == after);
    }
    std::vector<T> shuffled(antichain.begin(), antichain.end());
    std::shuffle(shuffled.begin(), shuffled.end(), rng);
    Antichain<T> again;
    again.extend(shuffled);
    LEAT_HOLDS(again == antichain && again.hash() == antichain.hash());
  }
}

TYPED_TEST(Multisets, AntichainsCompareByTheTimesThatMayCome) {
  using T = TypeParam;
  Rng rng(property::seed());
  for (int round = 0; round < 1000; ++round) {
    std::array<Antichain<T>, 2> pair;
    for (auto& antichain : pair) {
      for (std::uint64_t n = rng.below(4); n > 0; --n) antichain.insert(draw<T>(rng, 4));
    }
    const auto& [a, b] = pair;
    bool expected = true;
    for (const T& time : b) expected = expected && a.less_equal(time);
    LEAT_HOLDS((a <= b) == expected);
    LEAT_HOLDS((a == b) == (a <= b && b <= a));
    const T time = draw<T>(rng, 5);
    LEAT_HOLDS(!(a <= b) || !b.less_equal(time) || a.less_equal(time));
  }
}

TYPED_TEST(Multisets, ChangeBatchHoldsTheSums) {
  using T = TypeParam;
  Rng rng(property::seed());
  for (int round = 0; round < 100; ++round) {
    const std::uint64_t range = 1 + rng.below(30);
    ChangeBatch<T> batch;
    Counts<T> oracle;
    for (int step = 0; step < 200; ++step) {
      const T time = draw<T>(rng, range);
      const std::int64_t diff = draw_diff(rng);
      batch.update(time, diff);
      add(oracle, time, diff);
      const std::uint64_t what = rng.below(40);
      if (what == 0) LEAT_HOLDS(batch.is_empty() == oracle.empty());
      if (what == 1) LEAT_HOLDS(batch.size() == oracle.size() && !batch.is_dirty());
      if (what == 2) {
        ChangeBatch<T> other;
        if (rng.below(2) == 0) {
          other.update(time, 1);
          add(oracle, time, 1);
        }
        batch.drain_into(other);
        LEAT_HOLDS(batch.is_empty());
        std::swap(batch, other);
      }
    }
    std::vector<std::pair<T, std::int64_t>> drained;
    batch.drain([&](const T& time, std::int64_t diff) { drained.emplace_back(time, diff); });
    LEAT_HOLDS(std::equal(
        drained.begin(), drained.end(), oracle.begin(), oracle.end(),
        [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
    LEAT_HOLDS(batch.is_empty());
  }
}

}  // namespace
}  // namespace leat::progress
