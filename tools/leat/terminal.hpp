// What      What the terminal, the locale and the user's environment allow on a stream.
#pragma once

#include <cstddef>
#include <functional>

namespace leat::tool {

/// How to write on one stream.
struct Look {
  bool is_terminal = false;
  bool color = false;  // only on a terminal, and never against NO_COLOR or TERM=dumb
  bool utf8 = false;   // the locale's word; else plain ASCII
  std::size_t columns = 80;

  friend bool operator==(const Look&, const Look&) = default;
};

/// The environment: the value of a name, or null. Tests pass their own.
using Environment = std::function<const char*(const char*)>;

/// What follows from being a terminal of that many columns (0: unknown) in that environment.
[[nodiscard]] Look look_of(bool is_terminal, std::size_t columns, const Environment& environment);

/// The look of a file descriptor of this process: 1 or 2.
[[nodiscard]] Look look_of_stream(int descriptor);

}  // namespace leat::tool
