// What      A descriptor that a thread makes readable for those who wait for descriptors: for an event
//           loop (poll, epoll) beside things that have none of their own.
// Protocol  One side `set`s it; the other finds it readable, `clear`s it, and looks what there is.
//           Sets before a clear count as one.
// Threads   any.
// Cost      One system call each.
// Source    eventfd(2).
#pragma once

#include <leat/base/os/descriptor.hpp>
#include <leat/base/result.hpp>

#include <utility>

namespace leat::os {

class EventDescriptor {
 public:
  /// Errors: no descriptor is left.
  [[nodiscard]] static Result<EventDescriptor> make();

  /// For poll and its like; not to be read, written or closed by others.
  [[nodiscard]] int number() const noexcept { return descriptor_.number(); }

  /// Makes it readable. Never waits.
  void set() const noexcept;
  /// Makes it not readable. Returns: whether it was. Never waits.
  bool clear() const noexcept;

 private:
  explicit EventDescriptor(Descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

  Descriptor descriptor_;
};

}  // namespace leat::os
