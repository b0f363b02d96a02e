// What      Function<R(Args...)>: owns one callable of any type that can be moved, copyable or not.
// Shape     32 bytes of storage for the callable, one pointer to call it, one to move or end it.
// Limits    A callable larger than 32 bytes, over-aligned, or whose move may throw lives on the
//           heap. Calling an empty Function aborts. Moved from is empty.
// Cost      One indirect call, and no test for emptiness: an empty one points to the abort.
// Source    The idea of std::move_only_function (C++23), without its const and noexcept variants.
#pragma once

#include <leat/base/check.hpp>

#include <cstddef>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

namespace leat {

template <class Signature>
class Function;

template <class R, class... Args>
class Function<R(Args...)> {
 public:
  static constexpr std::size_t kInlineBytes = 32;

  Function() noexcept = default;
  Function(std::nullptr_t) noexcept {}

  template <class F>
    requires(!std::is_same_v<std::decay_t<F>, Function> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  Function(F&& f) {
    using Callable = std::decay_t<F>;
    // The name of a function is never null, and comparing it is a warning.
    if constexpr (!std::is_function_v<std::remove_reference_t<F>> &&
                  (std::is_pointer_v<Callable> || std::is_member_pointer_v<Callable>)) {
      if (f == nullptr) return;
    }
    if constexpr (fits_inline<Callable>) {
      ::new (static_cast<void*>(storage_)) Callable(std::forward<F>(f));
      invoke_ = &invoke_inline<Callable>;
      manage_ = &manage_inline<Callable>;
    } else {
      ::new (static_cast<void*>(storage_)) Callable*(new Callable(std::forward<F>(f)));
      invoke_ = &invoke_heap<Callable>;
      manage_ = &manage_heap<Callable>;
    }
  }

  Function(Function&& other) noexcept { take(other); }
  Function& operator=(Function&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;
  ~Function() { reset(); }

  explicit operator bool() const noexcept { return manage_ != nullptr; }

  /// Calls the callable. Requires: not empty; checked.
  R operator()(Args... args) { return invoke_(storage_, std::forward<Args>(args)...); }

  /// Destroys the callable; empty afterwards.
  void reset() noexcept {
    if (manage_ == nullptr) return;
    Manage manage = std::exchange(manage_, nullptr);
    invoke_ = &invoke_empty;
    manage(nullptr, storage_);
  }

 private:
  using Invoke = R (*)(void*, Args&&...);
  using Manage = void (*)(void* to, void* from) noexcept;  // moves to `to`; null: ends it

  template <class Callable>
  static constexpr bool fits_inline =
      sizeof(Callable) <= kInlineBytes && alignof(Callable) <= alignof(std::max_align_t) &&
      std::is_nothrow_move_constructible_v<Callable>;

  template <class Callable>
  static R call(Callable& callable, Args&&... args) {
    if constexpr (std::is_void_v<R>) {
      std::invoke(callable, std::forward<Args>(args)...);
    } else {
      return std::invoke(callable, std::forward<Args>(args)...);
    }
  }

  template <class Callable>
  static Callable& inline_at(void* storage) noexcept {
    return *std::launder(static_cast<Callable*>(storage));
  }
  template <class Callable>
  static Callable*& heap_at(void* storage) noexcept {
    return *std::launder(static_cast<Callable**>(storage));
  }

  template <class Callable>
  static R invoke_inline(void* storage, Args&&... args) {
    return call(inline_at<Callable>(storage), std::forward<Args>(args)...);
  }
  template <class Callable>
  static void manage_inline(void* to, void* from) noexcept {
    Callable& callable = inline_at<Callable>(from);
    if (to != nullptr) ::new (to) Callable(std::move(callable));
    callable.~Callable();
  }

  template <class Callable>
  static R invoke_heap(void* storage, Args&&... args) {
    return call(*heap_at<Callable>(storage), std::forward<Args>(args)...);
  }
  template <class Callable>
  static void manage_heap(void* to, void* from) noexcept {
    Callable* callable = heap_at<Callable>(from);
    if (to != nullptr) {
      ::new (to) Callable*(callable);
    } else {
      delete callable;
    }
  }

  [[noreturn]] static R invoke_empty(void*, Args&&...) {
    internal::check_failed(__FILE__, __LINE__, "callable", "an empty Function was called");
  }

  void take(Function& other) noexcept {
    if (other.manage_ == nullptr) return;
    other.manage_(storage_, other.storage_);
    invoke_ = std::exchange(other.invoke_, &invoke_empty);
    manage_ = std::exchange(other.manage_, nullptr);
  }

  alignas(std::max_align_t) std::byte storage_[kInlineBytes];
  Invoke invoke_ = &invoke_empty;
  Manage manage_ = nullptr;
};

}  // namespace leat
