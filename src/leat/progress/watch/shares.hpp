// What      Whose the counts of a scope are: for each port and time, how many come from each worker.
//           Kept only by workers that are told to (`Config::name_holders`).
// Invariants  (1) At every port of an operator the shares of all workers sum to the tracker's count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <leat/progress/ledger.hpp>
#include <leat/progress/location.hpp>

namespace leat::progress {

template <class T>
class Shares {
 public:
  explicit Shares(std::size_t workers) : workers_(workers) {}

  void update(PortIndex port, const T& time, std::size_t worker, std::int64_t delta) {
    const auto at = counts_.try_emplace(Pointstamp<T>{port, time}, workers_, 0).first;
    at->second[worker] += delta;
    for (const std::int64_t count : at->second) {
      if (count != 0) return;
    }
    counts_.erase(at);
  }

  /// The counts by worker; empty if all are zero.
  [[nodiscard]] std::vector<std::int64_t> of(PortIndex port, const T& time) const {
    const auto at = counts_.find(Pointstamp<T>{port, time});
    return at == counts_.end() ? std::vector<std::int64_t>() : at->second;
  }

 private:
  std::size_t workers_;
  std::map<Pointstamp<T>, std::vector<std::int64_t>> counts_;
};

}  // namespace leat::progress
