// What      What the workers of one process share: their seats, the channels between them, and the
//           news that one of them failed.
// Protocol  Channels are matched by an id that comes from one counter per worker: all workers ask
//           for the same ids in the same order, each with a signature (type, place in the graph,
//           pact). The first to ask makes the channel, the last takes its entry out of the
//           registry.
// Ordering  departed  a worker that leaves -> its peers: what it noted of its failure, and the stop.
// Errors    A worker whose signature differs from its peers' built another graph: a UsageError that
//           shows both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <leat/base/atomic.hpp>
#include <leat/base/type_name.hpp>
#include <leat/comm/channel.hpp>
#include <leat/comm/failures.hpp>
#include <leat/comm/seat.hpp>
#include <leat/core/config.hpp>
#include <leat/core/crowd.hpp>
#include <leat/core/park_mask.hpp>
#include <leat/core/stop.hpp>

namespace leat::comm {

/// What all workers must agree on when they make the thing with the same id.
struct Signature {
  std::uint64_t hash = 0;
  std::string text;  // for the message when they do not
};

class Fabric {
  struct departed : Edge {};  // who left -> who sees it: whether it failed before

 public:
  /// Requires: `workers >= 1`. `notify`: when senders tell receivers, on all channels.
  explicit Fabric(std::size_t workers, core::NotifyRule notify = core::NotifyRule::edge);
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  ~Fabric();

  [[nodiscard]] std::size_t workers() const noexcept { return seats_.size(); }
  [[nodiscard]] Seat& seat(std::size_t worker) noexcept { return *seats_[worker]; }
  [[nodiscard]] core::ParkMask& park_mask() noexcept { return mask_; }
  [[nodiscard]] core::Crowd& crowd() noexcept { return crowd_; }

  /// Both ends of a channel on one worker.
  template <class M>
  struct Ends {
    Sender<M> sender;
    Receiver<M> receiver;
  };
  /// Both ends, on the worker of `seat`, of the channel `id`. `receiver` is activated when
  /// something comes.
  ///
  /// Errors:  UsageError if another worker asked for the same id with another signature.
  /// Threads: the worker of `seat`; once per id.
  template <class M>
  [[nodiscard]] Ends<M> channel(Seat& seat, std::uint64_t id, const Signature& signature,
                                core::Activation receiver) {
    auto loopback = make_local<Loopback<M>>();
    loopback->receiver = receiver;
    std::shared_ptr<ChannelBlock<M>> block;
    if (workers() > 1) {
      block = std::static_pointer_cast<ChannelBlock<M>>(meet(seat.index(), id, signature, [this] {
        return std::static_pointer_cast<void>(std::make_shared<ChannelBlock<M>>(workers()));
      }));
    }
    return {Sender<M>(seat, notify_, block, loopback), Receiver<M>(seat.index(), block, loopback)};
  }

  /// Checks that all workers build the same thing under `id`, without a channel. Same errors and
  /// threads.
  void agree(Seat& seat, std::uint64_t id, const Signature& signature) {
    if (workers() > 1) meet(seat.index(), id, signature, [] { return std::shared_ptr<void>(); });
  }

  // -- Failure and the end ------------------------------------------------------------------------

  /// The flag that every worker's loop sees; the first failure raises it. Raising it wakes
  /// everybody.
  [[nodiscard]] core::StopToken& stop() noexcept { return stop_; }
  /// Raises the flag; only the first reason is kept.
  void fail(core::StopReason reason) { stop_.request(std::move(reason)); }
  /// User code threw `error` on `worker`: keeps it for whoever waits for the run, whatever the
  /// program makes of it, and stops the peers if there are any.
  ///
  /// `where` says whose code it was; it may be empty.
  void failed(std::size_t worker, std::string where, std::exception_ptr error);
  /// `worker` built the dataflow `id`, or failed to with `error` (null if it stands). Once per
  /// worker and id. If others fare otherwise the one that failed has failed all.
  void built(std::size_t worker, std::uint64_t id, std::string where, std::exception_ptr error);
  [[nodiscard]] const Failures& failures() const noexcept { return failures_; }
  /// A worker has left after making things with ids below `next_id`.
  ///
  /// Others that wait for it under a higher id would wait forever: they learn of it by
  /// `lowest_id_left_at`. Who sees that also sees that it failed, if it did.
  void left(std::uint64_t next_id);
  [[nodiscard]] std::uint64_t lowest_id_left_at() const noexcept {
    return lowest_id_left_at_.load_acquire(departed{});
  }

 private:
  struct Meeting {
    Signature signature;
    std::size_t first_worker;
    std::size_t arrived = 0;
    std::shared_ptr<void> block;
  };

  template <class F>
  std::shared_ptr<void> meet(std::size_t worker, std::uint64_t id, const Signature& signature,
                             F&& make) {
    const std::lock_guard lock(mutex_);
    auto at = meetings_.find(id);
    if (at == meetings_.end()) {
      // Nothing is entered if making it throws: whoever comes next is the first again.
      at = meetings_.try_emplace(id, Meeting{signature, worker, 0, make()}).first;
    } else if (at->second.signature.hash != signature.hash) {
      refuse(id, at->second, worker, signature);
    }
    Meeting& meeting = at->second;
    std::shared_ptr<void> block = meeting.block;
    if (++meeting.arrived == workers()) meetings_.erase(at);
    return block;
  }
  [[noreturn]] static void refuse(std::uint64_t id, const Meeting& meeting, std::size_t worker,
                                  const Signature& signature);

  void wake_all() noexcept;

  core::NotifyRule notify_;
  core::ParkMask mask_;
  std::mutex mutex_;
  // Guarded by mutex_. Ends after the ready lists were emptied: they may hold a mailbox of a channel
  // that one of the workers never asked for, and that nobody else keeps.
  std::unordered_map<std::uint64_t, Meeting> meetings_;
  std::vector<std::shared_ptr<Seat>> seats_;
  core::StopToken stop_;
  Failures failures_;
  core::Crowd crowd_;
  Atomic<std::uint64_t> lowest_id_left_at_{~std::uint64_t{0}};  // written under mutex_
};

}  // namespace leat::comm
