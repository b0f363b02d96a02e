// What      What property tests share: the seed, and a check that is cheap to compile in templates.
// Protocol  The seed is LEAT_SEED of the environment, else a fresh one. It is printed, and a
//           failure names it, so that it can be had again: `LEAT_SEED=17 test_property_multisets`.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

namespace leat::property {

/// The seed of this process; the first call prints it.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* const given = std::getenv("LEAT_SEED");
    const std::uint64_t chosen =
        given != nullptr ? std::strtoull(given, nullptr, 0) : std::uint64_t{std::random_device{}()};
    std::printf("LEAT_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    std::fflush(stdout);
    return chosen;
  }();
  return value;
}

/// Fails the running test, with the seed.
[[gnu::noinline]] inline void broken(const char* file, int line, const char* condition) {
  ADD_FAILURE_AT(file, line) << "does not hold: " << condition << "\nLEAT_SEED=" << seed();
}

}  // namespace leat::property

/// ASSERT_TRUE for templates over many types, which it costs a tenth of the time to compile.
#define LEAT_HOLDS(...)                                                  \
  do {                                                                   \
    if (!(__VA_ARGS__)) {                                                \
      return ::leat::property::broken(__FILE__, __LINE__, #__VA_ARGS__); \
    }                                                                    \
  } while (false)
