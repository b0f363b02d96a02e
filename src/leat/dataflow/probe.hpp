// What      A probe: tells from outside which times a stream may still carry.
// Invariants  (1) Never ahead of the truth: until its operator first ran it stands at the least
//             time.
//             (2) One probe on several streams shows the union of their times.
// Threads   The worker's own.
// Cost      A question reads the frontier where the scope keeps it: nothing runs when it moves.
// Source    Timely Dataflow's `ProbeHandle`; there the operator copies its frontier into the handle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <utility>
#include <vector>

#include <leat/base/local_ptr.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/pipe.hpp>
#include <leat/progress/antichain.hpp>
#include <leat/progress/subgraph.hpp>

namespace leat::dataflow {

namespace internal {

/// One stream that a probe watches: where its frontier stands, while its operator lives.
template <progress::Timestamp T>
struct ProbeSight {
  progress::Subgraph<T>* graph;
  progress::PortIndex target;
  bool is_running = false;  // the operator has run: before, the graph may not even be built

  [[nodiscard]] progress::AntichainRef<T> frontier() const noexcept {
    static const T minimum = progress::TimestampTraits<T>::minimum();
    if (!is_running) return progress::AntichainRef<T>(std::span<const T>(&minimum, 1));
    return graph->frontier(target);
  }
  /// Has the operator run whenever the frontier moves.
  void tell_of_changes() const { graph->set_interest(target, progress::FrontierInterest::always); }
};

template <progress::Timestamp T>
struct ProbeCore final : LocalCounted<ProbeCore<T>> {
  std::vector<std::unique_ptr<ProbeSight<T>>> sights;
  progress::Antichain<T> united;  // of several, as they were when somebody asked
  bool cut_short = false;
  std::vector<Activator> watchers;
};

}  // namespace internal

/// A handle; copies show the same thing.
template <progress::Timestamp T = std::uint64_t>
class Probe {
 public:
  using leat_stays_on_its_worker = void;

  Probe() : core_(make_local<internal::ProbeCore<T>>()) {}

  /// Whether a time before `time` (or at it) may still come.
  [[nodiscard]] bool less_than(const T& time) const {
    return any([&](const auto& frontier) { return frontier.less_than(time); });
  }
  [[nodiscard]] bool less_equal(const T& time) const {
    return any([&](const auto& frontier) { return frontier.less_equal(time); });
  }
  /// Whether nothing can come any more. Also true of a probe that is on no stream.
  [[nodiscard]] bool done() const noexcept {
    return !any([](const auto& frontier) { return !frontier.empty(); });
  }
  /// Whether a stream that it watches ended before its time: its dataflow was cancelled or dropped,
  /// or failed. What had not come by then never will, although the probe says that nothing can.
  [[nodiscard]] bool cut_short() const noexcept { return core_->cut_short; }
  /// The least times that may still come; good until the worker's next step or the next call.
  [[nodiscard]] progress::AntichainRef<T> frontier() const {
    if (core_->sights.size() == 1) return core_->sights.front()->frontier();
    core_->united.clear();
    for (const auto& sight : core_->sights) core_->united.extend(sight->frontier());
    return core_->united.borrow();
  }

  /// Has an operator run whenever what the probe shows has changed: for sources that wait for it.
  void activate_on_change(Activator whom) const {
    core_->watchers.push_back(std::move(whom));
    for (const auto& sight : core_->sights) sight->tell_of_changes();
  }

  [[nodiscard]] const LocalPtr<internal::ProbeCore<T>>& core() const noexcept { return core_; }

 private:
  template <class Asked>
  [[nodiscard]] bool any(const Asked& asked) const {
    for (const auto& sight : core_->sights) {
      if (asked(sight->frontier())) return true;
    }
    return false;
  }

  LocalPtr<internal::ProbeCore<T>> core_;
};

namespace internal {

/// Shows a probe one stream, until it is destroyed with the stream's operator.
template <progress::Timestamp T>
class ProbePart {
 public:
  ProbePart(LocalPtr<ProbeCore<T>> core, progress::Subgraph<T>& graph, progress::PortIndex target)
      : core_(std::move(core)) {
    core_->sights.push_back(std::make_unique<ProbeSight<T>>(ProbeSight<T>{&graph, target}));
    sight_ = core_->sights.back().get();
    graph.set_interest(target, progress::FrontierInterest::never);  // who asks looks there
    if (!core_->watchers.empty()) sight_->tell_of_changes();
  }
  ProbePart(ProbePart&&) = default;
  ~ProbePart() {
    if (!core_) return;
    if (!sight_->frontier().empty()) core_->cut_short = true;
    std::erase_if(core_->sights, [&](const auto& sight) { return sight.get() == sight_; });
    for (const Activator& watcher : core_->watchers) watcher.activate();
  }
  /// The operator runs. It does so for a change of its frontier only if somebody watches the probe.
  void runs(progress::AntichainRef<T> frontier) {
    sight_->is_running = true;
    if (core_->watchers.empty() ||
        std::equal(frontier.begin(), frontier.end(), last_.begin(), last_.end()))
      return;
    last_.assign(frontier.begin(), frontier.end());
    for (const Activator& watcher : core_->watchers) watcher.activate();
  }

 private:
  LocalPtr<ProbeCore<T>> core_;
  ProbeSight<T>* sight_;
  std::vector<T> last_;  // what watchers were told of
};

template <progress::Timestamp Time>
class ProbeOp : public Named<ProbeOp<Time>> {
 public:
  ProbeOp(const Probe<Time>& probe, std::source_location where)
      : Named<ProbeOp>("probe", where), core_(probe.core()) {}

  template <Container C>
  Stream<Time, C> apply(Stream<Time, C> stream) && {
    OperatorBuilder<Time> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [port, passed] = builder.template new_output<C>();
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port),
              part = ProbePart<Time>(core_, *builder.context()->graph,
                                     builder.context()->inputs[0].target)]() mutable {
        part.runs(input.frontier());
        input.for_each(
            [&](auto& message) { output.session(message).give_batch(message.records()); });
      };
    });
    return std::move(passed);
  }

 private:
  LocalPtr<ProbeCore<Time>> core_;
};

struct ProbeFn {
  template <progress::Timestamp T>
  ProbeOp<T> operator()(const Probe<T>& probe,
                        std::source_location where = std::source_location::current()) const {
    return ProbeOp<T>(probe, where);
  }
};

}  // namespace internal

/// `stream | probe(handle)`: the same stream, watched by `handle`.
inline constexpr internal::ProbeFn probe{};

}  // namespace leat::dataflow
