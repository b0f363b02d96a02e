// What      ChannelName: text as a template argument, so that `Channel<"quotes", Quote>` is a type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace leat::tile {

template <std::size_t kSize>
struct ChannelName {
  char text[kSize]{};

  // Implicit: a literal is given as a template argument.
  consteval ChannelName(const char (&literal)[kSize]) { std::copy_n(literal, kSize, text); }

  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, kSize - 1}; }
};

namespace internal {

/// As segments are named, and no longer than a board's entry has room for.
[[nodiscard]] constexpr bool is_channel_name(std::string_view name) noexcept {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (name.empty() || name.size() > 48 || !is_letter(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || c == '.' || c == '_' || c == '-'; });
}

}  // namespace internal

}  // namespace leat::tile
