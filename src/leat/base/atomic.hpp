// What      `Atomic<T>`: std::atomic with the memory order in the name of the operation and the
//           synchronising pair named by a type. Every layer uses it in place of std::atomic.
// Protocol  Declare each pair once, as an empty struct derived from `Edge`, with a line that says
//           what it carries, and pass it at both halves:
//             struct publish : Edge {};  // writer -> reader: the record is whole before it is read
//             tail_.store_release(tail + 1, publish{});
//             tail_.load_acquire(publish{});
//           An operation with one side takes one edge. A read-modify-write that both acquires and
//           releases takes two, first the edge that arrives (acquire), then the one that leaves
//           (release); they may be the same type. A relaxed operation takes none, and a comment
//           beside it says why relaxed is enough.
//           A fence is such a half for relaxed accesses beside it: a release fence for the stores
//           behind it, an acquire fence for the loads before it. The two fences are one edge:
//             fence_release(overwrite{});  word.store_relaxed(w);
//             word.load_relaxed();  fence_acquire(overwrite{});
//           Prefer an ordered load or store: ThreadSanitizer does not know fences. What copies a
//           payload through words takes base/word_copy.hpp, which has a variant without.
// Ordering  Exactly that of the std::atomic operation of the same name, and of
//           std::atomic_thread_fence. A failed compare-exchange loads relaxed for `_relaxed` and
//           `_release`, acquire for `_acquire` and `_acq_rel`, seq_cst for `_seq_cst`.
// Limits    T is trivially copyable and lock-free. No conversions, no operators: each access is
//           spelt.
// Cost      None: the same instructions as std::atomic at -O2.
//           With LEAT_MODEL=1 every operation is a choice point of the model checker, see
//           docs/protocols/model_checker.md.
// Source    The idea of named pairs is iceoryx's (comments `SYNC POINT`); as types it is ours.
#pragma once

#include <atomic>
#include <concepts>
#include <type_traits>

namespace leat {

/// Base of every edge: an empty type that names one synchronising pair.
struct Edge {};

/// An empty type that names a synchronising pair.
template <class E>
concept NamedEdge = std::derived_from<E, Edge> && !std::same_as<E, Edge> && std::is_empty_v<E>;

}  // namespace leat

#if defined(LEAT_MODEL) && LEAT_MODEL

#include <leat/base/model/atomic.hpp>  // IWYU pragma: export

#else

namespace leat {

/// A value that threads share without a lock. See the head of this file.
template <class T>
class Atomic {
  static_assert(std::is_trivially_copyable_v<T>, "Atomic<T> needs a trivially copyable T");
  static_assert(std::atomic<T>::is_always_lock_free, "Atomic<T> needs a T the machine can swap");

 public:
  using value_type = T;

  constexpr Atomic() noexcept = default;
  constexpr explicit Atomic(T value) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  // Loads.
  [[nodiscard]] T load_relaxed() const noexcept { return value_.load(std::memory_order_relaxed); }
  template <NamedEdge E>
  [[nodiscard]] T load_acquire(E) const noexcept {
    return value_.load(std::memory_order_acquire);
  }
  template <NamedEdge E>
  [[nodiscard]] T load_seq_cst(E) const noexcept {
    return value_.load(std::memory_order_seq_cst);
  }

  // Stores.
  void store_relaxed(T value) noexcept { value_.store(value, std::memory_order_relaxed); }
  template <NamedEdge E>
  void store_release(T value, E) noexcept {
    value_.store(value, std::memory_order_release);
  }
  template <NamedEdge E>
  void store_seq_cst(T value, E) noexcept {
    value_.store(value, std::memory_order_seq_cst);
  }

