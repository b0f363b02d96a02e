// What      Carrier: what a switch must know of the OS thread that it happens on. Each thread that
//           runs fibers makes one, on itself.
// Limits    The addresses belong to the thread: a carrier is used by the thread that made it. Code
//           on a fiber asks for the carrier anew after each switch, since it may have moved.
//           From the first one on, faults of actors are looked at: see stack/overflow.hpp.
// Cost      Asked for once per thread: asking the C library at each switch would cost as much as the
//           switch.
#pragma once

#include <leat/actor/fiber/float_control.hpp>
#include <leat/base/os/fault.hpp>

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
  ///
  /// Requires: the thread has no shadow stack, which a switch would break; checked.
  Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  [[nodiscard]] ExceptionState& exceptions() const noexcept { return *exceptions_; }
  [[nodiscard]] int& error_number() const noexcept { return *error_number_; }

  /// The floating point control that the thread had when the carrier was made: that of every fiber
  /// which does not keep its own.
  [[nodiscard]] const FloatControl& float_control() const noexcept { return float_control_; }

 private:
  ExceptionState* exceptions_;
  int* error_number_;
  FloatControl float_control_ = FloatControl::now();
  os::SignalStack signal_stack_;  // a handler cannot run on a stack that is full
};

}  // namespace leat::actor
