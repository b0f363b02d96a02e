// What      InlineString<N>: text of up to N bytes inside the object, without any memory of its own,
//           so that it travels in messages and lies in shared memory as it is. It is UTF-8, always.
// Shape     | size, 32 bits | N bytes, those behind the text all zero |
// Limits    Too long is an answer (`from`), an error (the constructor), or asked for (`truncated`,
//           which cuts between characters); never silent. What came from elsewhere may have any bytes:
//           `is_sound()` before use.
// Source    Flux's ArrayStr; UTF-8 as the Unicode standard 15.0 has it, table 3-7.
#pragma once

#include <leat/base/result.hpp>
#include <leat/base/usage_error.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace leat {

/// How many bytes from the beginning of `text` are whole characters of UTF-8: `text.size()` if all
/// are. Neither overlong forms nor surrogates are characters.
[[nodiscard]] constexpr std::size_t utf8_prefix(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  std::size_t i = 0;
  while (i < text.size()) {
    const unsigned first = byte(i);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const std::size_t more = first >= 0xC2 && first <= 0xDF   ? 1
                             : first >= 0xE0 && first <= 0xEF ? 2
                             : first >= 0xF0 && first <= 0xF4 ? 3
                                                              : 0;
    const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (more == 0 || !follows(i + 1, low, high)) return i;
    for (std::size_t k = 2; k <= more; ++k) {
      if (!follows(i + k, 0x80, 0xBF)) return i;
    }
    i += 1 + more;
  }
  return i;
}

/// Text. Trivially copyable.
template <std::size_t N>
class InlineString {
  static_assert(N > 0 && N <= 0xFFFF'FFFF, "InlineString has room for 1 to 2^32 - 1 bytes");

 public:
  constexpr InlineString() noexcept = default;
  /// Errors: UsageError if `text` is too long, or no UTF-8.
  constexpr explicit InlineString(std::string_view text) {
    if (text.size() > N || utf8_prefix(text) != text.size()) {
      throw UsageError("inline string", "to hold " + std::to_string(text.size()) + " bytes",
                       text.size() > N ? "room for " + std::to_string(N) : not_utf8(text),
                       "use `from`, or `truncated`, which cuts");
    }
    assign(text);
  }

  /// Errors: `text` is too long; it is no UTF-8, and from which byte on.
  [[nodiscard]] static Result<InlineString> from(std::string_view text) {
    if (text.size() > N) {
      return Error{"inline string: asked to hold " + std::to_string(text.size()) +
                   " bytes; found room for " + std::to_string(N) + "; cut it, or make it larger"};
    }
    if (utf8_prefix(text) != text.size()) {
      return Error{"inline string: asked to hold text; found " + not_utf8(text) +
                   "; what is not text goes into an InlineVector<std::byte, N>"};
    }
    InlineString made;
    made.assign(text);
    return made;
  }

  /// As much of `text` as there is room for, in whole characters; it ends where UTF-8 does.
  [[nodiscard]] static constexpr InlineString truncated(std::string_view text) noexcept {
    InlineString made;
    const std::string_view fits = text.substr(0, std::min(text.size(), N));
    made.assign(fits.substr(0, utf8_prefix(fits)));
    return made;
  }

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }
  /// Bytes, not characters.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {bytes_, size_}; }
  [[nodiscard]] std::string str() const { return std::string(view()); }
  /// Whether its bytes can be those of a string: to be asked of one that came from elsewhere.
  [[nodiscard]] constexpr bool is_sound() const noexcept {
    return size_ <= N && utf8_prefix(view()) == size_;
  }

  /// Returns: false if there is no room, or `text` is no UTF-8; then nothing changes.
  [[nodiscard]] constexpr bool try_append(std::string_view text) noexcept {
    if (text.size() > N - size_ || utf8_prefix(text) != text.size()) return false;
    std::copy(text.begin(), text.end(), bytes_ + size_);
    size_ += static_cast<std::uint32_t>(text.size());
    return true;
  }
  constexpr void clear() noexcept { *this = InlineString(); }

  [[nodiscard]] friend constexpr bool operator==(const InlineString& a,
                                                 const InlineString& b) noexcept {
    return a.view() == b.view();
  }
  [[nodiscard]] friend constexpr auto operator<=>(const InlineString& a,
                                                  const InlineString& b) noexcept {
    return a.view() <=> b.view();
  }
  [[nodiscard]] friend constexpr bool operator==(const InlineString& a,
                                                 std::string_view b) noexcept {
    return a.view() == b;
  }
  friend std::ostream& operator<<(std::ostream& out, const InlineString& text) {
    return out << text.view();
  }

 private:
  static std::string not_utf8(std::string_view text) {
    return "no UTF-8 from byte " + std::to_string(utf8_prefix(text)) + " on";
  }
  constexpr void assign(std::string_view text) noexcept {
    std::copy(text.begin(), text.end(), bytes_);
    size_ = static_cast<std::uint32_t>(text.size());
  }

  std::uint32_t size_ = 0;
  char bytes_[N] = {};
};

}  // namespace leat
