// Captures a stream and sends its events over TCP. capture_recv is the other half: together they
// carry a stream from one run to another, whatever number of workers either has.
//
//   capture_send [PORT] [flags]       for example: capture_send -w 2
//
// Each worker connects to port PORT + its number (8000 unless told otherwise) of this machine and
// sends the numbers 0 to 9. It waits a while for somebody to listen there. Prints nothing.

#include <leat/base/os/socket.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/capture/event_bytes.hpp>

#include "arguments.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

namespace df = leat::dataflow;

int main(int argc, char** argv) {
  const std::uint64_t ports = number(argc, argv, 1, "PORT", 8000);
  const auto outcome = df::execute_from_args(argc, argv, [&](df::Worker& worker) {
    // [capture_send]
    const auto port = static_cast<std::uint16_t>(ports + worker.index());
    auto socket = leat::os::connect_to("127.0.0.1", port, std::chrono::seconds(30));
    if (!socket) throw std::runtime_error(socket.error().message);
    using Batch = std::vector<std::uint64_t>;
    worker.dataflow([&](auto& scope) {
      df::to_stream(scope, Batch{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) |
          df::capture_into(df::event_writer<std::uint64_t, Batch>(std::move(*socket)));
    });
    // [/capture_send]
  });
  return outcome.exit_code();
}
