// What      Poller: one thread waits for many descriptors at once, and hears which of them have
//           become ready.
// Protocol  `add` a descriptor with a number of one's own; `wait`; `remove` before it is closed.
//           It is told when a descriptor becomes ready, and not again while it stays so: use it
//           until it says that it would have to wait.
// Threads   `wait` by one; the others by any, also meanwhile.
// Source    epoll(7), edges.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/os/descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace leat::os {

struct Readiness {
  std::uint64_t token = 0;
  bool readable = false;  ///< or at its end, or broken
  bool writable = false;  ///< or broken
};

class Poller {
 public:
  Poller();

  /// Returns: 0, or the error's number: EPERM is a file, which is always ready.
  [[nodiscard]] int add(int descriptor, std::uint64_t token) noexcept;
  void remove(int descriptor) noexcept;

  /// Waits until something is ready, `ring` was called, or `timeout` has passed. Returns: how many.
  std::size_t wait(std::span<Readiness> into, std::optional<Nanos> timeout) noexcept;
  /// Has the current wait, or the next one, return.
  void ring() noexcept;

 private:
  Descriptor epoll_;
  Descriptor bell_;  // an eventfd
};

}  // namespace leat::os
