#include <leat/base/os/thread_name.hpp>

#include <pthread.h>
#include <algorithm>
#include <cstddef>

namespace leat::os {
namespace {
constexpr std::size_t kNameBytes = 16;  // with the final zero
}

void set_thread_name(std::string_view name) noexcept {
  char text[kNameBytes] = {};
  std::copy_n(name.begin(), std::min(name.size(), kNameBytes - 1), text);
  pthread_setname_np(pthread_self(), text);
}

std::string thread_name() {
  char text[kNameBytes] = {};
  pthread_getname_np(pthread_self(), text, sizeof text);
  return text;
}

}  // namespace leat::os
