#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace leat::tool {
namespace {

std::string_view value_of(const Environment& environment, const char* name) {
  const char* const value = environment(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

/// The character set stands behind the dot of the first of these that is set.
bool locale_is_utf8(const Environment& environment) {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = value_of(environment, name);
    if (value.empty()) continue;
    std::string charset(value.substr(std::min(value.find('.'), value.size())));
    std::ranges::transform(charset, charset.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return charset.starts_with(".utf-8") || charset.starts_with(".utf8");
  }
  return false;
}

}  // namespace

Look look_of(bool is_terminal, std::size_t columns, const Environment& environment) {
  Look look;
  look.is_terminal = is_terminal;
  look.utf8 = locale_is_utf8(environment);
  look.color = is_terminal && value_of(environment, "NO_COLOR").empty() &&
               value_of(environment, "TERM") != "dumb";
  look.columns = columns == 0 ? 80 : columns;
  return look;
}

Look look_of_stream(int descriptor) {
  const bool is_terminal = ::isatty(descriptor) == 1;
  winsize size{};
  const bool known = is_terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return look_of(is_terminal, known ? size.ws_col : 0,
                 [](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace leat::tool
