// What      `Plain<T>`: a T that threads hand to each other through someone else's edge, such as
//           the payload of a ring. It is a T and nothing more; with LEAT_MODEL=1 each access is
//           checked for data races by the model checker.
// Cost      None outside the model build.
#pragma once

#include <type_traits>
#include <utility>

#if defined(LEAT_MODEL) && LEAT_MODEL
#include <leat/base/model/hooks.hpp>
#endif

namespace leat {

/// Non-atomic shared data whose accesses the model checker sees.
///
/// Threads:  two accesses, one of them a write, must be ordered by an edge; the model checks it.
template <class T>
class Plain {
 public:
  constexpr Plain() noexcept(noexcept(T())) : value_() { created(); }
  constexpr explicit Plain(T value) noexcept(noexcept(T(std::move(value))))
      : value_(std::move(value)) {
    created();
  }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;

  /// The value, to be read now. Do not keep the reference past the time the value is yours.
  [[nodiscard]] const T& read() const noexcept {
#if defined(LEAT_MODEL) && LEAT_MODEL
    model::internal::plain_read(this);
#endif
    return value_;
  }

  /// The value, to be changed now.
  [[nodiscard]] T& write() noexcept {
#if defined(LEAT_MODEL) && LEAT_MODEL
    model::internal::plain_write(this);
#endif
    return value_;
  }

  /// Replaces the value.
  void set(T value) { write() = std::move(value); }

 private:
  constexpr void created() const noexcept {
#if defined(LEAT_MODEL) && LEAT_MODEL
    if (!std::is_constant_evaluated()) model::internal::plain_created(this);
#endif
  }

  T value_;
};

}  // namespace leat
