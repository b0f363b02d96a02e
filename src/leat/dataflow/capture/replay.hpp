// What      Turns captured streams of events into a stream again: k streams on m workers, whatever k
//           and m are and however the streams' events interleave.
// Protocol  Each worker gives the sources that it reads, perhaps none:
//             auto stream = replay_into(scope, std::move(sources));
//           The operator begins with one capability per stream of events, all at the least time,
//           and moves those of each stream as its `Progress` says. It ends when all have ended.
//           A source that can wake its reader does (`wake_by`): an idle replay does not run. One
//           that cannot, such as a socket, is looked at every `period` while it has nothing.
// Invariants
//   (1) What this operator holds for a stream are capabilities for exactly the frontier of the
//       times that are open in it: so the frontier of what is replayed is that of what was
//       captured.
//   (2) A stream that breaks the rules of event.hpp is refused before progress hears of it.
//   (3) An activation takes at most kMessagesPerActivation events from each source, and no second
//       one once its fuel is spent.
// Errors    `StreamBroken` for a stream that broke off, is malformed, or breaks the rules: it ends
//           the dataflow, and is the worker's result.
// Source    Timely Dataflow's `Replay`, which counts without capabilities, trusts the events, and
//           polls at every step.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/clock.hpp>
#include <leat/base/function.hpp>
#include <leat/dataflow/activator.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/capture/alarm.hpp>
#include <leat/dataflow/capture/event.hpp>
#include <leat/dataflow/scope.hpp>
#include <leat/dataflow/show.hpp>
#include <leat/progress/mutable_antichain.hpp>

namespace leat::dataflow {

/// After how long a replay looks again at sources that found nothing and cannot wake it.
inline constexpr Nanos kReplayPeriod = std::chrono::milliseconds(1);

namespace internal {

template <class S>
concept WokenLocally = requires(S source, Activator whom) { source.wake_by(whom); };
template <class S>
concept WokenRemotely =
    requires(S source, Function<void()> wake) { source.wake_by(std::move(wake)); };

/// The times that are open in what one source carries, and the right to send at them.
template <progress::Timestamp T>
class OpenTimes {
  // Far more than any stream has open, far less than would overflow a sum.
  static constexpr std::int64_t kCountMax = std::int64_t{1} << 60;

 public:
  OpenTimes(const Capability<T>& initial, std::size_t streams) {
    if (streams == 0) return;
    counts_.update(initial.time(), static_cast<std::int64_t>(streams));
    held_.insert(initial.clone());
  }

  /// Returns: what is wrong with the changes; empty if nothing is, and they took effect.
  [[nodiscard]] std::string change(const std::vector<std::pair<T, std::int64_t>>& changes) {
    const std::vector<T> open(counts_.frontier().begin(), counts_.frontier().end());
    const progress::AntichainRef<T> before{std::span<const T>(open)};
    bool is_moved = false;
    for (const auto& [time, delta] : changes) {
      if (delta > 0 && !before.less_equal(time))
        return "time " + show(time) + " to open while a time before it is open; found none";
      if (delta > kCountMax || delta < -kCountMax || counts_.count_for(time) > kCountMax ||
          counts_.count_for(time) < -kCountMax)
        return "counts that can be; found a change by " + std::to_string(delta);
      counts_.update(time, delta, [&](const T&, int) { is_moved = true; });
    }
    for (const auto& [time, delta] : changes) {
      if (counts_.count_for(time) < 0)
        return "time " + show(time) +
               " to close as often as it is open; found it closed more often";
    }
    if (is_moved) held_.downgrade(counts_.frontier().elements());
    return {};
  }

  [[nodiscard]] const CapabilitySet<T>& held() const noexcept { return held_; }
  [[nodiscard]] progress::AntichainRef<T> frontier() const noexcept { return counts_.frontier(); }

 private:
  progress::MutableAntichain<T> counts_;
  CapabilitySet<T> held_;
};

/// What one source carries, on its way into an output.
template <EventSource Source>
class Replaying {
  using T = typename Source::Time;
  using C = typename Source::Batch;

 public:
  Replaying(Source source, std::size_t number, const Capability<T>& initial)
      : source_(std::move(source)), number_(number), open_(initial, source_.streams()) {}

  [[nodiscard]] Source& source() noexcept { return source_; }

