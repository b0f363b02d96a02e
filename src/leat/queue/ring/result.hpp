// What      What the ends of a ring answer: small enums, for what is ordinary in the loop.
#pragma once

#include <cstdint>

namespace leat::queue {

enum class Push : std::uint8_t {
  ok,
  full,  ///< a consumer that must not lose has yet to read what stands there
};

enum class Pull : std::uint8_t {
  ok,         ///< a message was taken
  empty,      ///< the next message has not been begun
  in_flight,  ///< the next message is being written
  lost,       ///< messages were overwritten before they were read; see what `loss()` says
  crowded,    ///< a group's members hold as many messages as its window has
  evicted,    ///< this consumer was sent away, and gates no more
};

}  // namespace leat::queue
