// What      What listens to one scope on one worker: turns what the scope does into events for the
//           logs that were registered when its building began.
// Invariants  (1) There is none if nobody listened then: a scope asks one pointer, and that is all.
// Cost      Everything here is for those who look; none of it is on the way of those who do not.
// Source    Timely Dataflow logs at the same places; one object for all of them is ours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <leat/base/local_ptr.hpp>
#include <leat/core/log_registry.hpp>
#include <leat/progress/antichain.hpp>
#include <leat/progress/batch_entry.hpp>
#include <leat/progress/location.hpp>
#include <leat/progress/plane.hpp>
#include <leat/progress/watch/channel_log.hpp>
#include <leat/progress/watch/events.hpp>
#include <leat/progress/watch/shares.hpp>

namespace leat::progress {

template <Timestamp T>
class ScopeWatch {
 public:
  using Change = CountChange<T>;

  /// What listens to a scope whose building begins; null if nobody does.
  [[nodiscard]] static std::unique_ptr<ScopeWatch> if_wanted(ProgressPlane& plane) {
    const core::LogRegistry* const logs = plane.logs();
    const bool is_logged = logs != nullptr && !logs->empty();
    if (!is_logged && !plane.names_holders()) return nullptr;
    auto watch = std::make_unique<ScopeWatch>();
    if (is_logged) {
      watch->events_ = logs->get<WorkerEvent>(kEventStream);
      watch->progress_ = logs->get<ProgressEvent<T>>(progress_stream<T>());
      watch->tracker_ = logs->get<TrackerEvent<T>>(reachability_stream<T>());
      watch->summaries_ = logs->get<SummaryEvent<T>>(summary_stream<T>());
    }
    if (plane.names_holders()) watch->shares_.emplace(plane.peers());
    if (!watch->events_ && !watch->progress_ && !watch->tracker_ && !watch->summaries_ &&
        !watch->shares_)
      return nullptr;
    watch->worker_ = static_cast<std::uint32_t>(plane.seat().index());
    watch->sequences_.resize(plane.peers(), 0);
    return watch;
  }

  /// The scope's id as an operator.
  void set_scope(std::uint64_t id) noexcept { scope_ = id; }

  void tell(WorkerEvent event) { events_.log(std::move(event)); }
  /// Several events with one time.
  void tell_all(std::vector<WorkerEvent> events) { events_.log_many(std::move(events)); }
  [[nodiscard]] bool has_events() const noexcept { return static_cast<bool>(events_); }
  [[nodiscard]] bool has_summaries() const noexcept { return static_cast<bool>(summaries_); }
  [[nodiscard]] bool has_counts() const noexcept { return static_cast<bool>(tracker_); }
  void tell_summaries(std::vector<SummaryEvent<T>> events) {
    summaries_.log_many(std::move(events));
  }

  /// Where the ends of a channel tell of its messages; null if nobody wants to know of them.
  [[nodiscard]] LocalPtr<ChannelLog> channel_log(std::uint64_t channel) const {
    if (!events_) return nullptr;
    return make_local<ChannelLog>(events_, channel, worker_, sequences_.size());
  }

  // -- Runs ---------------------------------------------------------------------------------------

  void starts(std::uint64_t id) { tell(ScheduleEvent{id, ScheduleEvent::Kind::start}); }
  void stops(std::uint64_t id) { tell(ScheduleEvent{id, ScheduleEvent::Kind::stop}); }
  void shuts_down(std::uint64_t id) { tell(ShutdownEvent{id}); }
  void scope_starts() {
    running_ = true;
    starts(scope_);
  }
  void scope_stops() {
    if (std::exchange(running_, false)) stops(scope_);
  }

  /// Whether a target's frontier is another than when this was asked last.
  bool is_news(PortIndex target, AntichainRef<T> frontier) {
    if (target >= shown_.size()) shown_.resize(target + 1);
    auto& last = shown_[target];
    if (std::equal(frontier.begin(), frontier.end(), last.begin(), last.end())) return false;
    last.assign(frontier.begin(), frontier.end());
    return true;
  }

  // -- Progress -----------------------------------------------------------------------------------

  /// This worker's own batch, about to take effect.
  template <class Changes>
  void published(std::span<const PortInfo> ports, Changes& changes) {
    std::vector<Change> batch;
    for (const auto& [at, delta] : changes) {
      batch.push_back(change(ports[at.port], at.time, delta));
      if (shares_) shares_->update(at.port, at.time, worker_, delta);
    }
    tell_batch(true, worker_, batch);
  }
  /// A peer's batch, about to take effect.
  void absorbed(std::span<const PortInfo> ports, std::span<const LoggedChange<T>> changes,
                std::size_t from) {
    std::vector<Change> batch;
    for (const auto& [time, delta, port] : changes) {
      batch.push_back(change(ports[port], time, delta));
      if (shares_) shares_->update(port, time, from, delta);
    }
    tell_batch(false, static_cast<std::uint32_t>(from), batch);
  }
  /// Counts that changed without a batch: at the beginning, from the parent, from a child scope.
  void counted(std::vector<Change> changes) {
    if (tracker_ && !changes.empty()) tracker_.log(TrackerEvent<T>{scope_, std::move(changes)});
  }

  /// What every worker holds from the beginning, one each.
  void given_to_all(PortIndex port, const T& time) {
    for (std::size_t worker = 0; shares_ && worker < sequences_.size(); ++worker)
      shares_->update(port, time, worker, 1);
  }
  /// Whose a count is; empty if nobody keeps book.
  [[nodiscard]] std::vector<std::int64_t> shares_of(PortIndex port, const T& time) const {
    return shares_ ? shares_->of(port, time) : std::vector<std::int64_t>();
  }

  [[nodiscard]] static Change change(const PortInfo& at, const T& time, std::int64_t delta) {
    return {at.node, at.kind, at.number, time, delta};
  }

 private:
  void tell_batch(bool is_send, std::uint32_t from, std::vector<Change>& batch) {
    if (progress_) {
      ProgressEvent<T> event{is_send, from, sequences_[from]++, scope_, {}, {}};
      for (const Change& one : batch)
        (one.kind == PortKind::target ? event.messages : event.internal).push_back(one);
      progress_.log(std::move(event));
    }
    std::erase_if(batch, [](const Change& one) { return one.node == 0; });  // the parent's to count
    counted(std::move(batch));
  }

  core::Logger<WorkerEvent> events_;
  core::Logger<ProgressEvent<T>> progress_;
  core::Logger<TrackerEvent<T>> tracker_;
  core::Logger<SummaryEvent<T>> summaries_;
  std::optional<Shares<T>> shares_;
  std::uint64_t scope_ = 0;
  std::uint32_t worker_ = 0;
  bool running_ = false;
  std::vector<std::uint64_t> sequences_;  // batches per worker
  std::vector<std::vector<T>> shown_;     // by target: the frontier that its operator saw last
};

}  // namespace leat::progress
