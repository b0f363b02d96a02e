#include <leat/base/os/calls.hpp>

#include <execinfo.h>

#include <unistd.h>

#include <algorithm>
#include <array>

namespace leat::os {

[[gnu::noinline]] void write_calls(std::size_t skip) noexcept {
  std::array<void*, 64> frames;
  const auto count =
      static_cast<std::size_t>(::backtrace(frames.data(), static_cast<int>(frames.size())));
  const std::size_t first = std::min(skip + 1, count);  // and this function
  ::backtrace_symbols_fd(frames.data() + first, static_cast<int>(count - first), STDERR_FILENO);
}

}  // namespace leat::os
