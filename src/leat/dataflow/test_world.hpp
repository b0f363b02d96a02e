// What      What the tests of this layer share: workers that the test steps by hand on its own
//           thread, and a look at the words of a UsageError.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/clock.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/core/config.hpp>
#include <leat/dataflow/worker.hpp>

namespace leat::dataflow::test {

/// The workers of one fabric. None of them ever waits, unless a test gives them a clock.
class World {
 public:
  explicit World(std::size_t peers = 1, core::ProgressMode mode = core::ProgressMode::demand,
                 const Clock* clock = nullptr)
      : fabric_(peers) {
    core::Config config;
    config.workers = peers;
    config.progress_mode = mode;
    config.idle_spin = Nanos{0};  // a clock that stands would be polled for ever
    for (std::size_t index = 0; index < peers; ++index) {
      workers_.push_back(std::make_unique<Worker>(fabric_.seat(index), config, clock));
    }
  }

  [[nodiscard]] Worker& operator[](std::size_t index) { return *workers_[index]; }

  /// Steps every worker in turn, `rounds` times.
  void steps(std::size_t rounds = 20) {
    for (; rounds > 0; --rounds) {
      for (auto& worker : workers_) worker->step();
    }
  }

  /// Steps until no worker has a dataflow; fails if that takes too long.
  ::testing::AssertionResult ends(std::size_t rounds = 10'000) {
    for (; rounds > 0; --rounds) {
      bool running = false;
      for (auto& worker : workers_) running = worker->step() || running;
      if (!running) return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "a dataflow did not end";
  }

 private:
  comm::Fabric fabric_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// What the `UsageError` says that `f()` throws.
template <class F>
std::string usage_error(F&& f) {
  try {
    f();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Whether `text` has all of `words` in it.
inline ::testing::AssertionResult says(const std::string& text,
                                       std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) == std::string::npos) {
      return ::testing::AssertionFailure() << "no \"" << word << "\" in: " << text;
    }
  }
  return ::testing::AssertionSuccess();
}

/// How reports name an operator that the calling file made in line `line`.
inline std::string place(std::string_view name, int line, std::string file = __builtin_FILE()) {
  if (const auto slash = file.find_last_of('/'); slash != std::string::npos) {
    file.erase(0, slash + 1);
  }
  return "operator \"" + std::string(name) + "\" (" + file + ":" + std::to_string(line) + ")";
}

/// The elements of a range, in order, as a vector that can be compared and printed.
template <class Range>
auto listed(const Range& range) {
  using Element = std::decay_t<decltype(*range.begin())>;
  return std::vector<Element>(range.begin(), range.end());
}

}  // namespace leat::dataflow::test
