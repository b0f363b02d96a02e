// What      The calling thread's calls, for messages of what went wrong.
// Limits    Names are those that the dynamic linker knows; others are shown as addresses.
#pragma once

#include <cstddef>

namespace leat::os {

/// Writes a line to standard error for each call that is under way, the innermost first, without the
/// first `skip`. Not for signal handlers: the first call loads a library.
void write_calls(std::size_t skip) noexcept;

}  // namespace leat::os
