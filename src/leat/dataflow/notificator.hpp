// What      Keeps capabilities until their times are complete: until no input can bring a record at
//           or before them any more.
// Invariants
//   (1) A time is delivered once however often it was asked for; how often is told.
//   (2) What is available is delivered in ascending order, also what is asked for in between.
//   (3) Only times that no frontier is at or before are delivered.
// Cost      Totally ordered times: a heap; asking costs the logarithm of what waits. Others: all
//           that waits is looked at once per activation and after new requests.
// Source    Timely Dataflow's `FrontierNotificator`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <leat/dataflow/capability.hpp>
#include <leat/progress/antichain.hpp>

namespace leat::dataflow {

/// A time that is complete: its capability, and how often it was asked for.
template <progress::Timestamp T>
struct Notification {
  Capability<T> capability;
  std::size_t count = 0;

  [[nodiscard]] const T& time() const { return capability.time(); }
};

template <progress::Timestamp T>
class Notificator {
 public:
  /// Asks to be told when the capability's time is complete.
  void notify_at(Capability<T> capability) {
    pending_.push_back(std::move(capability));
    if constexpr (kTotal) {
      std::push_heap(pending_.begin(), pending_.end(), later);
    } else {
      stale_ = true;
    }
  }

  /// The least time that is complete as the inputs' frontiers are, if there is one.
  template <class... Frontiers>
  [[nodiscard]] std::optional<Notification<T>> next(const Frontiers&... frontiers) {
    const auto open = [&](const T& time) { return (frontiers.less_equal(time) || ...); };
    if constexpr (kTotal) {
      if (pending_.empty() || open(pending_.front().time())) return std::nullopt;
      return take(pending_);
    } else {
      if (stale_ || (!is_told_ && available_.empty())) {
        make_available(open);
        stale_ = false;
      }
      if (available_.empty()) return std::nullopt;
      return take(available_);
    }
  }

  /// Calls `f(Notification)` for each time that is complete as the inputs' frontiers are, in
  /// ascending order, those that `f` asks for among them.
  template <class F, class... Frontiers>
  void for_each(F&& f, const Frontiers&... frontiers) {
    while (auto done = next(frontiers...)) f(std::move(*done));
  }

  /// How many requests were not delivered yet, each counted as often as it was made.
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.size() + available_.size(); }

  /// Says that frontiers may have changed. The operators of this library say so once per
  /// activation; one that is never told looks whenever it has nothing available.
  void look_again() noexcept {
    stale_ = true;
    is_told_ = true;
  }

  [[nodiscard]] bool empty() const noexcept { return pending_.empty() && available_.empty(); }

 private:
  static constexpr bool kTotal = progress::Order<T>::is_total;

  // `std::push_heap` keeps the largest in front; ours is the least time.
  static bool later(const Capability<T>& a, const Capability<T>& b) { return b.time() < a.time(); }

  template <class Open>
  void make_available(const Open& open) {
    for (std::size_t i = 0; i < pending_.size();) {
      if (open(pending_[i].time())) {
        ++i;
        continue;
      }
      available_.push_back(std::move(pending_[i]));
      std::push_heap(available_.begin(), available_.end(), later);
      if (i + 1 != pending_.size()) pending_[i] = std::move(pending_.back());
      pending_.pop_back();
    }
  }

  static Notification<T> take(std::vector<Capability<T>>& heap) {
    Notification<T> least{pop(heap), 1};
    while (!heap.empty() && heap.front().time() == least.time()) {
      pop(heap);
      ++least.count;
    }
    return least;
  }
  static Capability<T> pop(std::vector<Capability<T>>& heap) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Capability<T> capability = std::move(heap.back());
    heap.pop_back();
    return capability;
  }

  std::vector<Capability<T>> pending_;    // a heap if times are totally ordered
  std::vector<Capability<T>> available_;  // a heap; unused if they are
  bool stale_ = true;
  bool is_told_ = false;
};

}  // namespace leat::dataflow
