#include "quote.hpp"

#include "utf8.hpp"

namespace leat::tool {
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
    // The second kind of control characters moves a terminal's cursor too.
    const bool is_c1 = byte == 0xc2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xa0;
    if (length == 0 || byte < 0x20 || byte == 0x7f || is_c1) {
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
