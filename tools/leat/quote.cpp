#include "quote.hpp"

namespace leat::tool {
namespace {

/// The length of the UTF-8 character at the front, or 0 if the bytes there are none.
std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0U) != 0x80U) return 0;
  }
  if (first == 0xc2 && byte(1) < 0xa0) return 0;  // C1 controls move a terminal's cursor too
  return length;
}

}  // namespace

std::string quote(std::string_view text, std::size_t bytes_max) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (out.size() > bytes_max) {
      out += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(text.front());
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xfU];
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  out += '"';
  return out;
}

std::string counted(std::size_t count, std::string_view noun) {
  std::string out = grouped(count) + " " + std::string(noun);
  if (count != 1) out += 's';
  return out;
}

std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ' ');
  }
  return digits;
}

}  // namespace leat::tool
