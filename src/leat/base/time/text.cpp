#include <leat/base/time/text.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <optional>
#include <system_error>

namespace leat {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ns;
};

// Largest first; "ms" before "m" and "s", so that the longest name that fits is found.
constexpr std::array<Unit, 7> kUnits{{{"d", 86'400'000'000'000},
                                      {"h", 3'600'000'000'000},
                                      {"ms", 1'000'000},
                                      {"m", 60'000'000'000},
                                      {"s", 1'000'000'000},
                                      {"us", 1'000},
                                      {"ns", 1}}};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Takes digits off the front; nothing if there are none or too many.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Takes exactly `digits` digits.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    number = number * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

__extension__ using Wide = __int128;

/// The digits behind a point as a part of `whole`; what makes no whole number is refused.
std::optional<std::int64_t> take_fraction(std::string_view& text, std::int64_t whole) {
  std::string_view fraction = text.substr(0, text.find_first_not_of("0123456789"));
  text.remove_prefix(fraction.size());
  if (fraction.empty()) return std::nullopt;
  while (fraction.size() > 1 && fraction.back() == '0') fraction.remove_suffix(1);
  if (fraction.size() > 18) return std::nullopt;
  Wide part = 0;
  Wide of = 1;
  for (const char c : fraction) {
    part = part * 10 + (c - '0');
    of *= 10;
  }
  if (whole * part % of != 0) return std::nullopt;
  return static_cast<std::int64_t>(whole * part / of);
}

std::string digits(std::int64_t number, int width) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%0*lld", width, static_cast<long long>(number));
  return text.data();
}

/// `ns` below a second as digits behind a point, without zeros at the end.
std::string fraction_text(std::int64_t part, int width) {
  if (part == 0) return "";
  std::string text = digits(part, width);
  text.erase(text.find_last_not_of('0') + 1);
  return "." + text;
}

}  // namespace

WallTime wall_now() noexcept {
  return {std::chrono::duration_cast<Nanos>(std::chrono::system_clock::now().time_since_epoch())
              .count()};
}

Result<Nanos> parse_duration(std::string_view text) {
  const std::string_view all = text;
  const auto wrong = [&](const std::string& found) {
    return Error{"duration: asked a number and a unit, as in 1.5ms; found " + found + " in \"" +
                 std::string(all.substr(0, 100)) + "\"; units are d h m s ms us ns"};
  };
  const bool negative = take(text, "-");
  if (text == "0") return Nanos{0};
  if (text.empty()) return wrong("nothing");
  Wide sum = 0;
  while (!text.empty()) {
    const std::size_t at = all.size() - text.size();
    const auto number = take_number(text);
    if (!number) return wrong("no number at character " + std::to_string(at + 1));
    std::string_view fraction;
    if (take(text, ".")) {
      const std::size_t count = text.find_first_not_of("0123456789");
      fraction = text.substr(0, count);
      text.remove_prefix(fraction.size());
      if (fraction.empty()) return wrong("no digit behind the point");
    }
    const Unit* unit = nullptr;
    for (const Unit& one : kUnits) {
      if (unit == nullptr && take(text, one.name)) unit = &one;
    }
    if (unit == nullptr) return wrong("no unit behind " + std::to_string(*number));
    sum += static_cast<Wide>(*number) * unit->ns;
    if (!fraction.empty()) {
      if (!text.empty()) return wrong("a point that is not in the last number");
      const auto part = take_fraction(fraction, unit->ns);
      if (!part) return wrong("less than a nanosecond");
      sum += *part;
    }
    if (sum > std::numeric_limits<std::int64_t>::max()) return wrong("more than 292 years");
  }
  const auto ns = static_cast<std::int64_t>(sum);
  return Nanos(negative ? -ns : ns);
}

std::string exact_text(Nanos time) {
  if (time == Nanos{0}) return "0s";
  const bool negative = time < Nanos{0};
  // Not -time.count(): the smallest number has no opposite.
  const std::uint64_t ns = negative ? -static_cast<std::uint64_t>(time.count())
                                    : static_cast<std::uint64_t>(time.count());
  struct Exact {
    const char* name;
    std::uint64_t ns;
    int digits;
  };
  constexpr std::array<Exact, 4> kExact{
      {{"s", 1'000'000'000, 9}, {"ms", 1'000'000, 6}, {"us", 1'000, 3}, {"ns", 1, 0}}};
  const Exact* unit = kExact.data();
  while (ns < unit->ns) ++unit;
  return (negative ? "-" : "") + std::to_string(ns / unit->ns) +
         fraction_text(static_cast<std::int64_t>(ns % unit->ns), unit->digits) + unit->name;
}

std::string short_text(Nanos time) {
  const bool negative = time < Nanos{0};
  const double ns =
      negative ? -static_cast<double>(time.count()) : static_cast<double>(time.count());
  const std::string sign = negative ? "-" : "";
  std::array<char, 40> text{};
  if (ns >= 60e9) {
    const auto seconds = static_cast<std::int64_t>(ns / 1e9);
    if (seconds >= 86'400) {
      return sign + std::to_string(seconds / 86'400) + "d" + digits(seconds / 3600 % 24, 2) + "h";
    }
    if (seconds >= 3600) {
      return sign + std::to_string(seconds / 3600) + "h" + digits(seconds / 60 % 60, 2) + "m";
    }
    return sign + std::to_string(seconds / 60) + "m" + digits(seconds % 60, 2) + "s";
  }
  if (ns < 1000) return sign + std::to_string(static_cast<std::int64_t>(ns)) + "ns";
  const char* const names[] = {"us", "ms", "s"};
  double value = ns / 1000;
  std::size_t unit = 0;
  // 999.6 would print as 1000: it belongs to the next unit.
  while (unit < 2 && value >= 999.5) {
    value /= 1000;
    ++unit;
  }
  const int behind = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f%s", behind, value, names[unit]);
  return sign + text.data();
}

Result<WallTime> parse_wall_time(std::string_view text) {
  const std::string_view all = text;
  const auto wrong = [&](const std::string& found) {
    return Error{"moment: asked a date and time as in 2026-11-30T17:10:28.5Z; found " + found +
                 " in \"" + std::string(all.substr(0, 100)) + "\"; see RFC 3339"};
  };
  const auto year = take_digits(text, 4);
  const bool dash = take(text, "-");
  const auto month = take_digits(text, 2);
  const bool second_dash = take(text, "-");
  const auto day = take_digits(text, 2);
  if (!year || !dash || !month || !second_dash || !day) return wrong("no date");
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return wrong("a date that is none");
  if (!take(text, "T") && !take(text, "t") && !take(text, " ")) return wrong("no T after the date");
  const auto hour = take_digits(text, 2);
  const bool colon = take(text, ":");
  const auto minute = take_digits(text, 2);
  const bool second_colon = take(text, ":");
  const auto second = take_digits(text, 2);
  if (!hour || !colon || !minute || !second_colon || !second) return wrong("no time");
  // 60 is a leap second, which this clock counts as the first of the next minute.
  if (*hour > 23 || *minute > 59 || *second > 60) return wrong("a time that is none");
  std::int64_t part = 0;
  if (take(text, ".")) {
    const auto fraction = take_fraction(text, 1'000'000'000);
    if (!fraction) return wrong("no digits behind the point, or more than nine");
    part = *fraction;
  }
  std::int64_t offset_minutes = 0;
  if (!take(text, "Z") && !take(text, "z")) {
    const bool west = take(text, "-");
    if (!west && !take(text, "+")) return wrong("neither Z nor an offset at its end");
    const auto hours = take_digits(text, 2);
    const bool third_colon = take(text, ":");
    const auto minutes = take_digits(text, 2);
    if (!hours || !third_colon || !minutes || *hours > 23 || *minutes > 59) {
      return wrong("an offset that is none");
    }
    offset_minutes = (*hours * 60 + *minutes) * (west ? -1 : 1);
  }
  if (!text.empty()) return wrong("more behind it");
  if (*year < 1678 || *year > 2261) return wrong("a year that is too far away");
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds =
      days * 86'400 + *hour * 3600 + *minute * 60 + *second - offset_minutes * 60;
  return WallTime{seconds * 1'000'000'000 + part};
}

std::string to_text(WallTime time) {
  std::int64_t seconds = time.ns / 1'000'000'000;
  std::int64_t part = time.ns % 1'000'000'000;
  if (part < 0) {
    part += 1'000'000'000;
    --seconds;
  }
  const std::int64_t day = seconds >= 0 ? seconds / 86'400 : -((-seconds + 86'399) / 86'400);
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  const std::int64_t rest = seconds - day * 86'400;
  return digits(static_cast<int>(date.year()), 4) + "-" +
         digits(static_cast<unsigned>(date.month()), 2) + "-" +
         digits(static_cast<unsigned>(date.day()), 2) + "T" + digits(rest / 3600, 2) + ":" +
         digits(rest / 60 % 60, 2) + ":" + digits(rest % 60, 2) + fraction_text(part, 9) + "Z";
}

}  // namespace leat
