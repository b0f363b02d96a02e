// What      What a batch travels in from one worker to another, and the pool its sender takes it
//           from.
// Protocol  The sender takes an envelope, exchanges its batch with the empty one inside, and pushes
//           it on the receiver's queue. The receiver exchanges the batch out, leaves its own empty
//           one in, and gives the envelope back to the pool it came from. So the memory of batches
//           goes round between two workers, and in a steady stream nothing is allocated.
// Invariants  (1) `give_back` is called by any thread, `take` by the sender only.
// Ordering  returned  give_back -> take: the receiver is done with the envelope before it is filled
//           again.
// Cost      take: a few instructions, one exchange when the private list ran out. give_back: one
//           compare-exchange on a line that the sender touches only then.
// Source    Ours; the list is Treiber's without its pop.
#pragma once

#include <cstddef>
#include <utility>

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/queue/mpsc.hpp>

namespace leat::comm {

template <class M>
class EnvelopePool;

template <class M>
struct Envelope : queue::MpscNode {
  explicit Envelope(EnvelopePool<M>& home) : pool(&home) {}

  M message{};
  EnvelopePool<M>* pool;
  Envelope* below = nullptr;  // in the pool's lists
};

template <class M>
class EnvelopePool {
  struct returned : Edge {};  // give_back -> take: the envelope is the sender's again

 public:
  EnvelopePool() = default;
  EnvelopePool(const EnvelopePool&) = delete;
  EnvelopePool& operator=(const EnvelopePool&) = delete;

  /// Requires: every envelope was given back, or is in a queue whose owner deletes it.
  ~EnvelopePool() {
    destroy(own_);
    destroy(returned_.load_relaxed());  // nobody else is left
  }

  /// An envelope with an empty message. Threads: the sender.
  [[nodiscard]] Envelope<M>* take() {
    if (own_ == nullptr && returned_.load_relaxed() != nullptr) {
      own_ = returned_.exchange_acquire(nullptr, returned{});
    }
    if (own_ == nullptr) return new Envelope<M>(*this);
    Envelope<M>* const envelope = own_;
    own_ = envelope->below;
    return envelope;
  }

  /// Frees the envelopes that are back. Threads: the sender.
  void release_spares() noexcept {
    destroy(std::exchange(own_, nullptr));
    if (returned_.load_relaxed() == nullptr) return;
    destroy(returned_.exchange_acquire(nullptr, returned{}));
  }

  /// Threads: any; usually the receiver.
  void give_back(Envelope<M>* envelope) noexcept {
    Envelope<M>* top = returned_.load_relaxed();  // a first guess; the exchange decides
    do {
      envelope->below = top;
    } while (!returned_.compare_exchange_weak_release(top, envelope, returned{}));
  }

 private:
  static void destroy(Envelope<M>* envelope) {
    while (envelope != nullptr) delete std::exchange(envelope, envelope->below);
  }

  Envelope<M>* own_ = nullptr;
  alignas(kCacheLine) Atomic<Envelope<M>*> returned_{nullptr};
};

}  // namespace leat::comm
