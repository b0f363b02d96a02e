#include <leat/actor/channel/broadcast.hpp>

#include <leat/base/usage_error.hpp>

namespace leat::actor::internal {

void empty_broadcast() {
  throw UsageError("Broadcast", "room for at least 1 message", "0",
                   "give as much room as the slowest subscriber may be behind");
}

}  // namespace leat::actor::internal
