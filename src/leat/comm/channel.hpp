// What      A channel: every worker has a sending end to each worker and one receiving end. It
//           moves messages of one type between threads of a process; what they mean is the upper
//           layer's business.
// Shape     One block per channel, counted by every end:
//             mailbox[r]  a doorbell and a queue, one per receiver
//             pool[s]     envelopes, one pool per sender
//           A message to oneself goes through a plain ring that both ends on a worker share.
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
  Sender(Seat& seat, core::NotifyRule notify, std::shared_ptr<ChannelBlock<M>> block,
         LocalPtr<Loopback<M>> loopback)
      : seat_(&seat),
        notifier_(seat, notify),
        block_(std::move(block)),
        loopback_(std::move(loopback)) {}

  [[nodiscard]] std::size_t peers() const noexcept { return seat_->peers(); }

  /// Gives back memory that is kept for messages to come.
  void release_spares() noexcept {
    if (block_) block_->pool(seat_->index()).release_spares();
    loopback_->release_spares();
  }

  /// Sends `message` to worker `to` and leaves an empty one in its place, which may own memory.
  ///
  /// The receiver hears of it at once, unless it was told of an earlier one and has not looked yet:
  /// then it finds both. Under the rules `first_then_trailing` and `on_done` (notify.hpp) it may
  /// hear of it with the next `done` only.
  void send(std::size_t to, M& message) {
    if (to == seat_->index()) {
      send_to_self(message);
      return;
    }
    auto& mailbox = block_->mailbox(to);
    if (mailbox.was_closed()) {
      message = M{};
      return;
    }
    Envelope<M>* const envelope = block_->pool(seat_->index()).take();
    std::swap(envelope->message, message);
    mailbox.queue_.push(envelope);
    notifier_.sent(to, mailbox);
  }

  /// Says that nothing more comes for now. Does nothing under the rule `edge`.
  void done() {
    if (!block_ || !notifier_.waits_for_done()) return;
    for (std::size_t to = 0; to < peers(); ++to) notifier_.done(to, block_->mailbox(to));
  }

 private:
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
};

/// The receiving end of a channel on one worker. Threads: that worker's.
template <class M>
class Receiver {
 public:
  Receiver(std::size_t index, std::shared_ptr<ChannelBlock<M>> block,
           LocalPtr<Loopback<M>> loopback)
      : index_(index), loopback_(std::move(loopback)) {
    if (!block) return;
    mailbox_ = &block->mailbox(index);
    block->own_by_receiver(index, block);
    mailbox_->set_listener(loopback_->receiver);
  }
  Receiver(Receiver&& other) noexcept
      : index_(other.index_),
        mailbox_(std::exchange(other.mailbox_, nullptr)),
        loopback_(std::move(other.loopback_)) {}
  Receiver& operator=(Receiver&&) = delete;
  ~Receiver() {
    if (loopback_) loopback_->close();
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
    return receive_with(message, [](const EnvelopePool<M>*) {});
  }
  /// The same, and says which worker sent it.
  bool receive(M& message, std::size_t& from) {
    return receive_with(message, [&](const EnvelopePool<M>* pool) {
      from = pool == nullptr ? index_ : mailbox_->block_->sender_of(pool);
    });
  }

  /// Gives back memory that is kept for messages to come.
  void release_spares() noexcept { loopback_->release_spares(); }

  [[nodiscard]] bool was_pending() const {
    return !loopback_->messages.empty() || (mailbox_ != nullptr && !mailbox_->queue_.was_empty());
  }

 private:
  static constexpr std::size_t kSpares = 4;

  // `note(pool)` hears whose envelope it was in; null for a message to oneself.
  template <class Note>
  bool receive_with(M& message, Note&& note) {
    if (!loopback_->messages.empty()) {
      note(nullptr);
      std::swap(message, loopback_->messages.front());
      M spare = loopback_->messages.pop_front();
      if (loopback_->spares.size() < kSpares) loopback_->spares.push_back(std::move(spare));
      return true;
    }
    if (mailbox_ == nullptr) return false;
    Envelope<M>* const envelope = mailbox_->queue_.pop();
    if (envelope == nullptr) return false;
    std::swap(message, envelope->message);
    note(envelope->pool);
    envelope->pool->give_back(envelope);
    return true;
  }

  std::size_t index_;
  Mailbox<M>* mailbox_ = nullptr;
  LocalPtr<Loopback<M>> loopback_;
};

}  // namespace leat::comm
