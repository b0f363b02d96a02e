// What      A channel: every worker has a sending end to each worker and one receiving end. It
//           moves messages of one type between the workers of a run; what they mean is the upper
//           layer's business.
// Shape     One block per channel and process, counted by every end:
//             mailbox[r]  a doorbell and a queue, one per receiver
//             pool[s]     envelopes, one pool per sender
//           A message to oneself goes through a plain ring that both ends on a worker share.
//           Messages to workers of other processes, and all of them if the fabric carries bytes
//           within a process too, are encoded and go by the byte path (wire/byte_seat.hpp).
// Protocol  send: queue the envelope, then mark the mailbox, then ring the receiver (doorbell.hpp).
//           A receiving end that is dropped closes its mailbox and its worker's ring; senders then
//           drop what they send to it.
// Invariants
//   (1) From one sender to one receiver messages arrive in order. Own messages are drained first.
//   (2) Messages to oneself touch nothing shared: a plain ring, no atomic and no lock.
// Cost      send to another: one exchange, one store, one read-modify-write. receive: one load, and
//           a compare-exchange to give the envelope back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <leat/base/growing_ring.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/comm/envelope.hpp>
#include <leat/comm/notify.hpp>
#include <leat/comm/seat.hpp>
#include <leat/comm/wire/byte_seat.hpp>
#include <leat/comm/wire/wire.hpp>
#include <leat/core/bell.hpp>
#include <leat/queue/mpsc.hpp>

namespace leat::comm {

template <class M>
class ChannelBlock;

/// Where one worker receives on one channel.
template <class M>
class Mailbox final : public core::Bell {
 public:
  Mailbox() : core::Bell(&release) {}
  ~Mailbox() {
    while (Envelope<M>* envelope = queue_.pop()) delete envelope;
  }

 private:
  friend class ChannelBlock<M>;
  template <class>
  friend class Receiver;
  template <class>
  friend class Sender;

  static void release(core::Doorbell* bell) noexcept {
    // The block may end with this reference, and the mailbox with it.
    const auto block = std::move(static_cast<Mailbox*>(static_cast<core::Bell*>(bell))->block_);
  }

  queue::Mpsc<Envelope<M>> queue_;
  std::shared_ptr<ChannelBlock<M>> block_;  // the receiving end's reference
};

template <class M>
class ChannelBlock {
 public:
  explicit ChannelBlock(std::size_t workers) : pools_(workers), mailboxes_(workers) {}

  [[nodiscard]] Mailbox<M>& mailbox(std::size_t receiver) noexcept { return mailboxes_[receiver]; }
  [[nodiscard]] EnvelopePool<M>& pool(std::size_t sender) noexcept { return pools_[sender]; }
  [[nodiscard]] std::size_t sender_of(const EnvelopePool<M>* pool) const noexcept {
    return static_cast<std::size_t>(pool - pools_.data());
  }

  /// Hands the receiving end's reference over. Once per receiver.
  void own_by_receiver(std::size_t receiver, std::shared_ptr<ChannelBlock> self) {
    mailboxes_[receiver].block_ = std::move(self);
  }

 private:
  std::vector<EnvelopePool<M>> pools_;  // outlive the mailboxes, whose envelopes they made
  std::vector<Mailbox<M>> mailboxes_;
};

/// What both ends of a channel on one worker share.
template <class M>
struct Loopback : LocalCounted<Loopback<M>> {
  GrowingRing<M> messages;
  std::vector<M> spares;  // emptied messages on their way back to the sending end
  core::Activation receiver;
  bool closed = false;

  void release_spares() noexcept {
    messages.shrink();
    spares = std::vector<M>();
  }
  /// The receiving end is gone, and whom it activated may be.
  void close() noexcept {
    closed = true;
    receiver = {};
    messages.clear();
    spares.clear();
  }
};

/// The sending end of a channel on one worker. Threads: that worker's.
template <class M>
class Sender {
 public:
  /// `block` is null if no peer is in the same process and takes messages as they are.
  Sender(Seat& seat, core::NotifyRule notify, std::shared_ptr<ChannelBlock<M>> block,
         LocalPtr<Loopback<M>> loopback, std::uint64_t id = 0)
      : seat_(&seat),
        notifier_(seat, notify),
        block_(std::move(block)),
        loopback_(std::move(loopback)),
        bytes_(seat.bytes()),
        id_(id) {}

  [[nodiscard]] std::size_t peers() const noexcept { return seat_->peers(); }

  /// Gives back memory that is kept for messages to come.
  void release_spares() noexcept {
    if (block_) block_->pool(seat_->place()).release_spares();
    loopback_->release_spares();
    if (bytes_ != nullptr) bytes_->release_spares();
  }

  /// Sends `message` to worker `to` and leaves an empty one in its place, which may own memory.
  ///
  /// The receiver hears of it at once, unless it was told of an earlier one and has not looked yet:
  /// then it finds both. Under the rules `first_then_trailing` and `on_done` (notify.hpp) it may
  /// hear of it with the next `done` only.
  void send(std::size_t to, M& message) {
    if (bytes_ != nullptr && bytes_->takes(to)) [[unlikely]] {
      encode(message);
      bytes_->send(id_, to);
      Wire<M>::empty(message);
      return;
    }
    if (to == seat_->index()) {
      send_to_self(message);
      return;
    }
    send_typed(to, message);
  }

