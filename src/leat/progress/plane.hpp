// What      A worker's part of the progress plane: it publishes its scopes' batches in its log,
//           reads its peers' logs in place, and hands what it reads to the scopes concerned. It is
//           also where the worker's loop looks for all news, and where it sleeps.
// Protocol  A scope is announced when its building begins, attached when it can take batches,
//           detached when it ends. A batch that names a scope that is not attached yet is copied
//           and kept, in order, and handed over first when it is; one that names a scope that ended
//           is dropped. Farewells to dataflows that are cancelled travel in the same
//           logs (cancellations.hpp).
// Invariants  (1) A scope sees, of each peer, a prefix of its batches in order, each whole.
//             (2) A worker without peers writes nothing: its scopes apply their own batches only.
// Source    Timely Dataflow's `Progcaster`, one broadcast channel per scope; one log per worker is
//           ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <leat/base/function.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/core/config.hpp>
#include <leat/core/log_registry.hpp>
#include <leat/core/worker.hpp>
#include <leat/progress/batch_entry.hpp>
#include <leat/progress/cancellations.hpp>
#include <leat/progress/kept_batch.hpp>
#include <leat/progress/node_name.hpp>

namespace leat::progress {

using ScopeId = std::uint64_t;

/// Throws UsageError: batches of such times cannot be sent to other processes.
[[noreturn]] void refuse_times(std::string_view type);

/// Throws CommError: another process sent a batch that is none of its scope's.
[[noreturn]] void refuse_batch(ScopeId scope, const WireBatch& batch, const std::string& what);

/// Where a scope takes its peers' batches.
class ScopeInbox {
 public:
  ScopeInbox() = default;
  ScopeInbox(const ScopeInbox&) = delete;
  ScopeInbox& operator=(const ScopeInbox&) = delete;
  virtual ~ScopeInbox() = default;
  virtual void absorb(const queue::EntryHeader& entry) = 0;
  /// The same, of a worker of another process.
  virtual void absorb_bytes(const WireBatch& batch) = 0;
};

class ProgressPlane final : public core::Surroundings {
 public:
  /// `logs` are where scopes tell what they do, and the worker that it sleeps; null: nowhere.
  ProgressPlane(comm::Seat& seat, core::ProgressMode mode, core::LogRegistry* logs = nullptr)
      : seat_(seat), mode_(mode), logs_(logs), cancellations_(seat.peers()) {}

  [[nodiscard]] std::size_t peers() const noexcept { return seat_.peers(); }
  /// Whether some of them are in other processes.
  [[nodiscard]] bool has_links() const noexcept { return seat_.peers() != seat_.neighbours(); }
  [[nodiscard]] core::ProgressMode mode() const noexcept { return mode_; }
  [[nodiscard]] comm::Seat& seat() noexcept { return seat_; }
  [[nodiscard]] const core::LogRegistry* logs() const noexcept { return logs_; }
  /// Whether scopes that are built from now on keep book of whose each count is.
  [[nodiscard]] bool names_holders() const noexcept { return names_holders_; }
  void name_holders(bool whether) noexcept { names_holders_ = whether; }

  /// Ids within this worker, of nodes and of the edges between them. All workers build alike, so an
  /// id means the same thing on each of them.
  [[nodiscard]] std::uint64_t new_node_id() noexcept { return next_node_++; }
  [[nodiscard]] std::uint64_t new_channel_id() noexcept { return next_channel_++; }

  /// What this worker's nodes are called.
  [[nodiscard]] NodeNames& names() noexcept { return names_; }

  void announce(ScopeId scope);
  void attach(ScopeId scope, ScopeInbox& inbox);
  void detach(ScopeId scope);

  /// Whether scopes check what their operators report.
  [[nodiscard]] bool validates() const noexcept { return validates_; }
  void set_validation(bool on) noexcept { validates_ = on; }

  /// What the operators of this worker use up, unlimited until a worker lends its own; and where
  /// they say that they keep memory.
  [[nodiscard]] core::Fuel& fuel() noexcept { return *fuel_; }
  [[nodiscard]] core::Spares& spares() noexcept { return *spares_; }
  void use(core::Fuel& fuel, core::Spares& spares) noexcept {
    fuel_ = &fuel;
    spares_ = &spares;
  }

  /// Publishes a whole batch of one scope to all peers. Requires: there are peers.
  template <class T, class Changes>
  void publish(ScopeId scope, Changes& changes) {
    const auto batch = changes.changes();
    auto* const to = reinterpret_cast<LoggedChange<T>*>(
        seat_.log().reserve(batch.size() * sizeof(LoggedChange<T>)));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::construct_at(to + i,
                        LoggedChange<T>{batch[i].value.time, batch[i].diff, batch[i].value.port});
    }
    seat_.log().commit(scope, static_cast<std::uint32_t>(batch.size()),
                       &queue::kEntryOps<LoggedChange<T>>);
    seat_.announce_log();
  }
  /// One more batch took effect; for the closing lines of programs.
  void count_batch() noexcept { ++seat_.counters().batches; }

  /// Whose code an exception came out of; the innermost is told first and is kept.
  void note_thrower(const std::string& who) {
    if (thrower_.empty()) thrower_ = who;
  }
  [[nodiscard]] const std::string& thrower() const noexcept { return thrower_; }

  // -- Dataflows that are cancelled ---------------------------------------------------------------

  /// Ends this worker's part of a dataflow, by the id of its root scope, when a peer's farewell is
  /// read.
  using OnCancel = Function<void(ScopeId root)>;
  void on_cancel(OnCancel end_part) { end_part_ = std::move(end_part); }
  /// Says to all peers that this worker has ended its part. A second time does nothing.
  void cancel(ScopeId root);
  /// Says to all peers that this worker runs nothing any more.
  void leave();
  [[nodiscard]] const Cancellations& cancellations() const noexcept { return cancellations_; }

  void poll() override;
  void park(std::optional<Nanos> timeout) override;
  /// Whose batch a scope is being given. Requires: from within `ScopeInbox::absorb`.
  [[nodiscard]] std::size_t reading() const noexcept { return reading_; }

 private:
  enum class Stage : std::uint8_t { unknown, building, live, gone };
  struct Early {  // a batch that came before its scope was built
    KeptBatch batch;
    std::size_t from;
  };
  struct Slot {
    Stage stage = Stage::unknown;
    ScopeInbox* inbox = nullptr;
    std::vector<Early> early;
  };

  Slot& slot(ScopeId scope);
  void publish_farewell(ScopeId tag);
  void read_farewell(std::uint64_t tag, std::size_t from);
  void dispatch(const queue::EntryHeader& entry);
  void hand_over(ScopeInbox& inbox, const queue::EntryHeader& entry, std::size_t from);
  [[nodiscard]] static bool is_farewell(const queue::EntryHeader& entry) noexcept;

  comm::Seat& seat_;
  core::ProgressMode mode_;
  core::LogRegistry* logs_;
  bool names_holders_ = false;
  std::uint64_t next_node_ = 0;
  std::uint64_t next_channel_ = 0;
  NodeNames names_;
  std::size_t reading_ = 0;
  bool validates_ = false;
  core::Fuel unlimited_;
  core::Fuel* fuel_ = &unlimited_;
  core::Spares never_swept_;
  core::Spares* spares_ = &never_swept_;
  std::vector<Slot> slots_;  // by scope id
  Cancellations cancellations_;
  OnCancel end_part_;
  std::string thrower_;
};

}  // namespace leat::progress
