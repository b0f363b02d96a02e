// What      Carrier: what a switch must know of the OS thread that it happens on. Each thread that
//           runs fibers makes one, on itself.
// Limits    The addresses belong to the thread: a carrier is used by the thread that made it. Code
//           on a fiber asks for the carrier anew after each switch, since it may have moved.
// Cost      Two addresses, asked for once: asking the C library at each switch would cost as much
//           as the switch.
#pragma once

namespace leat::actor {

/// What libstdc++ and libc++abi keep for each thread: the exceptions caught and not yet left, and
/// how many are in flight. A fresh fiber has none of either.
struct ExceptionState {
  void* caught = nullptr;
  unsigned int in_flight = 0;
};

class Carrier {
 public:
  /// Of the calling thread.
  Carrier() noexcept;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  [[nodiscard]] ExceptionState& exceptions() const noexcept { return *exceptions_; }
  [[nodiscard]] int& error_number() const noexcept { return *error_number_; }

 private:
  ExceptionState* exceptions_;
  int* error_number_;
};

}  // namespace leat::actor
