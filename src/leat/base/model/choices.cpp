#include <leat/base/model/choices.hpp>

#include <charconv>

namespace leat::model::internal {
namespace {

constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";

}  // namespace

std::string Choices::schedule() const {
  std::size_t length = depth_;
  while (length > 0 && path_[length - 1].taken == 0) --length;
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    const auto taken = static_cast<std::size_t>(path_[i].taken);
    if (taken < kDigits.size()) {
      text += kDigits[taken];
    } else {
      text += "(" + std::to_string(taken) + ")";
    }
  }
  return text.empty() ? "0" : text;
}

bool Choices::set_schedule(std::string_view text) {
  clear();
  while (!text.empty()) {
    if (text.front() == '(') {
      int taken = 0;
      const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), taken);
      if (error != std::errc() || end == text.data() + text.size() || *end != ')') return false;
      text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
      path_.push_back({taken, 0});
      continue;
    }
    const auto digit = kDigits.find(text.front());
    if (digit == std::string_view::npos) return false;
    path_.push_back({static_cast<int>(digit), 0});
    text.remove_prefix(1);
  }
  return true;
}

}  // namespace leat::model::internal
