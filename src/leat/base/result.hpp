// What      Result<T>: a value, or an Error that says why there is none. Factories return it where
//           the world may say no: a file that is missing, a flag with a bad value.
// Limits    Reading the half that is not there is our own broken invariant and aborts.
// Source    The spelling of std::expected, to be replaced by it one day.
#pragma once

#include <leat/base/check.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace leat {

/// Why there is no value: what was asked, what was found, and the next step.
struct Error {
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

/// A `T` or an `Error`, never both and never neither.
template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T>, "Result<T&> does not exist: return a pointer");
  static_assert(!std::is_same_v<std::remove_cv_t<T>, Error>, "Result<Error> would be ambiguous");

 public:
  using value_type = T;
  using error_type = Error;

  // Implicit, so that a factory says `return value;` and `return Error{"..."};`.
  template <class U = T>
    requires(std::is_constructible_v<T, U &&> && std::is_convertible_v<U &&, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, Result> &&
             !std::is_same_v<std::remove_cvref_t<U>, Error>)
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Requires: `has_value()`; checked.
  [[nodiscard]] T& value() & { return *checked_value(); }
  [[nodiscard]] const T& value() const& { return *checked_value(); }
  [[nodiscard]] T&& value() && { return std::move(*checked_value()); }

  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return checked_value(); }
  [[nodiscard]] const T* operator->() const { return checked_value(); }

  template <class U>
  [[nodiscard]] T value_or(U&& otherwise) const& {
    return has_value() ? value() : static_cast<T>(std::forward<U>(otherwise));
  }
  template <class U>
  [[nodiscard]] T value_or(U&& otherwise) && {
    return has_value() ? std::move(*this).value() : static_cast<T>(std::forward<U>(otherwise));
  }

  /// Requires: `!has_value()`; checked.
  [[nodiscard]] Error& error() & { return *checked_error(); }
  [[nodiscard]] const Error& error() const& { return *checked_error(); }
  [[nodiscard]] Error&& error() && { return std::move(*checked_error()); }

 private:
  T* checked_value() {
    if (T* value = std::get_if<0>(&state_)) [[likely]]
      return value;
    no_value();
  }
  const T* checked_value() const {
    if (const T* value = std::get_if<0>(&state_)) [[likely]]
      return value;
    no_value();
  }
  Error* checked_error() {
    LEAT_CHECK(!has_value(), "the error of a Result that has a value");
    return std::get_if<1>(&state_);
  }
  const Error* checked_error() const {
    LEAT_CHECK(!has_value(), "the error of a Result that has a value");
    return std::get_if<1>(&state_);
  }
  [[noreturn]] void no_value() const {
    // The reason that was overlooked is the message worth having.
    const Error* error = std::get_if<1>(&state_);
    internal::check_failed(__FILE__, __LINE__, "has_value()",
                           error != nullptr ? error->message.c_str() : "a Result that was lost");
  }

  std::variant<T, Error> state_;
};

/// Done, or an `Error`. `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  using error_type = Error;

  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  [[nodiscard]] bool has_value() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Requires: `has_value()`; checked.
  void value() const {
    if (failed_) [[unlikely]] {
      internal::check_failed(__FILE__, __LINE__, "has_value()", error_.message.c_str());
    }
  }
  void operator*() const { value(); }

  /// Requires: `!has_value()`; checked.
  [[nodiscard]] const Error& error() const& {
    LEAT_CHECK(failed_, "the error of a Result that has a value");
    return error_;
  }
  [[nodiscard]] Error&& error() && {
    LEAT_CHECK(failed_, "the error of a Result that has a value");
    return std::move(error_);
  }

 private:
  Error error_;
  bool failed_ = false;
};

}  // namespace leat
