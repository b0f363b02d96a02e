// What      What keeps times of a dataflow possible, as plain data, and as the text that answers
//           "where is it stuck?".
// Shape     One entry for each time at which something stands at a port: capabilities at an output,
//           records at an input. `blocks` marks those that nobody upstream holds back as well: while
//           one of them stays, the frontiers behind it cannot move past its time.
// Limits    It is what this worker has heard: batches of peers that are under way are not in it, nor
//           is what this worker itself has not published yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <leat/progress/sketch.hpp>

namespace leat::progress {

/// What stands unread at an input, on this worker.
struct Unread {
  bool waiting = false;  // messages that nobody took
  std::size_t kept = 0;  // messages that were taken and are kept
};

struct Holding {
  enum class Kind : std::uint8_t {
    capability,  // the right to send at the time
    records,     // that were sent and not acknowledged
  };

  Sketch::Address address;
  std::string who;           // the operator, with the place of its making
  const char* outside = "";  // what outside the operator holds its capabilities: "input handle"
  Kind kind = Kind::capability;
  std::uint32_t port = 0;  // the output, or the input
  const char* pact = "";   // how records come to the input
  std::string time;
  std::int64_t count = 0;  // over all workers; below zero while a report of a peer is under way
  bool blocks = false;
  bool is_due = false;             // the operator is about to run on this worker
  std::int64_t count_at_port = 0;  // at all times of this port together
  // What of it is on this worker, at whatever times; nothing if the operator does not know.
  std::optional<std::size_t> held_here;  // capabilities for this output
  std::optional<Unread> unread;          // at this input
  std::vector<std::int64_t> by_worker;   // whose they are, if workers keep book of that
};

/// What to say of a dataflow whose holdings these are.
///
/// `title` names it; `worker` is whose view it is, of `peers`.
[[nodiscard]] std::string where_is_it_stuck(const std::string& title,
                                            const std::vector<Holding>& holdings,
                                            std::size_t worker, std::size_t peers);

}  // namespace leat::progress
