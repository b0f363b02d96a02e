// What      Runs one function per worker of a fabric, each on a thread of its own, and collects how
//           each ended.
// Protocol  A worker that throws has its exception kept as it is, and stops its peers: each of them
//           leaves its loop with `core::Stopped` at its next step, and a sleeping one is woken for
//           that. So does a worker that the system gives no thread: its ending has the system's
//           error. A failure that the fabric was told of is its worker's ending even if the body
//           caught it.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include <leat/comm/fabric.hpp>

namespace leat::comm {

/// How a worker ended.
struct Ending {
  std::exception_ptr error;  // what it threw, untouched; null if it returned
  std::string where;         // whose code threw, as the body said; may be empty
  bool stopped = false;      // it left because a peer failed
};

/// Calls `body(seat, where)` on threads `leat:work-N`, one per worker of this process, and waits for all
/// of them, and for the other processes if there are any.
/// `where` is for the body to say whose code an exception came out of.
std::vector<Ending> run_workers(Fabric& fabric,
                                void (*body)(void* data, Seat& seat, std::string& where),
                                void* data);

/// The same for any callable that may be called by several threads at once.
template <class Body>
std::vector<Ending> run_workers(Fabric& fabric, const Body& body) {
  return run_workers(
      fabric,
      [](void* data, Seat& seat, std::string& where) {
        (*static_cast<const Body*>(data))(seat, where);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

/// What an exception says of itself; "an exception of unknown type" if nothing.
[[nodiscard]] std::string message_of(const std::exception_ptr& error);

}  // namespace leat::comm
