// What      What the workers of one process share: their seats, the channels between them, the news
//           that one of them failed, and the links to other processes if there are any.
// Shape     Workers are numbered through all processes: those of process p are
//           [p * workers, (p + 1) * workers), and each process has equally many.
// Protocol  Channels are matched by an id that comes from one counter per worker: all workers ask
//           for the same ids in the same order, each with a signature (type, place in the graph,
//           pact). The first to ask makes the channel, the last takes its entry out of the
//           registry. The first of each process tells the other processes its signature.
// Ordering  departed  a worker that leaves -> its peers: what it noted of its failure, and the stop.
// Errors    A worker whose signature differs from its peers' built another graph: a UsageError that
//           shows both; in the other processes a stop whose reason does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <leat/base/atomic.hpp>
#include <leat/base/type_name.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/comm/bytes/slab.hpp>
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

class Links;

/// How large a fabric is, and what carries its messages.
struct FabricOptions {
  std::size_t workers = 1;  // of this process; the others have as many
  std::size_t processes = 1;
  std::size_t process = 0;         // this one
  std::size_t processes_here = 1;  // of them on this host: they share its CPUs
  core::NotifyRule notify = core::NotifyRule::edge;
  bool zerocopy = false;     // bytes also between workers of this process
  bool checks_bytes = true;  // frames have a check; for links that may change bytes
  Refill refill{};           // memory of the workers' slabs
};

class Fabric {
  struct departed : Edge {};  // who left -> who sees it: whether it failed before

 public:
  /// Requires: `workers >= 1`. `notify`: when senders tell receivers, on all channels.
  explicit Fabric(std::size_t workers, core::NotifyRule notify = core::NotifyRule::edge)
      : Fabric(FabricOptions{.workers = workers, .notify = notify}) {}
  /// With several processes: `connect` it before workers run.
  explicit Fabric(const FabricOptions& options);
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  ~Fabric();

  /// Takes the links to the other processes into use.
  void connect(std::unique_ptr<Links> links);
  /// After all workers have left: tells the other processes, and waits until they have ended, too.
  ///
  /// Returns: why that did not come in order, if it did not.
  std::optional<core::StopReason> finish();

  /// Workers of this process; of all; the number of this one's first; processes, and which this is.
  [[nodiscard]] std::size_t workers() const noexcept { return workers_; }
  [[nodiscard]] std::size_t peers() const noexcept { return workers_ * processes_; }
  [[nodiscard]] std::size_t first_worker() const noexcept { return workers_ * process_; }
  [[nodiscard]] std::size_t processes() const noexcept { return processes_; }
  [[nodiscard]] std::size_t process() const noexcept { return process_; }
  /// Requires: `worker` is of this process.
  [[nodiscard]] Seat& seat(std::size_t worker) noexcept { return *seats_[worker - first_worker()]; }
  [[nodiscard]] Links* links() noexcept { return links_.get(); }
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
    if (!Wire<M>::kCan && seat.bytes() != nullptr) {
      refuse_uncodable("worker " + std::to_string(seat.index()), type_name<M>());
    }
    if constexpr (Wire<M>::kCan) note_record_types(typename Wire<M>::Types{});
    auto loopback = make_local<Loopback<M>>();
    loopback->receiver = receiver;
    std::shared_ptr<ChannelBlock<M>> block;
    if (peers() > 1) {
      block = std::static_pointer_cast<ChannelBlock<M>>(meet(seat.index(), id, signature, [this] {
        return is_typed()
                   ? std::static_pointer_cast<void>(std::make_shared<ChannelBlock<M>>(workers()))
                   : std::shared_ptr<void>();
      }));
    }
    return {Sender<M>(seat, notify_, block, loopback, id), Receiver<M>(seat, block, loopback, id)};
  }

  /// Checks that all workers build the same thing under `id`, without a channel. Same errors and
  /// threads.
  void agree(Seat& seat, std::uint64_t id, const Signature& signature) {
    if (peers() > 1) meet(seat.index(), id, signature, [] { return std::shared_ptr<void>(); });
  }

  // -- Failure and the end ------------------------------------------------------------------------

  /// The flag that every worker's loop sees; the first failure raises it. Raising it wakes
  /// everybody.
  [[nodiscard]] core::StopToken& stop() noexcept { return stop_; }
  /// Raises the flag; only the first reason is kept, and told to the other processes.
  void fail(core::StopReason reason);
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

  // -- What other processes say; for their links -------------------------------------------------

  /// The first worker of another process made the thing `id`.
  void peer_made(std::size_t worker, std::uint64_t id, Signature signature);
  /// A worker of another process built a dataflow, or failed to.
  void peer_built(std::size_t worker, std::uint64_t id, std::string where,
                  std::exception_ptr error);
  void peer_left(std::uint64_t next_id);
  /// Another process failed, or the way to it did: stops the workers here and tells nobody.
  void peer_failed(core::StopReason reason) { stop_.request(std::move(reason)); }
  /// The same, and tells the processes that are left.
  void lost(core::StopReason reason);

 private:
  /// What is known of the signatures of one id while not all processes have told theirs.
  struct Made {
    struct By {
      std::size_t worker;
      Signature signature;
    };
    std::vector<By> by;  // one for each process
  };

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
      if (processes_ > 1) tell_made(worker, id, signature);
      // Nothing is entered if making it throws: whoever comes next is the first again.
      at = meetings_.try_emplace(id, Meeting{signature, worker, 0, make()}).first;
    } else if (at->second.signature.hash != signature.hash) {
      throw refusal(id, at->second.first_worker, at->second.signature, worker, signature);
    }
    Meeting& meeting = at->second;
    std::shared_ptr<void> block = meeting.block;
    if (++meeting.arrived == workers()) meetings_.erase(at);
    return block;
  }
  [[nodiscard]] static UsageError refusal(std::uint64_t id, std::size_t first_worker,
                                          const Signature& first, std::size_t worker,
                                          const Signature& signature);
  // Under mutex_: compares with what other processes made, and tells them.
  void tell_made(std::size_t worker, std::uint64_t id, const Signature& signature);
  // Under mutex_. Notes what one process made. Returns: what disagrees.
  [[nodiscard]] std::optional<UsageError> note_made(std::size_t worker, std::uint64_t id,
                                                    const Signature& signature);
  [[nodiscard]] bool is_typed() const noexcept { return !zerocopy_ && workers() > 1; }

  void wake_all() noexcept;

  std::size_t workers_;
  std::size_t processes_;
  std::size_t process_;
  bool zerocopy_;
  core::NotifyRule notify_;
  core::ParkMask mask_;
  std::mutex mutex_;
  // Guarded by mutex_. Ends after the ready lists were emptied: they may hold a mailbox of a channel
  // that one of the workers never asked for, and that nobody else keeps.
  std::unordered_map<std::uint64_t, Meeting> meetings_;
  std::unordered_map<std::uint64_t, Made> made_;  // guarded by mutex_
  std::vector<std::shared_ptr<Seat>> seats_;
  core::StopToken stop_;
  Failures failures_;
  core::Crowd crowd_;
  Atomic<std::uint64_t> lowest_id_left_at_{~std::uint64_t{0}};  // written under mutex_
  std::unique_ptr<Links> links_;
};

}  // namespace leat::comm
