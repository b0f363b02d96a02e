#include <leat/actor/channel/channel.hpp>

#include <leat/base/usage_error.hpp>

namespace leat::actor::internal {

void empty_bound() {
  throw UsageError("channel", "a bound of at least 1 message", "0",
                   "give room for one message, or leave the bound out");
}

}  // namespace leat::actor::internal
