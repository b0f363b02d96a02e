// What      Where the two ends of an edge on one worker tell of its messages. There is none unless
//           somebody listened when the edge was built.
// Invariants  (1) Sequence numbers count the messages of the edge per pair of workers, on each side by
//             itself: edges keep the order between two workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <leat/base/local_ptr.hpp>
#include <leat/core/log_registry.hpp>
#include <leat/progress/watch/events.hpp>

namespace leat::progress {

class ChannelLog final : public LocalCounted<ChannelLog> {
 public:
  ChannelLog(core::Logger<WorkerEvent> logger, std::uint64_t channel, std::size_t worker,
             std::size_t peers)
      : logger_(std::move(logger)),
        channel_(channel),
        worker_(static_cast<std::uint32_t>(worker)),
        sent_(peers, 0),
        received_(peers, 0) {}

  void sent(std::size_t to, std::size_t records);
  void received(std::size_t from, std::size_t records);
  void sent_here(std::size_t records) { sent(worker_, records); }
  void received_here(std::size_t records) { received(worker_, records); }
  /// A message that crossed the boundary of a scope: sent and received in one.
  void crossed(std::size_t records);
  /// Messages of this edge reach other workers too.
  void reaches_peers();

 private:
  MessagesEvent message(bool is_send, std::size_t from, std::size_t to, std::size_t records);

  core::Logger<WorkerEvent> logger_;
  std::uint64_t channel_;
  std::uint32_t worker_;
  std::vector<std::uint64_t> sent_;      // messages per receiver
  std::vector<std::uint64_t> received_;  // messages per sender
};

}  // namespace leat::progress
