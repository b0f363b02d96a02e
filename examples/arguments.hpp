// What      What several examples need besides Leat: their own words on the command line, which
//           come before any flags (`bfs 1000 5000 -w 2`), and the time since they began.
#pragma once

#include <leat/base/clock.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

/// The program's own word number `at`, from 1; "" if there are not so many before the first flag.
inline std::string_view word(int argc, char** argv, int at) {
  for (int i = 1; i <= at; ++i) {
    if (i >= argc || argv[i][0] == '-') return "";
  }
  return argv[at];
}

/// The whole number that `text` is, if it is one.
inline std::optional<std::uint64_t> as_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

/// Word number `at` as a number, or `otherwise` if there is none; ends the program if it is no
/// number above 0.
inline std::uint64_t number(int argc, char** argv, int at, const char* name,
                            std::uint64_t otherwise) {
  const std::string_view text = word(argc, argv, at);
  if (text.empty()) return otherwise;
  if (const auto value = as_number(text); value && *value > 0) return *value;
  std::fprintf(stderr, "%s: expected %s, a whole number above 0, found \"%s\"\n", argv[0], name,
               argv[at]);
  std::exit(2);
}

/// Seconds since it was made. Any thread may ask.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(clock_.now() - start_).count();
  }

 private:
  leat::RealClock clock_;
  leat::Nanos start_ = clock_.now();
};
