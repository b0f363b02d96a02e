// What      Brings the processes of a run together: listens, connects, shakes hands, and comes back with
//           a connection to each of the others.
// Protocol  Each process listens for those with higher numbers and connects to those with lower ones.
//           They may start in any order: who finds nobody tries again. A connection has some seconds
//           to prove itself, and whoever does not is dropped and counted; nobody waits for it.
// Limits    A minute after the other, one line on standard error says who is waited for. When all are
//           there nobody listens any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <leat/base/clock.hpp>
#include <leat/base/result.hpp>
#include <leat/comm/net/links.hpp>
#include <leat/core/network.hpp>

namespace leat::comm {

struct Connected {
  std::vector<Connection> connections;  // one for each other process
  std::uint64_t refused = 0;            // connections of strangers
};

/// Waits until all processes of the run have found each other.
///
/// Errors: why not: an address, a secret, a process that differs (both sides are told), or the time.
/// Requires: `network.processes > 1`.
[[nodiscard]] Result<Connected> connect_processes(const core::Network& network, std::size_t workers,
                                                  bool report, const Clock& clock);

/// Where process `process` listens: the words of `network.hosts`, or the default.
[[nodiscard]] std::string host_of(const core::Network& network, std::size_t process);

}  // namespace leat::comm
