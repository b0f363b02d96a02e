#include <leat/actor/fiber/carrier.hpp>

#include <leat/actor/fiber/context.hpp>
#include <leat/actor/stack/overflow.hpp>
#include <leat/base/check.hpp>

#include <cxxabi.h>
#include <cerrno>

namespace leat::actor {

Carrier::Carrier()
    : exceptions_(reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals())),
      error_number_(&errno) {
  LEAT_CHECK(
      !shadow_stack_on(),
      "this thread has a shadow stack (CET or GCS), and actors switch stacks without one; run "
      "the program with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off, or link it without "
      "-z shstk");
  watch_faults();
}

}  // namespace leat::actor
