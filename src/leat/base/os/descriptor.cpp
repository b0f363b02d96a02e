#include <leat/base/os/descriptor.hpp>

#include <unistd.h>

namespace leat::os {

Descriptor::~Descriptor() { close(); }

void Descriptor::close() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

}  // namespace leat::os
