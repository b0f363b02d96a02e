// What      Keeps capabilities until their times are complete: until no input can bring a record at
//           or before them any more.
// Invariants
//   (1) A time is delivered once however often it was asked for; how often is told.
//   (2) What is available is delivered in ascending order, also what is asked for in between.
//   (3) Only times that no frontier is at or before are delivered.
// Cost      Totally ordered times: the least apart, the others in a heap; asking costs the logarithm of
//           what waits, and a few instructions if nothing does. Others: all
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

  Notification(Capability<T>&& what, std::size_t times)
      : capability(std::move(what)), count(times) {}
  [[nodiscard]] const T& time() const { return capability.time(); }
};

template <progress::Timestamp T>
class Notificator {
 public:
  /// Asks to be told when the capability's time is complete.
  void notify_at(Capability<T> capability) {
    static_cast<void>(capability.time());  // refuses one that is not held
    if constexpr (kTotal) {
      if (!least_) {
        least_ = std::move(capability);
        return;
      }
      if (capability.held_time() < least_.held_time()) std::swap(capability, least_);
      push(pending_, std::move(capability));
    } else {
      pending_.push_back(std::move(capability));
      stale_ = true;
    }
  }

  /// The least time that is complete as the inputs' frontiers are, if there is one.
  template <class... Frontiers>
  [[nodiscard]] std::optional<Notification<T>> next(const Frontiers&... frontiers) {
    const auto open = [&](const T& time) { return (frontiers.less_equal(time) || ...); };
    if constexpr (kTotal) {
      std::optional<Notification<T>> done;
      if (least_ && !open(least_.held_time())) {
        done.emplace(std::move(least_), 1U);
        if (!pending_.empty()) [[unlikely]]
          take_next(*done);
      }
      return done;
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
  [[nodiscard]] std::size_t pending() const noexcept {
    return (least_ ? 1U : 0U) + pending_.size() + available_.size();
  }

  /// Says that frontiers may have changed. The operators of this library say so once per
  /// activation; one that is never told looks whenever it has nothing available.
  void look_again() noexcept {
    stale_ = true;
    is_told_ = true;
  }

  [[nodiscard]] bool empty() const noexcept {
    return !least_ && pending_.empty() && available_.empty();
  }

 private:
  static constexpr bool kTotal = progress::Order<T>::is_total;

  // `std::push_heap` keeps the largest in front; ours is the least time.
  // All are held, so nobody needs to ask whether they are.
  static bool later(const Capability<T>& a, const Capability<T>& b) {
    return b.held_time() < a.held_time();
  }

  template <class Open>
  void make_available(const Open& open) {
    for (std::size_t i = 0; i < pending_.size();) {
      if (open(pending_[i].held_time())) {
        ++i;
        continue;
      }
      push(available_, std::move(pending_[i]));
      if (i + 1 != pending_.size()) pending_[i] = std::move(pending_.back());
      pending_.pop_back();
    }
  }

  [[gnu::noinline]] void take_next(Notification<T>& done) {
    take_equal(pending_, done);
    if (!pending_.empty()) least_ = pop(pending_);
  }
  static Notification<T> take(std::vector<Capability<T>>& heap) {
    Notification<T> least(pop(heap), 1);
    take_equal(heap, least);
    return least;
  }
  // Puts all other requests of the time together with it.
  static void take_equal(std::vector<Capability<T>>& heap, Notification<T>& least) {
    while (!heap.empty() && heap.front().held_time() == least.capability.held_time()) {
      static_cast<void>(pop(heap));
      ++least.count;
    }
  }
  static void push(std::vector<Capability<T>>& heap, Capability<T> capability) {
    heap.push_back(std::move(capability));
    std::push_heap(heap.begin(), heap.end(), later);
  }
  static Capability<T> pop(std::vector<Capability<T>>& heap) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Capability<T> capability = std::move(heap.back());
    heap.pop_back();
    return capability;
  }

  Capability<T> least_;                   // of totally ordered times: the first to be complete
  std::vector<Capability<T>> pending_;    // the others; a heap if times are totally ordered
  std::vector<Capability<T>> available_;  // a heap; unused if they are
  bool stale_ = true;
  bool is_told_ = false;
};

}  // namespace leat::dataflow
