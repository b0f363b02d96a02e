// What      How many exceptions are under way in the calling thread, asked so often that a call for it
//           is too much: each session of an operator asks twice.
// Limits    Reads the counter where the C++ runtime keeps it. Its place is part of the ABI of all systems
//           that we run on: behind one pointer, in what `__cxa_get_globals` returns.
// Cost      Two loads and a branch, once the thread has asked before; std::uncaught_exceptions is two
//           calls.
// Source    Itanium C++ ABI, 2.2.2.
#pragma once

#include <cxxabi.h>

namespace leat {

namespace internal {
/// Where the calling thread's count stands.
[[gnu::noinline]] inline const unsigned* uncaught_count() noexcept {
  const void* const globals = abi::__cxa_get_globals();
  return reinterpret_cast<const unsigned*>(static_cast<const char*>(globals) + sizeof(void*));
}
}  // namespace internal

/// What `std::uncaught_exceptions()` returns: exceptions that were thrown and not caught yet.
[[nodiscard]] inline int exceptions_under_way() noexcept {
  static thread_local constinit const unsigned* count = nullptr;
  if (count == nullptr) [[unlikely]]
    count = internal::uncaught_count();
  return static_cast<int>(*count);
}

}  // namespace leat
