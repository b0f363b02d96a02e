// What      Waits until one of several descriptors can be read or written, or somebody says that it is
//           enough: what an event loop sleeps in.
// Protocol  add each descriptor; `wait`; look at all of them again. `wake` ends a wait that is under
//           way, or else the next one.
// Threads   `wake` by any; the rest by one at a time.
// Source    epoll(7) and eventfd(2).
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/os/descriptor.hpp>

#include <optional>

namespace leat::os {

class DescriptorWait {
 public:
  DescriptorWait();
  DescriptorWait(const DescriptorWait&) = delete;
  DescriptorWait& operator=(const DescriptorWait&) = delete;
  ~DescriptorWait();

  /// Watches for what can be read, and if asked for room to write as well.
  void add(int descriptor, bool for_writing = false);
  /// Whether room to write is waited for, too. Requires: it was added; checked.
  void watch_writing(int descriptor, bool whether);
  void remove(int descriptor) noexcept;

  /// Sleeps until something can be done, `wake` was called, or `timeout` has passed.
  ///
  /// Returns: whether a descriptor is ready.
  bool wait(std::optional<Nanos> timeout);
  void wake() noexcept;

 private:
  Descriptor epoll_;
  Descriptor wake_;
};

}  // namespace leat::os
