// What      The system's text for the number of an error (errno). Threads: any, unlike strerror.
#pragma once

#include <string>
#include <system_error>

namespace leat::os {

[[nodiscard]] inline std::string error_text(int number) {
  return std::system_category().message(number);
}

}  // namespace leat::os
