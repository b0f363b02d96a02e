// What      Checks what operators write into their scope's ledger, for `Config::validate_progress`:
//           a capability made, or records sent, must be justified by something that the operator
//           had. Who cannot justify it would move frontiers wrongly on every worker, and be found
//           out late, elsewhere or never.
// Protocol  After each run of a child, and for what came from outside before, `check` takes the net
//           of what was written.
// Invariants
//   (1) Something at output `s` and time `t` is justified by a capability that this worker held for
//       `s` at a time not after `t` before that run; or by records consumed in it at an input from
//       which a link leads to `s` at a time not after `t`; or, while the operator keeps a message,
//       by a time that may still be at such an input.
//   (2) No more capabilities are dropped than are held.
// Limits    Everything goes by the owner of the port, whoever was running: a capability may be used
//           from elsewhere. What a child scope reports is checked inside of it. Records that an
//           operator says it consumed are believed: who received them is not known here.
// Cost      Linear in the changes times the links of the operators concerned; nothing when off.
// Source    Timely Dataflow's check in debug builds; what an operator keeps, and the outside, are
//           ours.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/usage_error.hpp>
#include <leat/progress/ledger.hpp>
#include <leat/progress/mutable_antichain.hpp>
#include <leat/progress/print.hpp>
#include <leat/progress/reachability.hpp>

namespace leat::progress {

template <Timestamp T>
class Validator {
 public:
  using Changes = std::vector<Change<Pointstamp<T>>>;

  /// Requires: `tracker` outlives this.
  Validator(const Tracker<T>& tracker, std::size_t ports)
      : tracker_(tracker), held_(ports), feeds_(ports), links_(ports) {
    for (PortIndex from = 0; from < ports; ++from) {
      for (const auto& step : tracker.forward().row(from)) {
        if (tracker.info(from).kind == PortKind::source) {
          feeds_[step.port] = from;
        } else {
          links_[step.port].push_back({from, tracker.forward().summary(step)});
        }
      }
    }
  }

  /// This worker holds one capability at the least time for `source`, as all do at the beginning.
  void begins_with(PortIndex source) { held_[source].update(TimestampTraits<T>::minimum(), +1); }

  /// `who(node)` describes a child, `keeps(node, input)` says whether it keeps messages of an input.
  ///
  /// Errors: `UsageError` that names the operator, for the first change that is not justified.
  template <class Who, class Keeps>
  void check(const Changes& changes, const Who& who, const Keeps& keeps) {
    for (const auto& [at, diff] : changes) {
      if (diff <= 0) continue;
      const bool is_capability = tracker_.info(at.port).kind == PortKind::source;
      const PortIndex source = is_capability ? at.port : feeds_[at.port];
      if (is_justified(source, at.time, changes, keeps)) continue;
      const PortInfo& info = tracker_.info(source);
      throw UsageError(who(info.node),
                       (is_capability ? "a capability at " : "to send records at ") +
                           text(at.time) + " for output " + std::to_string(info.number),
                       "no capability held and no message received that leads there",
                       "make capabilities from held ones or from messages, and send under them");
    }
    for (const auto& [at, diff] : changes) {
      const PortInfo& info = tracker_.info(at.port);
      if (info.kind != PortKind::source || info.node == 0) continue;
      held_[at.port].update(at.time, diff);
      if (held_[at.port].count_for(at.time) >= 0) continue;
      throw UsageError(
          who(info.node),
          "to drop a capability at " + text(at.time) + " for output " + std::to_string(info.number),
          "none held at that time", "drop what is held, and once");
    }
  }

 private:
  struct Link {
    PortIndex target;
    SummaryOf<T> summary;
  };

  template <class Keeps>
  bool is_justified(PortIndex source, const T& time, const Changes& changes,
                    const Keeps& keeps) const {
    const PortInfo& info = tracker_.info(source);
    if (held_[source].less_equal(time)) return true;
    if (info.node == 0) {  // what enters: it leaves the scope's input in the same run
      for (const auto& [at, diff] : changes) {
        if (at.port == source && diff < 0 && less_equal(at.time, time)) return true;
      }
      return false;
    }
    for (const Link& link : links_[source]) {
      const auto leads = [&](const T& from) {
        const auto reached = PathSummary<T>::results_in(link.summary, from);
        return reached && less_equal(*reached, time);
      };
      for (const auto& [at, diff] : changes) {
        if (at.port == link.target && diff < 0 && leads(at.time)) return true;
      }
      if (!keeps(info.node, tracker_.info(link.target).number)) continue;
      for (const T& possible : tracker_.frontier(link.target)) {
        if (leads(possible)) return true;
      }
    }
    return false;
  }

  static std::string text(const T& time) {
    std::ostringstream out;
    print_time(out, time);
    return out.str();
  }

  const Tracker<T>& tracker_;
  std::vector<MutableAntichain<T>> held_;  // by source: this worker's capabilities
  std::vector<PortIndex> feeds_;           // by target: the source that feeds it
  std::vector<std::vector<Link>> links_;   // by source: from which targets of its node
};

}  // namespace leat::progress
