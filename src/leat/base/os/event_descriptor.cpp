#include <leat/base/os/event_descriptor.hpp>

#include <leat/base/os/error_text.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace leat::os {

Result<EventDescriptor> EventDescriptor::make() {
  Descriptor made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (made) return EventDescriptor(std::move(made));
  return Error{std::string("asked for a descriptor to signal with; found: ") + error_text(errno) +
               "; close some, or raise the limit (ulimit -n)"};
}

// Refused only where 2^64 - 2 sets were not cleared: then it is readable, too.
void EventDescriptor::set() const noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(number(), &one, sizeof one) < 0);
}

bool EventDescriptor::clear() const noexcept {
  std::uint64_t sets = 0;
  return ::read(number(), &sets, sizeof sets) == sizeof sets;
}

}  // namespace leat::os
