// What      InlineVector<T, N>: up to N elements inside the object, without any memory of its own, so
//           that it travels in messages and lies in shared memory as it is.
// Shape     | size, 32 bits | N elements, those behind the size all zero bytes |
// Limits    Overflow is an answer (`try_push_back`) or an error (`push_back`), never silent. T is
//           trivially copyable. What came from elsewhere may have any bytes: `is_sound()` before use.
// Cost      A copy is of all N elements.
// Source    Flux's ArrayVec, without its panics.
#pragma once

#include <leat/base/usage_error.hpp>

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace leat {

/// Elements in order. Trivially copyable.
///
/// Threads: as any value.
template <class T, std::size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>, "InlineVector<T> needs a trivially copyable T");
  static_assert(std::is_default_constructible_v<T>, "InlineVector<T> needs a T from nothing");
  static_assert(N > 0 && N <= 0xFFFF'FFFF, "InlineVector has room for 1 to 2^32 - 1 elements");

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  constexpr InlineVector() noexcept = default;
  /// Errors: UsageError if there are more than N.
  constexpr InlineVector(std::initializer_list<T> elements)
      : InlineVector(std::span<const T>(elements.begin(), elements.size())) {}
  constexpr explicit InlineVector(std::span<const T> elements) { append(elements); }

  /// The first N of `elements`, however many there are.
  [[nodiscard]] static constexpr InlineVector truncated(std::span<const T> elements) {
    return InlineVector(elements.first(std::min(elements.size(), N)));
  }

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr bool full() const noexcept { return size_ == N; }
  /// Whether its bytes can be those of a vector: to be asked of one that came from elsewhere.
  [[nodiscard]] constexpr bool is_sound() const noexcept { return size_ <= N; }

  [[nodiscard]] constexpr T* data() noexcept { return elements_; }
  [[nodiscard]] constexpr const T* data() const noexcept { return elements_; }
  [[nodiscard]] constexpr T* begin() noexcept { return elements_; }
  [[nodiscard]] constexpr T* end() noexcept { return elements_ + size_; }
  [[nodiscard]] constexpr const T* begin() const noexcept { return elements_; }
  [[nodiscard]] constexpr const T* end() const noexcept { return elements_ + size_; }
  [[nodiscard]] constexpr std::span<T> span() noexcept { return {elements_, size_}; }
  [[nodiscard]] constexpr std::span<const T> span() const noexcept { return {elements_, size_}; }

  /// Errors: UsageError behind the end.
  [[nodiscard]] constexpr T& at(std::size_t i) {
    check_index(i, size_);
    return elements_[i];
  }
  [[nodiscard]] constexpr const T& at(std::size_t i) const {
    check_index(i, size_);
    return elements_[i];
  }
  [[nodiscard]] constexpr T& operator[](std::size_t i) { return at(i); }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const { return at(i); }
  [[nodiscard]] constexpr T& back() { return at(size_ - std::size_t{1}); }
  [[nodiscard]] constexpr const T& back() const { return at(size_ - std::size_t{1}); }

  /// Returns: false if there is no room; then nothing changes.
  [[nodiscard]] constexpr bool try_push_back(const T& element) noexcept {
    if (full()) return false;
    elements_[size_++] = element;
    return true;
  }
  [[nodiscard]] constexpr bool try_append(std::span<const T> elements) noexcept {
    if (elements.size() > N - size_) return false;
    std::copy(elements.begin(), elements.end(), end());
    size_ += static_cast<std::uint32_t>(elements.size());
    return true;
  }
  [[nodiscard]] constexpr bool try_insert(std::size_t i, const T& element) {
    check_index(i, size_ + std::size_t{1});
    if (full()) return false;
    const T copy = element;  // it may lie in here
    std::copy_backward(begin() + i, end(), end() + 1);
    elements_[i] = copy;
    ++size_;
    return true;
  }

  // The same where a lack of room is the caller's mistake. Errors: UsageError, and nothing changes.
  constexpr void push_back(const T& element) {
    if (!try_push_back(element)) no_room(1);
  }
  constexpr void append(std::span<const T> elements) {
    if (!try_append(elements)) no_room(elements.size());
  }
  constexpr void insert(std::size_t i, const T& element) {
    if (!try_insert(i, element)) no_room(1);
  }

  /// The last element, taken out; none if it is empty.
  constexpr std::optional<T> pop_back() noexcept {
    if (empty()) return std::nullopt;
    const T last = elements_[--size_];
    elements_[size_] = T();
    return last;
  }
  /// Takes element `i` out; those behind it move up. Errors: UsageError behind the end.
  constexpr T erase(std::size_t i) {
    check_index(i, size_);
    const T gone = elements_[i];
    std::copy(begin() + i + 1, end(), begin() + i);
    elements_[--size_] = T();
    return gone;
  }
  /// Takes element `i` out; the last one comes in its place. Errors: UsageError behind the end.
  constexpr T swap_erase(std::size_t i) {
    check_index(i, size_);
    const T gone = elements_[i];
    elements_[i] = back();
    elements_[--size_] = T();
    return gone;
  }
  constexpr void clear() noexcept {
    std::fill(begin(), end(), T());
    size_ = 0;
  }

  [[nodiscard]] friend constexpr bool operator==(const InlineVector& a, const InlineVector& b)
    requires std::equality_comparable<T>
  {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  [[nodiscard]] friend constexpr auto operator<=>(const InlineVector& a, const InlineVector& b)
    requires std::three_way_comparable<T>
  {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr void check_index(std::size_t i, std::size_t end) {
    if (i < end) return;
    throw UsageError("inline vector", "for place " + std::to_string(i),
                     "that " + std::to_string(end) + " are there", "ask size() before");
  }
  [[noreturn]] constexpr void no_room(std::size_t more) const {
    throw UsageError("inline vector", "for room for " + std::to_string(more) + " more",
                     std::to_string(size_) + " of " + std::to_string(N) + " taken",
                     "use the try_ form, or `truncated`, or make it larger");
  }

  std::uint32_t size_ = 0;
  T elements_[N] = {};
};

}  // namespace leat
