#include <leat/base/time/text.hpp>

#include <leat/base/rng.hpp>

#include <gtest/gtest.h>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

namespace leat {
namespace {

using namespace std::chrono_literals;

std::string error_of(const std::string& text) {
  const auto parsed = parse_duration(text);
  return parsed ? "no error" : parsed.error().message;
}

TEST(ParseDuration, TakesNumbersAndUnits) {
  EXPECT_EQ(*parse_duration("0"), 0ns);
  EXPECT_EQ(*parse_duration("250ns"), 250ns);
  EXPECT_EQ(*parse_duration("3us"), 3us);
  EXPECT_EQ(*parse_duration("20ms"), 20ms);
  EXPECT_EQ(*parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(*parse_duration("0.000000001s"), 1ns);
  EXPECT_EQ(*parse_duration("1.50s"), 1500ms);
  EXPECT_EQ(*parse_duration("2m"), 2min);
  EXPECT_EQ(*parse_duration("1h30m"), 90min);
  EXPECT_EQ(*parse_duration("1h0.5m"), 1h + 30s);
  EXPECT_EQ(*parse_duration("0.5d"), 12h);
  EXPECT_EQ(*parse_duration("-1.5ms"), -1500us);
}

TEST(ParseDuration, SaysWhatIsWrongWithOthers) {
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(error_of(text).find(part), std::string::npos) << error_of(text);
  };
  says("", "found nothing");
  says("5", "found no unit behind 5");
  says("5 ms", "found no unit behind 5");
  says("ms", "found no number at character 1");
  says("1h x", "found no number at character 3");
  says("1.s", "found no digit behind the point");
  says("1.5h3m", "found a point that is not in the last number");
  says("0.5ns", "found less than a nanosecond");
  says("0.0005us", "found less than a nanosecond");
  says("300000d", "found more than 292 years");
  says("99999999999999999999s", "found no number");
  says("--1s", "found no number");
}

TEST(ExactText, ReadsBackAsTheSame) {
  EXPECT_EQ(exact_text(0ns), "0s");
  EXPECT_EQ(exact_text(1500us), "1.5ms");
  EXPECT_EQ(exact_text(-1ns), "-1ns");
  EXPECT_EQ(exact_text(90s + 1ns), "90.000000001s");
  EXPECT_EQ(exact_text(Nanos::min()), "-9223372036.854775808s");
  Rng random(5);
  for (int i = 0; i < 10000; ++i) {
    const auto ns = static_cast<std::int64_t>(random.next() >> (1 + random.next() % 63));
    const Nanos time(random.next() % 2 == 0 ? ns : -ns);
    const auto back = parse_duration(exact_text(time));
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(*back, time) << exact_text(time);
  }
}

TEST(ShortText, HasThreeOrFourDigits) {
  EXPECT_EQ(short_text(999ns), "999ns");
  EXPECT_EQ(short_text(1000ns), "1.00us");
  EXPECT_EQ(short_text(1234us), "1.23ms");
  EXPECT_EQ(short_text(-12345us), "-12.3ms");
  EXPECT_EQ(short_text(999'600ns), "1.00ms");
  EXPECT_EQ(short_text(59s), "59.0s");
  EXPECT_EQ(short_text(125s), "2m05s");
  EXPECT_EQ(short_text(2h + 5min), "2h05m");
  EXPECT_EQ(short_text(49h), "2d01h");
  EXPECT_EQ(short_text(Nanos::min()), "-106751d23h");
}

TEST(WallTime, PrintsAndReadsRfc3339) {
  EXPECT_EQ(to_text(WallTime{0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_text(WallTime{-1}), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(parse_wall_time("2026-11-30T17:10:28.5Z")->ns, 1796058628'500'000'000);
  EXPECT_EQ(parse_wall_time("2026-11-30t18:10:28.5+01:00")->ns, 1796058628'500'000'000);
  EXPECT_EQ(parse_wall_time("2026-11-30 12:40:28.5-04:30")->ns, 1796058628'500'000'000);
  EXPECT_EQ(parse_wall_time("2016-12-31T23:59:60Z")->ns,
            parse_wall_time("2017-01-01T00:00:00Z")->ns);
  Rng random(6);
  for (int i = 0; i < 10000; ++i) {
    const auto ns = static_cast<std::int64_t>(random.next() >> (1 + random.next() % 63));
    const WallTime time{random.next() % 2 == 0 ? ns : -ns};
    const auto back = parse_wall_time(to_text(time));
    if (!back) continue;  // the edges of what fits into nanoseconds
    ASSERT_EQ(*back, time) << to_text(time);
  }
}

TEST(WallTime, SaysWhatIsNoMoment) {
  for (const char* text :
       {"", "2026", "2026-02-30T00:00:00Z", "2026-11-30", "2026-11-30T25:00:00Z",
        "2026-11-30T17:10:28", "2026-11-30T17:10:28.Z", "2026-11-30T17:10:28.1234567891Z",
        "2026-11-30T17:10:28+1:00", "2026-11-30T17:10:28Zx", "9999-11-30T17:10:28Z"}) {
    const auto parsed = parse_wall_time(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().message.find("see RFC 3339"), std::string::npos);
  }
}

}  // namespace
}  // namespace leat
