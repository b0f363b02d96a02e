// What      The name under which a debugger, top and perf show a thread.
#pragma once

#include <string>
#include <string_view>

namespace leat::os {

/// Names the calling thread; of a longer name the first 15 bytes stay, which is what Linux keeps.
void set_thread_name(std::string_view name) noexcept;

/// The name of the calling thread.
[[nodiscard]] std::string thread_name();

}  // namespace leat::os
