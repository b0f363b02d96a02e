// What      Atomic as the model build has it: the face of base/atomic.hpp, where every operation
//           asks the model checker what it sees.
// Invariants
//   (1) The memory of an Atomic always holds the newest value in modification order, so it has the
//       size and layout of the real one and works outside explorations too.
#pragma once

#include <atomic>
#include <bit>
#include <concepts>
#include <cstring>
#include <optional>
#include <type_traits>

#include <leat/base/model/hooks.hpp>
#include <leat/base/type_name.hpp>

namespace leat {

struct Edge;

namespace model::internal {

template <class E>
inline constinit EdgeTag edge_tag{.name = type_name<E>()};

template <class E>
Edges arrives() noexcept {
  return {.acquire = &edge_tag<E>};
}
template <class E>
Edges leaves() noexcept {
  return {.release = &edge_tag<E>};
}
template <class Acquire, class Release>
Edges both() noexcept {
  return {.acquire = &edge_tag<Acquire>, .release = &edge_tag<Release>};
}

}  // namespace model::internal

template <class T>
class Atomic {
  static_assert(std::is_trivially_copyable_v<T>, "Atomic<T> needs a trivially copyable T");
  static_assert(std::atomic<T>::is_always_lock_free, "Atomic<T> needs a T the machine can swap");
  static_assert(sizeof(T) <= sizeof(model::internal::Word), "the model holds 16 bytes at most");

 public:
  using value_type = T;

  constexpr Atomic() noexcept : Atomic(T()) {}
  constexpr explicit Atomic(T value) noexcept : value_(value) {
    if (!std::is_constant_evaluated() && model::internal::active()) {
      model::internal::atomic_created(this, to_word(value));
    }
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;
  constexpr ~Atomic() {
    if (!std::is_constant_evaluated() && model::internal::active()) {
      model::internal::atomic_destroyed(this);
    }
  }

  [[nodiscard]] T load_relaxed() const noexcept {
    return load(model::internal::kRelaxed, {}, std::memory_order_relaxed);
  }
  template <NamedEdge E>
  [[nodiscard]] T load_acquire(E) const noexcept {
    return load(model::internal::kAcquire, arrives<E>(), std::memory_order_acquire);
  }
  template <NamedEdge E>
  [[nodiscard]] T load_seq_cst(E) const noexcept {
    return load(model::internal::kSeqCstLoad, arrives<E>(), std::memory_order_seq_cst);
  }

  void store_relaxed(T value) noexcept {
    store(value, model::internal::kRelaxed, {}, std::memory_order_relaxed);
  }
  template <NamedEdge E>
  void store_release(T value, E) noexcept {
    store(value, model::internal::kRelease, leaves<E>(), std::memory_order_release);
  }
  template <NamedEdge E>
  void store_seq_cst(T value, E) noexcept {
    store(value, model::internal::kSeqCstStore, leaves<E>(), std::memory_order_seq_cst);
  }

#define LEAT_MODEL_MODIFY(name, requirement, make)                                    \
  T name##_relaxed(T operand) noexcept requirement {                                  \
    return modify(operand, model::internal::kRelaxed, {}, make);                      \
  }                                                                                   \
  template <NamedEdge E>                                                              \
  T name##_acquire(T operand, E) noexcept requirement {                               \
    return modify(operand, model::internal::kAcquire, arrives<E>(), make);            \
  }                                                                                   \
  template <NamedEdge E>                                                              \
  T name##_release(T operand, E) noexcept requirement {                               \
    return modify(operand, model::internal::kRelease, leaves<E>(), make);             \
  }                                                                                   \
  template <NamedEdge Acquire, NamedEdge Release>                                     \
  T name##_acq_rel(T operand, Acquire, Release) noexcept requirement {                \
    return modify(operand, model::internal::kAcqRel, both<Acquire, Release>(), make); \
  }                                                                                   \
  template <NamedEdge Acquire, NamedEdge Release>                                     \
  T name##_seq_cst(T operand, Acquire, Release) noexcept requirement {                \
    return modify(operand, model::internal::kSeqCst, both<Acquire, Release>(), make); \
  }

  LEAT_MODEL_MODIFY(exchange, , ([](T, T n) { return n; }))
  LEAT_MODEL_MODIFY(fetch_add, requires std::integral<T>,
                    ([](T before, T n) { return wrap(unsigned_of(before) + unsigned_of(n)); }))
  LEAT_MODEL_MODIFY(fetch_sub, requires std::integral<T>,
                    ([](T before, T n) { return wrap(unsigned_of(before) - unsigned_of(n)); }))
  LEAT_MODEL_MODIFY(fetch_or, requires std::integral<T>,
                    ([](T before, T n) { return wrap(unsigned_of(before) | unsigned_of(n)); }))
  LEAT_MODEL_MODIFY(fetch_and, requires std::integral<T>,
                    ([](T before, T n) { return wrap(unsigned_of(before) & unsigned_of(n)); }))
#undef LEAT_MODEL_MODIFY

