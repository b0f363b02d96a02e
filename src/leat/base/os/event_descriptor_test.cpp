#include <leat/base/os/event_descriptor.hpp>

#include <gtest/gtest.h>
#include <poll.h>

#include <utility>

namespace leat::os {
namespace {

bool is_readable(const EventDescriptor& event) {
  pollfd what{.fd = event.number(), .events = POLLIN, .revents = 0};
  return ::poll(&what, 1, 0) == 1;
}

TEST(EventDescriptor, IsReadableFromASetToAClear) {
  auto event = EventDescriptor::make().value();
  EXPECT_FALSE(is_readable(event));
  EXPECT_FALSE(event.clear());
  event.set();
  event.set();
  EXPECT_TRUE(is_readable(event));
  const EventDescriptor moved = std::move(event);
  EXPECT_TRUE(moved.clear());
  EXPECT_FALSE(is_readable(moved));
  EXPECT_FALSE(moved.clear());
}

}  // namespace
}  // namespace leat::os
