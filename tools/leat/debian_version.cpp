#include "debian_version.hpp"

#include <algorithm>
#include <cstddef>

namespace leat::tool {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The place of a character among non-digits; 0 is the place of a digit and of the end.
int weight(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size() || is_digit(text[at])) return 0;
  const char c = text[at];
  if (c == '~') return -1;
  const int code = static_cast<unsigned char>(c);
  return is_letter(c) ? code : code + 256;
}

std::size_t digits_at_front(std::string_view text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return count;
}

/// Takes the number at the front of `text`, as its digits without leading zeros.
std::string_view take_number(std::string_view& text) noexcept {
  std::string_view digits = text.substr(0, digits_at_front(text));
  text.remove_prefix(digits.size());
  while (!digits.empty() && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

std::weak_ordering compare_numbers(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

std::weak_ordering compare_parts(std::string_view a, std::string_view b) noexcept {
  while (!a.empty() || !b.empty()) {
    std::size_t at = 0;
    for (;; ++at) {
      const bool a_ended = at >= a.size() || is_digit(a[at]);
      const bool b_ended = at >= b.size() || is_digit(b[at]);
      if (a_ended && b_ended) break;
      const int a_weight = weight(a, at);
      const int b_weight = weight(b, at);
      if (a_weight != b_weight) return a_weight <=> b_weight;
    }
    a.remove_prefix(std::min(at, a.size()));
    b.remove_prefix(std::min(at, b.size()));
    const std::string_view a_number = take_number(a);
    const std::string_view b_number = take_number(b);
    if (const auto order = compare_numbers(a_number, b_number); order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

struct Parts {
  std::string_view epoch;  // digits without leading zeros
  std::string_view upstream;
  std::string_view revision;
};

Parts split(std::string_view version) noexcept {
  Parts parts;
  const std::size_t digits = digits_at_front(version);
  if (digits < version.size() && version[digits] == ':') {
    parts.epoch = take_number(version);
    version.remove_prefix(1);
  }
  if (const std::size_t hyphen = version.rfind('-'); hyphen != std::string_view::npos) {
    parts.revision = version.substr(hyphen + 1);
    version = version.substr(0, hyphen);
  }
  parts.upstream = version;
  return parts;
}

}  // namespace

std::weak_ordering compare_versions(std::string_view a, std::string_view b) noexcept {
  const Parts left = split(a);
  const Parts right = split(b);
  if (const auto order = compare_numbers(left.epoch, right.epoch); order != 0) return order;
  if (const auto order = compare_parts(left.upstream, right.upstream); order != 0) return order;
  return compare_parts(left.revision, right.revision);
}

}  // namespace leat::tool