#define LEAT_MODEL_COMPARE(name, weak)                                                           \
  [[nodiscard]] bool name##_relaxed(T& expected, T desired) noexcept {                           \
    return compare(expected, desired, weak, model::internal::kRelaxed, {});                      \
  }                                                                                              \
  template <NamedEdge E>                                                                         \
  [[nodiscard]] bool name##_acquire(T& expected, T desired, E) noexcept {                        \
    return compare(expected, desired, weak, model::internal::kAcquire, arrives<E>());            \
  }                                                                                              \
  template <NamedEdge E>                                                                         \
  [[nodiscard]] bool name##_release(T& expected, T desired, E) noexcept {                        \
    return compare(expected, desired, weak, model::internal::kRelease, leaves<E>());             \
  }                                                                                              \
  template <NamedEdge Acquire, NamedEdge Release>                                                \
  [[nodiscard]] bool name##_acq_rel(T& expected, T desired, Acquire, Release) noexcept {         \
    return compare(expected, desired, weak, model::internal::kAcqRel, both<Acquire, Release>()); \
  }                                                                                              \
  template <NamedEdge Acquire, NamedEdge Release>                                                \
  [[nodiscard]] bool name##_seq_cst(T& expected, T desired, Acquire, Release) noexcept {         \
    return compare(expected, desired, weak, model::internal::kSeqCst, both<Acquire, Release>()); \
  }

  LEAT_MODEL_COMPARE(compare_exchange_strong, false)
  LEAT_MODEL_COMPARE(compare_exchange_weak, true)
#undef LEAT_MODEL_COMPARE

 private:
  using Word = model::internal::Word;
  using Order = model::internal::Order;
  using Edges = model::internal::Edges;

  template <class E>
  static Edges arrives() noexcept {
    return model::internal::arrives<E>();
  }
  template <class E>
  static Edges leaves() noexcept {
    return model::internal::leaves<E>();
  }
  template <class Acquire, class Release>
  static Edges both() noexcept {
    return model::internal::both<Acquire, Release>();
  }

  static Word to_word(const T& value) noexcept {
    Word word;
    std::memcpy(static_cast<void*>(&word), &value, sizeof(T));
    return word;
  }
  static T from_word(const Word& word) noexcept {
    alignas(T) unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &word, sizeof(T));
    return std::bit_cast<T>(bytes);
  }
  static constexpr auto unsigned_of(T value) noexcept {
    return static_cast<unsigned long long>(value);
  }
  static constexpr T wrap(unsigned long long value) noexcept { return static_cast<T>(value); }

  Word raw() const noexcept { return to_word(value_.load(std::memory_order_relaxed)); }
  void keep(const Word& newest) noexcept {
    value_.store(from_word(newest), std::memory_order_relaxed);
  }

  T load(Order order, Edges edges, std::memory_order real) const noexcept {
    if (!model::internal::active()) return value_.load(real);
    return from_word(model::internal::atomic_load(this, raw(), order, edges));
  }

  void store(T value, Order order, Edges edges, std::memory_order real) noexcept {
    if (!model::internal::active()) return value_.store(value, real);
    keep(model::internal::atomic_store(this, raw(), to_word(value), order, edges));
  }

  template <class Make>
  T modify(T n, Order order, Edges edges, Make) noexcept {
    if (!model::internal::active()) {
      T before = value_.load(std::memory_order_relaxed);
      while (!value_.compare_exchange_weak(before, Make{}(before, n), std::memory_order_seq_cst)) {
      }
      return before;
    }
    const auto make = [](const void* context, Word before) -> std::optional<Word> {
      return to_word(Make{}(from_word(before), *static_cast<const T*>(context)));
    };
    const auto result =
        model::internal::atomic_modify(this, raw(), {make, &n}, false, order, edges);
    keep(result.newest);
    return from_word(result.before);
  }

  bool compare(T& expected, T desired, bool weak, Order order, Edges edges) noexcept {
    if (!model::internal::active()) {
      return value_.compare_exchange_strong(expected, desired, std::memory_order_seq_cst);
    }
    struct Wanted {
      Word expected;
      Word desired;
    };
    const Wanted wanted{to_word(expected), to_word(desired)};
    const auto make = [](const void* context, Word before) -> std::optional<Word> {
      const auto* want = static_cast<const Wanted*>(context);
      if (before == want->expected) return want->desired;
      return std::nullopt;
    };
    const auto result =
        model::internal::atomic_modify(this, raw(), {make, &wanted}, weak, order, edges);
    if (!result.changed) {
      expected = from_word(result.before);
      return false;
    }
    keep(result.newest);
    return true;
  }

  std::atomic<T> value_;
};

template <NamedEdge E>
void fence_acquire(E) noexcept {
  if (!model::internal::active()) return std::atomic_thread_fence(std::memory_order_acquire);
  model::internal::atomic_fence(model::internal::kAcquire, model::internal::arrives<E>());
}

template <NamedEdge E>
void fence_release(E) noexcept {
  if (!model::internal::active()) return std::atomic_thread_fence(std::memory_order_release);
  model::internal::atomic_fence(model::internal::kRelease, model::internal::leaves<E>());
}

template <NamedEdge Acquire, NamedEdge Release>
void fence_acq_rel(Acquire, Release) noexcept {
  if (!model::internal::active()) return std::atomic_thread_fence(std::memory_order_acq_rel);
  model::internal::atomic_fence(model::internal::kAcqRel,
                                model::internal::both<Acquire, Release>());
}

template <NamedEdge Acquire, NamedEdge Release>
void fence_seq_cst(Acquire, Release) noexcept {
  if (!model::internal::active()) return std::atomic_thread_fence(std::memory_order_seq_cst);
  model::internal::atomic_fence(model::internal::kSeqCst,
                                model::internal::both<Acquire, Release>());
}

}  // namespace leat
