// What      The same programs by others: stackless coroutines of C++20 with the least that could run them
//           (what switching costs at the least), and Boost.Fiber where it is installed. One thread each.
#pragma once

#include <cstdint>
#include <span>

namespace leat::bench {

struct RivalProgram {
  const char* name;
  /// Does `n` iterations; they are what they are in main.cpp. Throws if its answer is wrong.
  void (*run)(std::uint64_t n);
};

[[nodiscard]] std::span<const RivalProgram> coroutine_programs();

#if defined(LEAT_BENCH_BOOST_FIBER)
[[nodiscard]] std::span<const RivalProgram> boost_fiber_programs();
#endif

}  // namespace leat::bench
