#include "utf8.hpp"

#include <algorithm>
#include <utility>

namespace leat::tool {
namespace {

bool is_inside(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

}  // namespace

std::size_t utf8_length(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const auto byte = [&text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  std::size_t length = 0;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) length = 2;
  if (first >= 0xe0 && first < 0xf0) length = 3;
  if (first >= 0xf0 && first < 0xf5) length = 4;
  if (length == 0 || length > text.size()) return 0;
  if (!std::ranges::all_of(text.substr(1, length - 1), is_inside)) return 0;
  // Spelled longer than need be, halves of a surrogate pair, past the last character.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

std::size_t columns_of(std::string_view text) noexcept {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_inside));
}

std::string_view cut_to_columns(std::string_view text, std::size_t columns) noexcept {
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_inside(text[at])) continue;
    if (seen++ == columns) return text.substr(0, at);
  }
  return text;
}

std::string ascii_text(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {{"·", "|"}, {"µ", "u"}};
  for (const auto& [from, to] : kSpellings) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

}  // namespace leat::tool