  /// Takes events and sends what is in them until there are none, or it took its share.
  ///
  /// Returns: `event` if it took its share and there may be more; else what was found last.
  Next run(OutputPort<T, C>& output, const std::string& who, const Activator& self) {
    Event<T, C> event;
    for (std::uint32_t taken = 0; taken < kMessagesPerActivation; ++taken) {
      if (taken > 0 && self.should_yield()) break;
      const Next next = source_.next(event);
      if (next == Next::event) {
        ++events_;
        take(event, output, who);
        continue;
      }
      if (next == Next::broken) refuse(who, source_.error().message);
      if (next == Next::over && !open_.frontier().empty()) {
        refuse(who, "asked all times to be closed at the end of the stream; found time " +
                        show(open_.frontier()[0]) + " open");
      }
      return next;
    }
    return Next::event;
  }

 private:
  void take(Event<T, C>& event, OutputPort<T, C>& output, const std::string& who) {
    if (const auto* progress = std::get_if<Progress<T>>(&event)) {
      if (const auto wrong = open_.change(progress->changes); !wrong.empty())
        refuse(who, "asked " + wrong);
      return;
    }
    auto& messages = std::get<Messages<T, C>>(event);
    for (const T& time : messages.stamp.times()) {
      if (open_.frontier().less_equal(time)) continue;
      refuse(who, "asked records at or after a time that is open; found records at " + show(time));
    }
    send(messages, output);
  }
  void send(Messages<T, C>& messages, OutputPort<T, C>& output) {
    if (messages.stamp.single()) {
      for (const auto& capability : open_.held().members()) {
        if (capability.time() != messages.stamp.first()) continue;
        output.session(capability).give_batch(messages.batch);
        return;
      }
    }
    CapabilitySet<T> set;
    for (const T& time : messages.stamp.times()) set.insert(open_.held().delayed(time));
    output.session(set).give_batch(messages.batch);
  }
  [[noreturn]] void refuse(const std::string& who, const std::string& what) const {
    throw StreamBroken(who + ", source " + std::to_string(number_) + ", after " +
                       std::to_string(events_) + " events: " + what);
  }

  Source source_;
  std::size_t number_;  // among those of this worker
  OpenTimes<T> open_;
  std::uint64_t events_ = 0;  // taken so far
};

/// All sources of one worker.
template <EventSource Source>
class ReplayLogic {
  using T = typename Source::Time;
  using C = typename Source::Batch;

 public:
  ReplayLogic(std::vector<Source> sources, Capability<T> initial, OutputPort<T, C> output,
              std::string who, const OperatorInfo& info, core::Timers& timers, Nanos period)
      : output_(std::move(output)),
        who_(std::move(who)),
        self_(info.activation),
        alarm_(timers, info.activation),
        period_(period) {
    for (auto& source : sources) running_.emplace_back(std::move(source), running_.size(), initial);
    for (auto& each : running_) {
      if constexpr (WokenLocally<Source>) {
        each.source().wake_by(self_);
      } else if constexpr (WokenRemotely<Source>) {
        each.source().wake_by([whom = self_.remote()] { static_cast<void>(whom.activate()); });
      }
    }
  }

  bool operator()() {
    bool is_idle = false;
    for (auto each = running_.begin(); each != running_.end();) {
      const Next next = each->run(output_, who_, self_);
      if (next == Next::over) {
        each = running_.erase(each);
        continue;
      }
      if (next == Next::event) self_.activate();
      is_idle = is_idle || next == Next::none;
      ++each;
    }
    if (is_idle && !WokenLocally<Source> && !WokenRemotely<Source>) alarm_.set(period_);
    return !running_.empty();
  }

 private:
  std::vector<Replaying<Source>> running_;  // not over yet
  OutputPort<T, C> output_;
  std::string who_;
  Activator self_;
  Alarm alarm_;
  Nanos period_;
};

}  // namespace internal

/// The stream that `sources` carry, all together. Every worker calls it, with its own sources.
///
/// `period` is after how long sources that found nothing and cannot wake the operator are looked at
/// again.
template <EventSource Source>
[[nodiscard]] Stream<typename Source::Time, typename Source::Batch> replay_into(
    Scope<typename Source::Time>& scope, std::vector<Source> sources, Nanos period = kReplayPeriod,
    std::source_location where = std::source_location::current()) {
  using T = typename Source::Time;
  using C = typename Source::Batch;
  OperatorBuilder<T> builder(scope.state(), "replay", where);
  auto [port, stream] = builder.template new_output<C>();
  builder.build([&](std::vector<Capability<T>> capabilities) {
    return internal::ReplayLogic<Source>(
        std::move(sources), std::move(capabilities[0]), std::move(port), builder.name().described(),
        builder.info(), scope.state()->context->scheduler.timers(), period);
  });
  return std::move(stream);
}

}  // namespace leat::dataflow