  // Swaps: each returns the value before.
  T exchange_relaxed(T value) noexcept { return value_.exchange(value, std::memory_order_relaxed); }
  template <NamedEdge E>
  T exchange_acquire(T value, E) noexcept {
    return value_.exchange(value, std::memory_order_acquire);
  }
  template <NamedEdge E>
  T exchange_release(T value, E) noexcept {
    return value_.exchange(value, std::memory_order_release);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  T exchange_acq_rel(T value, Acquire, Release) noexcept {
    return value_.exchange(value, std::memory_order_acq_rel);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  T exchange_seq_cst(T value, Acquire, Release) noexcept {
    return value_.exchange(value, std::memory_order_seq_cst);
  }

  // Compare and swap: on failure `expected` becomes the value found. `weak` may fail for no reason.
  [[nodiscard]] bool compare_exchange_strong_relaxed(T& expected, T desired) noexcept {
    return value_.compare_exchange_strong(expected, desired, std::memory_order_relaxed,
                                          std::memory_order_relaxed);
  }
  template <NamedEdge E>
  [[nodiscard]] bool compare_exchange_strong_acquire(T& expected, T desired, E) noexcept {
    return value_.compare_exchange_strong(expected, desired, std::memory_order_acquire,
                                          std::memory_order_acquire);
  }
  template <NamedEdge E>
  [[nodiscard]] bool compare_exchange_strong_release(T& expected, T desired, E) noexcept {
    return value_.compare_exchange_strong(expected, desired, std::memory_order_release,
                                          std::memory_order_relaxed);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  [[nodiscard]] bool compare_exchange_strong_acq_rel(T& expected, T desired, Acquire,
                                                     Release) noexcept {
    return value_.compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  [[nodiscard]] bool compare_exchange_strong_seq_cst(T& expected, T desired, Acquire,
                                                     Release) noexcept {
    return value_.compare_exchange_strong(expected, desired, std::memory_order_seq_cst,
                                          std::memory_order_seq_cst);
  }
  [[nodiscard]] bool compare_exchange_weak_relaxed(T& expected, T desired) noexcept {
    return value_.compare_exchange_weak(expected, desired, std::memory_order_relaxed,
                                        std::memory_order_relaxed);
  }
  template <NamedEdge E>
  [[nodiscard]] bool compare_exchange_weak_acquire(T& expected, T desired, E) noexcept {
    return value_.compare_exchange_weak(expected, desired, std::memory_order_acquire,
                                        std::memory_order_acquire);
  }
  template <NamedEdge E>
  [[nodiscard]] bool compare_exchange_weak_release(T& expected, T desired, E) noexcept {
    return value_.compare_exchange_weak(expected, desired, std::memory_order_release,
                                        std::memory_order_relaxed);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  [[nodiscard]] bool compare_exchange_weak_acq_rel(T& expected, T desired, Acquire,
                                                   Release) noexcept {
    return value_.compare_exchange_weak(expected, desired, std::memory_order_acq_rel,
                                        std::memory_order_acquire);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  [[nodiscard]] bool compare_exchange_weak_seq_cst(T& expected, T desired, Acquire,
                                                   Release) noexcept {
    return value_.compare_exchange_weak(expected, desired, std::memory_order_seq_cst,
                                        std::memory_order_seq_cst);
  }

  // Arithmetic on integers: each returns the value before.
  T fetch_add_relaxed(T n) noexcept
    requires std::integral<T>
  {
    return value_.fetch_add(n, std::memory_order_relaxed);
  }
  template <NamedEdge E>
  T fetch_add_acquire(T n, E) noexcept
    requires std::integral<T>
  {
    return value_.fetch_add(n, std::memory_order_acquire);
  }
  template <NamedEdge E>
  T fetch_add_release(T n, E) noexcept
    requires std::integral<T>
  {
    return value_.fetch_add(n, std::memory_order_release);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  T fetch_add_acq_rel(T n, Acquire, Release) noexcept
    requires std::integral<T>
  {
    return value_.fetch_add(n, std::memory_order_acq_rel);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  T fetch_add_seq_cst(T n, Acquire, Release) noexcept
    requires std::integral<T>
  {
    return value_.fetch_add(n, std::memory_order_seq_cst);
  }

  T fetch_sub_relaxed(T n) noexcept
    requires std::integral<T>
  {
    return value_.fetch_sub(n, std::memory_order_relaxed);
  }
  template <NamedEdge E>
  T fetch_sub_acquire(T n, E) noexcept
    requires std::integral<T>
  {
    return value_.fetch_sub(n, std::memory_order_acquire);
  }
  template <NamedEdge E>
  T fetch_sub_release(T n, E) noexcept
    requires std::integral<T>
  {
    return value_.fetch_sub(n, std::memory_order_release);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  T fetch_sub_acq_rel(T n, Acquire, Release) noexcept
    requires std::integral<T>
  {
    return value_.fetch_sub(n, std::memory_order_acq_rel);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  T fetch_sub_seq_cst(T n, Acquire, Release) noexcept
    requires std::integral<T>
  {
    return value_.fetch_sub(n, std::memory_order_seq_cst);
  }

  T fetch_or_relaxed(T bits) noexcept
    requires std::integral<T>
  {
    return value_.fetch_or(bits, std::memory_order_relaxed);
  }
  template <NamedEdge E>
  T fetch_or_acquire(T bits, E) noexcept
    requires std::integral<T>
  {
    return value_.fetch_or(bits, std::memory_order_acquire);
  }
  template <NamedEdge E>
  T fetch_or_release(T bits, E) noexcept
    requires std::integral<T>
  {
    return value_.fetch_or(bits, std::memory_order_release);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  T fetch_or_acq_rel(T bits, Acquire, Release) noexcept
    requires std::integral<T>
  {
    return value_.fetch_or(bits, std::memory_order_acq_rel);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  T fetch_or_seq_cst(T bits, Acquire, Release) noexcept
    requires std::integral<T>
  {
    return value_.fetch_or(bits, std::memory_order_seq_cst);
  }

  T fetch_and_relaxed(T bits) noexcept
    requires std::integral<T>
  {
    return value_.fetch_and(bits, std::memory_order_relaxed);
  }
  template <NamedEdge E>
  T fetch_and_acquire(T bits, E) noexcept
    requires std::integral<T>
  {
    return value_.fetch_and(bits, std::memory_order_acquire);
  }
  template <NamedEdge E>
  T fetch_and_release(T bits, E) noexcept
    requires std::integral<T>
  {
    return value_.fetch_and(bits, std::memory_order_release);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  T fetch_and_acq_rel(T bits, Acquire, Release) noexcept
    requires std::integral<T>
  {
    return value_.fetch_and(bits, std::memory_order_acq_rel);
  }
  template <NamedEdge Acquire, NamedEdge Release>
  T fetch_and_seq_cst(T bits, Acquire, Release) noexcept
    requires std::integral<T>
  {
    return value_.fetch_and(bits, std::memory_order_seq_cst);
  }

 private:
  std::atomic<T> value_{};
};

// Fences.

/// What this thread loaded before is read before what follows, wherever the store that was read
/// released edge `E`.
template <NamedEdge E>
void fence_acquire(E) noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);
}

/// Who reads what this thread stores from here on, and acquires edge `E`, sees what came before.
template <NamedEdge E>
void fence_release(E) noexcept {
  std::atomic_thread_fence(std::memory_order_release);
}

template <NamedEdge Acquire, NamedEdge Release>
void fence_acq_rel(Acquire, Release) noexcept {
  std::atomic_thread_fence(std::memory_order_acq_rel);
}

/// Stands in the one total order: of two threads that store, pass such a fence and load what the
/// other stores, one sees the other's store.
///
/// Cost: the dearest there is, some twenty cycles and more.
template <NamedEdge Acquire, NamedEdge Release>
void fence_seq_cst(Acquire, Release) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace leat

#endif
