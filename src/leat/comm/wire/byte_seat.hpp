// What      A worker's place on the byte path: where frames for it arrive, from workers of its process
//           and from links; where its channels take them from; and where its own are put together.
// Shape     lane[s]   a queue from each worker of the process, and one from all links
//           channel   a plain ring of frames for each receiving end of this worker
//           early     frames of channels that are not built here yet
// Protocol  Others: deliver frames into their lane, then announce the bell. The worker: when its bell
//           was surfaced, drains the lanes into the rings and activates the operators. A message to
//           oneself goes into the ring at once.
// Invariants
//   (1) From one worker on one channel messages arrive in order.
//   (2) A message to several workers is encoded once; they share its bytes.
//   (3) What comes for a channel that was never opened here is kept until it is, or until one with a
//       higher id is; what comes for one that was closed is dropped.
// Limits    Channels are opened in the order of their ids. Unbounded.
// Cost      A message: encoding, a copy into the slab, a mutex, and a notice per burst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <leat/base/codec/bytes.hpp>
#include <leat/base/growing_ring.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/comm/bytes/byte_queue.hpp>
#include <leat/comm/bytes/bytes.hpp>
#include <leat/comm/bytes/slab.hpp>
#include <leat/comm/wire/frame.hpp>
#include <leat/core/activation.hpp>
#include <leat/core/bell.hpp>

namespace leat::comm {

class Fabric;
class Seat;

/// A message as it came.
struct Arrived {
  Bytes bytes;  // of the payload, with padding
  std::size_t payload_bytes = 0;
  std::uint32_t source = 0;

  [[nodiscard]] std::span<const std::byte> payload() const noexcept {
    return bytes.view().first(payload_bytes);
  }
};

/// What has come for one channel on one worker.
struct ByteInbound : LocalCounted<ByteInbound> {
  GrowingRing<Arrived> messages;
  core::Activation receiver;
};

/// What the byte path did so far. Written by its worker.
struct ByteCounters {
  std::uint64_t encoded = 0;  // messages serialized
  std::uint64_t decoded = 0;
  std::uint64_t frames_sent = 0;  // put into a lane or towards a process
};

class ByteSeat {
 public:
  /// `keeps_typed`: messages to workers of the same process go as they are, not by here.
  ByteSeat(Fabric& fabric, std::size_t worker, bool keeps_typed, bool is_checked, Refill refill);
  ByteSeat(const ByteSeat&) = delete;
  ByteSeat& operator=(const ByteSeat&) = delete;

  // -- Others -------------------------------------------------------------------------------------

  /// Brings whole frames that lie one after the other, from a worker of this process (by its place)
  /// or from links (place `workers`).
  ///
  /// Returns: whether the bell is to be announced. Threads: any, one at a time for each lane.
  [[nodiscard]] bool deliver(std::size_t lane, Bytes frames) {
    return lanes_[lane].push(std::move(frames)) == ByteQueue::Pushed::first;
  }
  [[nodiscard]] core::Bell& bell() noexcept { return bell_; }

  /// What this worker has for the process `process`; drained by whoever writes to it.
  [[nodiscard]] ByteQueue& outbox(std::size_t process) noexcept { return outboxes_[process]; }

  // -- The worker ---------------------------------------------------------------------------------

  /// Whether messages to worker `to` go by here.
  [[nodiscard]] bool takes(std::size_t to) const noexcept {
    return !keeps_typed_ || to - first_ >= workers_;
  }
  /// Whether all messages go by here, also those to oneself.
  [[nodiscard]] bool takes_all() const noexcept { return !keeps_typed_; }

  /// What a message is encoded into; then `send` or `send_to_all`.
  [[nodiscard]] ByteSink& begin() {
    sink_.clear();
    return sink_;
  }
  void send(std::uint64_t channel, std::size_t to);
  /// To every worker that `takes` says so of.
  void send_to_all(std::uint64_t channel);

  [[nodiscard]] LocalPtr<ByteInbound> open(std::uint64_t channel, core::Activation receiver);
  void close(std::uint64_t channel);

  /// Takes in what was brought since the bell was announced.
  void surface() {
    if (rung_.take_from(0) != core::ActivationSet::kNone) drain();
  }
  /// The worker leaves: what comes for it is dropped from now on.
  void leave();
  void release_spares() noexcept { slab_.shrink(); }

  [[nodiscard]] ByteCounters& counters() noexcept { return counters_; }
  [[nodiscard]] const ByteSlab& slab() const noexcept { return slab_; }

 private:
  void drain();
  void take_in(std::uint64_t channel, Arrived message);
  [[nodiscard]] Bytes framed(std::uint64_t channel, std::size_t lower, std::size_t upper);
  void send_to_self(std::uint64_t channel);
  void deliver_to(std::size_t to, Bytes frame);
  void send_out(std::size_t process, Bytes frame);

  Fabric& fabric_;
  std::size_t worker_;
  std::size_t first_;    // of the workers of this process
  std::size_t workers_;  // of this process
  bool keeps_typed_;
  bool is_checked_;
  std::uint64_t sequence_ = 0;
  ByteSink sink_;
  ByteSlab slab_;
  std::vector<ByteQueue> outboxes_;  // by process
  ByteCounters counters_;

  std::vector<ByteQueue> lanes_;
  core::ActivationSet rung_;
  core::Bell bell_;
  std::vector<Bytes> drained_;
  std::unordered_map<std::uint64_t, LocalPtr<ByteInbound>> channels_;
  std::unordered_map<std::uint64_t, std::vector<Arrived>> early_;
  std::uint64_t opened_below_ = 0;  // all ids below it that are not in channels_ are closed
};

}  // namespace leat::comm
