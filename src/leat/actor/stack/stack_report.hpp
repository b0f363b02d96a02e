// What      StackReport: how deep the actors of each kind used their stacks, so that one knows how large
//           these must be. One per runtime, if its Config::measure_stacks asks for it.
// Protocol  `samples()` says whether the next actor is to be measured; its stack is cleared before it
//           runs, and looked at when it has ended: `add`.
// Limits    A kind is a closure's type. What an actor that is not sampled did is not known.
// Cost      A sampled actor pays for some system calls, and the memory of its stack goes before.
// Source    folly's and userver's high-water marks.
#pragma once

#include <leat/base/atomic.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <typeindex>
#include <vector>

namespace leat::actor {

/// What the actors of one kind used.
struct StackUse {
  std::string kind;          ///< the type of their function, as the compiler writes it
  std::uint64_t actors = 0;  ///< that were measured
  std::size_t most_bytes = 0;
};

class StackReport {
 public:
  /// `every`: one of so many actors is measured; 0: none is.
  explicit StackReport(std::uint32_t every) noexcept : every_(every) {}
  StackReport(const StackReport&) = delete;
  StackReport& operator=(const StackReport&) = delete;

  /// Threads: any.
  [[nodiscard]] bool samples() noexcept {
    return every_ != 0 && seen_.fetch_add_relaxed(1) % every_ == 0;  // a count orders nothing
  }

  /// Threads: any.
  void add(std::type_index kind, std::size_t bytes);

  /// Those who used most first. Threads: any.
  [[nodiscard]] std::vector<StackUse> report() const;

 private:
  struct Use {
    std::uint64_t actors = 0;
    std::size_t most_bytes = 0;
  };

  const std::uint32_t every_;
  Atomic<std::uint32_t> seen_{0};
  mutable std::mutex mutex_;
  std::map<std::type_index, Use> uses_;  // guarded by mutex_
};

}  // namespace leat::actor
