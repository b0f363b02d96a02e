#include "row.hpp"

#include <gtest/gtest.h>

namespace leat::bench {
namespace {

TEST(BenchRow, SpreadIsMedianExtremesAndMedianDeviation) {
  const Spread odd = spread_of({5, 1, 9});
  EXPECT_EQ(odd.median, 5);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 9);
  EXPECT_EQ(odd.mad, 4);
  EXPECT_EQ(odd.runs, 3U);
  EXPECT_EQ(spread_of({1, 2, 4, 100}).median, 3);
}

TEST(BenchRow, IsOneJsonObject) {
  Row row{"queue",
          {{"queue", "a \"b\""}, {"producers", 2}},
          "wall_ns",
          "ns",
          spread_of({1234.56}),
          {200.25, 7000, 180},
          {2, "cpu", "none", "6.1", "g++", "abc", 0.5},
          {}};
  EXPECT_EQ(
      to_json(row),
      "{\"bench\": \"queue\", \"params\": {\"queue\": \"a \\\"b\\\"\", \"producers\": 2}, "
      "\"metric\": \"wall_ns\", \"unit\": \"ns\", \"median\": 1235, \"min\": 1235, \"max\": 1235, "
      "\"mad\": 0, \"runs\": 1, \"yardsticks\": {\"spin_barrier_ns\": 200.2, "
      "\"futex_barrier_ns\": 7000, \"line_bounce_ns\": 180}, \"machine\": {\"cores\": 2, "
      "\"cpu\": \"cpu\", \"governor\": \"none\", \"kernel\": \"6.1\", \"compiler\": \"g++\", "
      "\"commit\": \"abc\", \"load\": 0.5}}");
  row.note = "doubtful";
  EXPECT_TRUE(to_json(row).ends_with(", \"note\": \"doubtful\"}"));
}

TEST(BenchRow, LabelNamesBenchAndParams) {
  EXPECT_EQ(label_of("barrier", {}), "barrier");
  EXPECT_EQ(label_of("barrier", {{"rival", "std::barrier"}, {"workers", 2}}),
            "barrier/rival=std::barrier,workers=2");
}

}  // namespace
}  // namespace leat::bench