  /// Sends `message` to every worker, the own one included, and leaves an empty one. Where bytes
  /// carry it, it is encoded once, and goes to each process once.
  ///
  /// Requires: messages can be copied.
  void send_to_all(M& message) {
    if (bytes_ != nullptr) [[unlikely]] {
      encode(message);
      bytes_->send_to_all(id_);
      if (bytes_->takes_all()) {
        Wire<M>::empty(message);
        return;
      }
    }
    const std::size_t first = seat_->first();
    for (std::size_t to = first; to < first + seat_->neighbours(); ++to) {
      if (to == seat_->index()) continue;
      M copy = message;
      send_typed(to, copy);
    }
    send_to_self(message);
  }

  /// Says that nothing more comes for now. Does nothing under the rule `edge`.
  void done() {
    if (!block_ || !notifier_.waits_for_done()) return;
    const std::size_t first = seat_->first();
    for (std::size_t place = 0; place < seat_->neighbours(); ++place) {
      notifier_.done(first + place, block_->mailbox(place));
    }
  }

 private:
  void send_typed(std::size_t to, M& message) {
    auto& mailbox = block_->mailbox(to - seat_->first());
    if (mailbox.was_closed()) {
      message = M{};
      return;
    }
    Envelope<M>* const envelope = block_->pool(seat_->place()).take();
    std::swap(envelope->message, message);
    mailbox.queue_.push(envelope);
    notifier_.sent(to, mailbox);
  }

  void encode(const M& message) {
    if constexpr (Wire<M>::kCan) {
      Wire<M>::encode(bytes_->begin(), message);
    }
  }

  void send_to_self(M& message) {
    if (loopback_->closed) {
      message = M{};
      return;
    }
    loopback_->messages.push_back(std::move(message));
    if (loopback_->spares.empty()) {
      message = M{};
    } else {
      message = std::move(loopback_->spares.back());
      loopback_->spares.pop_back();
    }
    loopback_->receiver.activate();
  }

  Seat* seat_;
  Notifier notifier_;
  std::shared_ptr<ChannelBlock<M>> block_;  // empty if the worker has no peers
  LocalPtr<Loopback<M>> loopback_;
  ByteSeat* bytes_;  // null: all messages go as they are
  std::uint64_t id_;
};

/// The receiving end of a channel on one worker. Threads: that worker's.
template <class M>
class Receiver {
 public:
  Receiver(Seat& seat, std::shared_ptr<ChannelBlock<M>> block, LocalPtr<Loopback<M>> loopback,
           std::uint64_t id = 0)
      : seat_(&seat), loopback_(std::move(loopback)), id_(id) {
    if (ByteSeat* const bytes = seat.bytes()) inbound_ = bytes->open(id, loopback_->receiver);
    if (!block) return;
    mailbox_ = &block->mailbox(seat.place());
    block->own_by_receiver(seat.place(), block);
    mailbox_->set_listener(loopback_->receiver);
  }
  Receiver(Receiver&& other) noexcept
      : seat_(other.seat_),
        mailbox_(std::exchange(other.mailbox_, nullptr)),
        loopback_(std::move(other.loopback_)),
        inbound_(std::move(other.inbound_)),
        id_(other.id_) {}
  Receiver& operator=(Receiver&&) = delete;
  ~Receiver() {
    if (loopback_) loopback_->close();
    if (inbound_) seat_->bytes()->close(id_);
    // What has come is destroyed now, not with the block, which ends with its last end.
    while (mailbox_ != nullptr) {
      Envelope<M>* const envelope = mailbox_->queue_.pop();
      if (envelope == nullptr) break;
      delete envelope;
    }
    if (mailbox_ != nullptr && !mailbox_->close()) mailbox_->block_.reset();
  }

  /// Exchanges the next message into `message`, whose old value (emptied) goes back to the sender.
  ///
  /// Returns: false if there is none now.
  bool receive(M& message) {
    return receive_with(message, [](std::size_t) {});
  }
  /// The same, and says which worker sent it.
  bool receive(M& message, std::size_t& from) {
    return receive_with(message, [&](std::size_t sender) { from = sender; });
  }

  /// Gives back memory that is kept for messages to come.
  void release_spares() noexcept { loopback_->release_spares(); }

  [[nodiscard]] bool was_pending() const {
    return !loopback_->messages.empty() || (mailbox_ != nullptr && !mailbox_->queue_.was_empty()) ||
           (inbound_ && !inbound_->messages.empty());
  }

 private:
  static constexpr std::size_t kSpares = 4;

  // `note` hears which worker sent it.
  template <class Note>
  bool receive_with(M& message, Note&& note) {
    if (!loopback_->messages.empty()) {
      note(seat_->index());
      std::swap(message, loopback_->messages.front());
      M spare = loopback_->messages.pop_front();
      if (loopback_->spares.size() < kSpares) loopback_->spares.push_back(std::move(spare));
      return true;
    }
    if (mailbox_ != nullptr) {
      if (Envelope<M>* const envelope = mailbox_->queue_.pop()) {
        std::swap(message, envelope->message);
        note(seat_->first() + mailbox_->block_->sender_of(envelope->pool));
        envelope->pool->give_back(envelope);
        return true;
      }
    }
    return inbound_ && receive_bytes(message, note);
  }
  template <class Note>
  bool receive_bytes(M& message, Note& note) {
    if (inbound_->messages.empty()) return false;
    const Arrived arrived = inbound_->messages.pop_front();
    note(arrived.source);
    if constexpr (Wire<M>::kCan) {
      decode_message<M>(arrived.payload(), arrived.source, id_, message);
      ++seat_->bytes()->counters().decoded;
    }
    return true;
  }

  Seat* seat_;
  Mailbox<M>* mailbox_ = nullptr;
  LocalPtr<Loopback<M>> loopback_;
  LocalPtr<ByteInbound> inbound_;  // empty: no bytes come
  std::uint64_t id_;
};

}  // namespace leat::comm
