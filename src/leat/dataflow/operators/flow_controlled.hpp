// What      A source that asks for more only when what it gave before has come through: what is
//           under way is bounded by a probe further down, whatever the source could produce.
// Protocol  `more(time)` gives the next portion, or nothing at the end. It is asked again once the
//           probe says that everything before the portion's `target` is complete; then the time that
//           it is asked with is the portion's `lower_bound`, before which nothing comes any more.
// Invariants
//   (1) At most one portion leaves per activation; another only if the probe is at or past the
//       target of the last.
//   (2) It waits without running: the probe has it run when what it shows changes.
// Limits    Bounded by the probe's answer, not by bytes: a portion is sent whole. Every worker asks
//           its own `more`.
// Source    Timely Dataflow's `flow_controlled::iterator_source`; theirs asks in every step.
#pragma once

#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/base/usage_error.hpp>
#include <leat/dataflow/operators/unary.hpp>
#include <leat/dataflow/probe.hpp>

namespace leat::dataflow {

/// What a flow-controlled source sends at once.
template <class R, progress::Timestamp T = std::uint64_t>
struct Portion {
  std::vector<std::pair<T, std::vector<R>>> records;  ///< by time, none before the current one
  T lower_bound{};  ///< nothing comes before it any more; not before the current time
  T target{};       ///< the next portion waits until the probe can see nothing before it
};

/// The records of the portions that `more(time)` returns as `std::optional<Portion<R, T>>`, as fast
/// as the probe `done` lets them.
///
/// Errors: `UsageError` for a portion with a time, or a lower bound, before the current time.
template <class R, progress::Timestamp T, class More>
[[nodiscard]] StreamOf<T, R> flow_controlled(
    Scope<T>& scope, std::string name, More more, Probe<T> done,
    std::source_location where = std::source_location::current()) {
  static_assert(std::is_invocable_r_v<std::optional<Portion<R, T>>, More&, const T&>,
                "flow_controlled: the function takes the current time and returns "
                "std::optional<Portion<R, T>>");
  return source<R>(
      scope, std::move(name),
      [&](Capability<T> capability, const OperatorInfo& info) {
        done.activate_on_change(info.activation);
        return [more = std::move(more), done, capability = std::move(capability),
                self = info.activation,
                target = progress::TimestampTraits<T>::minimum()](auto& output) mutable {
          if (!capability || done.less_than(target)) return;
          std::optional<Portion<R, T>> portion = more(std::as_const(capability).time());
          if (!portion) {
            capability.release();
            return;
          }
          for (auto& [time, records] : portion->records) {
            output.session(capability.delayed(time)).give_batch(records);
          }
          capability.downgrade(portion->lower_bound);
          target = std::move(portion->target);
          if (!done.less_than(target)) self.activate();
        };
      },
      where);
}

}  // namespace leat::dataflow
