#include <leat/actor/fiber/carrier.hpp>

#include <cxxabi.h>
#include <cerrno>

namespace leat::actor {

Carrier::Carrier() noexcept
    : exceptions_(reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals())),
      error_number_(&errno) {}

}  // namespace leat::actor
