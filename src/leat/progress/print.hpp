// What      Times as text, for error messages, logs and tests: `7`, `()`, `(3, 0)`, `250ns`.
// Limits    Works on any stream with `<<`; a type that is none of ours must bring its own `<<`.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <ratio>
#include <type_traits>
#include <utility>

#include <leat/progress/order.hpp>

namespace leat::progress {

/// Writes `time` to `out`. Small integers are written as numbers, never as characters.
template <class Stream, class T>
void print_time(Stream& out, const T& time) {
  if constexpr (std::same_as<T, bool>) {
    out << time;
  } else if constexpr (std::integral<T>) {
    out << +time;
  } else {
    out << time;
  }
}

template <class Stream>
void print_time(Stream& out, const Unit&) {
  out << "()";
}

template <class Stream, class A, class B>
void print_time(Stream& out, const std::pair<A, B>& time) {
  out << "(";
  print_time(out, time.first);
  out << ", ";
  print_time(out, time.second);
  out << ")";
}

template <class Stream, class Rep, class Period>
void print_time(Stream& out, const std::chrono::duration<Rep, Period>& time) {
  print_time(out, time.count());
  if constexpr (std::same_as<Period, std::nano>) {
    out << "ns";
  } else if constexpr (std::same_as<Period, std::micro>) {
    out << "us";
  } else if constexpr (std::same_as<Period, std::milli>) {
    out << "ms";
  } else if constexpr (std::same_as<Period, std::ratio<1>>) {
    out << "s";
  } else {
    out << "*" << std::intmax_t{Period::num} << "/" << std::intmax_t{Period::den} << "s";
  }
}

}  // namespace leat::progress
