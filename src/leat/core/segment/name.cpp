#include <leat/core/segment/name.hpp>

#include <leat/base/os/shared_file.hpp>

#include <algorithm>
#include <cstddef>

namespace leat::core {
namespace {

constexpr std::size_t kWordMax = 100;

constexpr bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

constexpr bool is_allowed(char c) noexcept {
  return is_plain(c) || c == '.' || c == '_' || c == '-';
}

}  // namespace

std::filesystem::path default_segment_base() { return os::default_shared_folder(); }

Result<void> check_segment_word(std::string_view what, std::string_view text) {
  const auto wrong = [&](const std::string& found) {
    return Error{"segment: asked " + std::string(what) + " \"" + std::string(text.substr(0, 200)) +
                 "\"; found " + found + "; write 1 to " + std::to_string(kWordMax) +
                 " letters, digits, or . _ - between them"};
  };
  if (text.empty()) return wrong("nothing");
  if (text.size() > kWordMax) return wrong(std::to_string(text.size()) + " characters");
  if (!is_plain(text.front())) return wrong("no letter or digit at its beginning");
  if (!std::all_of(text.begin(), text.end(), is_allowed)) {
    return wrong("a character that is not allowed");
  }
  return {};
}

Result<std::filesystem::path> segment_path(const SegmentName& name) {
  if (auto good = check_segment_word("the namespace", name.space); !good) {
    return std::move(good).error();
  }
  if (auto good = check_segment_word("the name", name.name); !good) return std::move(good).error();
  return (name.base.empty() ? default_segment_base() : name.base) / name.space / name.name;
}

}  // namespace leat::core
