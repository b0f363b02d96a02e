// What      Which dataflows were cancelled, and who has said so: how the workers agree that a
//           dataflow is over before its time. One per worker; the progress plane keeps it.
// Protocol  Cancelling a dataflow, by any worker, at any time, several of them at once if it comes
//           to that:
//             1. The worker ends its part at once: its operators, capabilities and records are
//                destroyed, its ledgers closed. Then it writes a farewell, which names the
//                dataflow, into its progress log, behind all that it published of it.
//             2. Whoever reads a farewell and has not written one does the same: ends its part,
//                writes its own. A worker where the dataflow is not built yet remembers it, writes
//                its farewell, and destroys the dataflow when its building ends, before any operator
//                ran; one where it has run to its end already only writes its farewell.
//             3. The dataflow is cancelled when a worker has every peer's farewell. That is the
//                agreed point: as nobody runs any part of it after its own, nothing comes out of it
//                anywhere any more. A worker that leaves the fabric writes a last one that stands
//                for all dataflows.
// Invariants
//   (1) Nothing is retracted. What a worker holds of a dataflow when it ends its part (records,
//       capabilities, changes that were not published) stays counted at its peers for as long as
//       they run it; so no frontier moves because of a cancel, and no operator takes a time or an
//       input for complete that is not.
//   (2) A log is read in order: behind a farewell nothing of its dataflow comes from that worker.
//   (3) What comes for a part that has ended is dropped: records at the mailbox, batches at the
//       plane. Neither belongs to another dataflow, since ids are used once.
//   (4) Each worker writes at most one farewell per dataflow.
// Limits    A worker that does not step reads no farewells; its part stays until it does, and its
//           peers' parts are gone meanwhile. A dataflow that has ended is not cancelled.
// Cost      A log entry per worker, and per dataflow that was cancelled a few words for ever.
// Source    Ours. Timely Dataflow's `drop_dataflow` leaves the agreement to the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <leat/base/fields.hpp>

namespace leat::progress {

/// What stands in a log instead of a batch; the entry's tag is the dataflow's root scope.
struct Farewell {
  std::uint64_t from;  // the worker that wrote it

  /// The tag of the one of a worker that leaves.
  static constexpr std::uint64_t kLeaves = ~std::uint64_t{0};
};
LEAT_FIELDS(Farewell, from);

class Cancellations {
 public:
  explicit Cancellations(std::size_t workers) : has_left_(workers, false) {}

  /// `worker` has ended its part of `dataflow`.
  void note(std::uint64_t dataflow, std::size_t worker) {
    auto& said = dataflows_[dataflow];
    said.resize(has_left_.size(), false);
    said[worker] = true;
  }
  /// `worker` runs nothing any more.
  void leaves(std::size_t worker) { has_left_[worker] = true; }

  /// Whether somebody cancelled it.
  [[nodiscard]] bool is_begun(std::uint64_t dataflow) const {
    return dataflows_.count(dataflow) != 0;
  }
  /// Whether `worker` is known to have ended its part.
  [[nodiscard]] bool has_said(std::uint64_t dataflow, std::size_t worker) const {
    const auto at = dataflows_.find(dataflow);
    return at != dataflows_.end() && at->second[worker];
  }
  /// Whether every worker has ended its part.
  [[nodiscard]] bool is_agreed(std::uint64_t dataflow) const {
    const auto at = dataflows_.find(dataflow);
    if (at == dataflows_.end()) return false;
    for (std::size_t worker = 0; worker < has_left_.size(); ++worker) {
      if (!at->second[worker] && !has_left_[worker]) return false;
    }
    return true;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<bool>> dataflows_;  // who has said so
  std::vector<bool> has_left_;
};

}  // namespace leat::progress
