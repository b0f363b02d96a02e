// What      A probe: tells from outside which times a stream may still carry.
// Invariants  (1) Never ahead of the truth: until its operator first ran it stands at the least
//             time.
//             (2) One probe on several streams shows the union of their times.
// Threads   The worker's own.
// Source    Timely Dataflow's `ProbeHandle`.
#pragma once

#include <cstdint>
#include <source_location>
#include <utility>
#include <vector>

#include <leat/base/local_ptr.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/pipe.hpp>
#include <leat/progress/mutable_antichain.hpp>

namespace leat::dataflow {

namespace internal {
template <progress::Timestamp T>
struct ProbeCore final : LocalCounted<ProbeCore<T>> {
  progress::MutableAntichain<T> frontier;
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
  [[nodiscard]] bool less_than(const T& time) const { return core_->frontier.less_than(time); }
  [[nodiscard]] bool less_equal(const T& time) const { return core_->frontier.less_equal(time); }
  /// Whether nothing can come any more. Also true of a probe that is on no stream.
  [[nodiscard]] bool done() const noexcept { return core_->frontier.empty(); }
  /// Whether a stream that it watches ended before its time: its dataflow was cancelled or dropped,
  /// or failed. What had not come by then never will, although the probe says that nothing can.
  [[nodiscard]] bool cut_short() const noexcept { return core_->cut_short; }
  /// The least times that may still come.
  [[nodiscard]] progress::AntichainRef<T> frontier() const noexcept {
    return core_->frontier.frontier();
  }

  /// Has an operator run whenever what the probe shows has changed: for sources that wait for it.
  void activate_on_change(Activator whom) const { core_->watchers.push_back(std::move(whom)); }

  [[nodiscard]] const LocalPtr<internal::ProbeCore<T>>& core() const noexcept { return core_; }

 private:
  LocalPtr<internal::ProbeCore<T>> core_;
};

namespace internal {

/// One stream's part of a probe: what it last said, taken back when the operator ends.
template <progress::Timestamp T>
class ProbePart {
 public:
  explicit ProbePart(LocalPtr<ProbeCore<T>> core)
      : core_(std::move(core)), last_(1, progress::TimestampTraits<T>::minimum()) {
    core_->frontier.update(last_.front(), +1);
  }
  ProbePart(ProbePart&&) = default;
  ~ProbePart() {
    if (!core_) return;
    if (!last_.empty()) core_->cut_short = true;
    say({});
  }
  void say(progress::AntichainRef<T> frontier) {
    if (frontier.size() == last_.size() &&
        std::equal(frontier.begin(), frontier.end(), last_.begin()))
      return;
    for (const T& time : frontier) core_->frontier.update(time, +1);
    for (const T& time : last_) core_->frontier.update(time, -1);
    last_.assign(frontier.begin(), frontier.end());
    for (const Activator& watcher : core_->watchers) watcher.activate();
  }

 private:
  LocalPtr<ProbeCore<T>> core_;
  std::vector<T> last_;
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
              part = ProbePart<Time>(core_)]() mutable {
        input.for_each(
            [&](auto& message) { output.session(message).give_batch(message.records()); });
        part.say(input.frontier());
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
