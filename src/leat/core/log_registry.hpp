// What      Typed, buffered logs of one worker: operators, progress and users report events by
//           name, and whoever registered the name gets them in batches with their times.
// Protocol  Register an action under a name before what logs there is built: builders ask `get`
//           once and keep the Logger. A worker flushes its registry once a round.
// Invariants
//   (1) Times within a batch, and from batch to batch of one log, never go down.
//   (2) Each call of the action names a bound; no event delivered later is earlier than it.
//   (3) A flush ends with a heartbeat: the action is called with an empty batch and a new bound.
//   (4) When the last handle goes, what is buffered is delivered, then the action is destroyed.
//       Nothing else ends a log: the registry's own binding is a handle too.
//   (5) Loggers handed out before a name was bound anew keep the action they had.
// Limits    One thread: no atomics anywhere. The clock outlives every log. An action may log, to
//           its own log as well: such events wait for the next delivery; but an action that owns a
//           handle on its own log is a cycle, and leaks. An action that throws while the last
//           handle goes ends the process, as any destructor that throws.
// Cost      Without a logger one predicted branch; else a clock read and an append. No allocation
//           once the buffer has grown, unless the action takes the batch away.
// Source    Timely Dataflow's `logging` crate; the answer of a re-binding is as its code, not as
//           its comment, has it.
#pragma once

#include <leat/base/check.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/function.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/base/thread_tag.hpp>
#include <leat/base/type_name.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::core {

/// An event and when it was logged, since the origin of its registry.
template <class Event>
struct Logged {
  Nanos time;
  Event event;
};

template <class Event>
using LogBatch = std::vector<Logged<Event>>;

/// Receives a batch, or an empty one as a heartbeat, and a bound below which no later event lies.
/// May move the batch away; what it leaves is dropped, and the capacity used again.
template <class Event>
using LogAction = Function<void(Nanos bound, LogBatch<Event>& batch)>;

namespace internal {

// What the registry knows of a log of any type.
class LogBase : public LocalCounted<LogBase> {
 public:
  virtual ~LogBase() = default;
  virtual void flush() = 0;
  [[nodiscard]] TypeId event_type() const noexcept { return event_type_; }

 protected:
  LogBase(const Clock& clock, Nanos origin, TypeId event_type) noexcept
      : clock_(clock), origin_(origin), event_type_(event_type) {}
  LogBase(const LogBase&) = delete;
  LogBase& operator=(const LogBase&) = delete;

  [[nodiscard]] Nanos elapsed() const noexcept { return clock_.now() - origin_; }

 private:
  const Clock& clock_;
  Nanos origin_;
  TypeId event_type_;
};

template <class Event>
class Log final : public LogBase {
 public:
  Log(const Clock& clock, Nanos origin, LogAction<Event> action)
      : LogBase(clock, origin, type_id<Event>()), action_(std::move(action)) {
    LEAT_CHECK(static_cast<bool>(action_), "a log without an action");
    buffer_.reserve(kBatchEvents);
  }
  ~Log() override {
    if (!buffer_.empty()) deliver(elapsed());
  }

  template <class E>
  void log(E&& event) {
    append(elapsed(), std::forward<E>(event));
  }

  template <class Events>
  void log_many(Events&& events) {
    const Nanos time = elapsed();
    for (auto&& event : events) append(time, std::forward<decltype(event)>(event));
  }

  void flush() override {
    if (delivering_) return;
    const Nanos now = elapsed();
    if (!buffer_.empty()) deliver(now);
    call_action(now);
  }

 private:
  // As many as fill 8 KiB, the size of a batch of records.
  static constexpr std::size_t kBatchEvents =
      sizeof(Logged<Event>) >= 8192 ? 1 : 8192 / sizeof(Logged<Event>);

  template <class E>
  void append(Nanos time, E&& event) {
    // A full buffer leaves before the next event comes, not behind the last: a log_many that just
    // fits stays one batch. Events logged by the action itself wait, however many.
    if (buffer_.size() >= kBatchEvents && !delivering_) deliver(time);
    buffer_.push_back(Logged<Event>{time, Event(std::forward<E>(event))});
  }

  void deliver(Nanos bound) {
    out_.swap(buffer_);
    call_action(bound);
  }

  void call_action(Nanos bound) {
    struct Delivering {
      explicit Delivering(Log& log) noexcept : log_(log) { log_.delivering_ = true; }
      ~Delivering() {
        log_.out_.clear();
        log_.delivering_ = false;
      }
      Log& log_;
    } const delivering(*this);
    action_(bound, out_);
  }

  LogAction<Event> action_;
  LogBatch<Event> buffer_;
  LogBatch<Event> out_;  // what the action sees, while it may log into buffer_
  bool delivering_ = false;
};

}  // namespace internal

/// A handle on one log, or on none. Copies share the log; one thread holds them all.
template <class Event>
class Logger {
 public:
  Logger() noexcept = default;

  /// Whether anybody listens. Ask before building an event that costs something.
  explicit operator bool() const noexcept { return log_ != nullptr; }

  /// Logs an event now, if anybody listens.
  template <class E = Event>
  void log(E&& event) const {
    if (log_ != nullptr) [[unlikely]] {
      log_->log(std::forward<E>(event));
    }
  }

  /// Logs several events with one and the same time, if anybody listens.
  template <class Events>
  void log_many(Events&& events) const {
    if (log_ != nullptr) [[unlikely]] {
      log_->log_many(std::forward<Events>(events));
    }
  }

  /// Delivers what is buffered, then a heartbeat. Does nothing from within the log's own action.
  void flush() const {
    if (log_ != nullptr) log_->flush();
  }

 private:
  friend class LogRegistry;  // hands out loggers
  friend class LogBinding;   // turns back into one
  explicit Logger(LocalPtr<internal::Log<Event>> log) noexcept : log_(std::move(log)) {}

  LocalPtr<internal::Log<Event>> log_;
};

/// A handle on a log whose type is not spelt: what stood under a name before.
class LogBinding {
 public:
  LogBinding() noexcept = default;

  explicit operator bool() const noexcept { return log_ != nullptr; }

  /// The same log with its type; an empty logger if events of that log are not `Event`.
  template <class Event>
  [[nodiscard]] Logger<Event> as() const noexcept {
    if (log_ == nullptr || log_->event_type() != type_id<Event>()) return {};
    return Logger<Event>(
        LocalPtr<internal::Log<Event>>(static_cast<internal::Log<Event>*>(log_.get())));
  }

 private:
  friend class LogRegistry;  // hands out bindings
  explicit LogBinding(LocalPtr<internal::LogBase> log) noexcept : log_(std::move(log)) {}

  LocalPtr<internal::LogBase> log_;
};

/// The logs of one worker by name.
class LogRegistry {
 public:
  /// Times count from `origin`; give the registries of all workers the same one.
  LogRegistry(const Clock& clock, Nanos origin) noexcept : clock_(clock), origin_(origin) {}
  explicit LogRegistry(const Clock& clock) noexcept : LogRegistry(clock, clock.now()) {}
  LogRegistry(const LogRegistry&) = delete;
  LogRegistry& operator=(const LogRegistry&) = delete;

  /// Binds `name` to a new log with this action.
  ///
  /// Returns: what stood there before, alive as long as you or a logger hold it; empty if nothing
  /// did.
  template <class Event>
  LogBinding insert(std::string_view name, LogAction<Event> action) {
    check_thread();
    LocalPtr<internal::LogBase> log =
        make_local<internal::Log<Event>>(clock_, origin_, std::move(action));
    return insert_log(name, std::move(log));
  }

  /// Binds `name` to a log that exists. An empty logger removes the name.
  template <class Event>
  LogBinding insert_logger(std::string_view name, const Logger<Event>& logger) {
    if (!logger) return remove(name);
    return insert_log(name, logger.log_);
  }

  /// Unbinds `name`; loggers handed out stay alive.
  LogBinding remove(std::string_view name);

  /// The log under `name`; an empty logger if there is none, or if its events are not `Event`.
  template <class Event>
  [[nodiscard]] Logger<Event> get(std::string_view name) const {
    return find(name).as<Event>();
  }

  /// Whether no name is bound: nobody listens to what begins now.
  [[nodiscard]] bool empty() const noexcept { return logs_.empty(); }

  /// Flushes every log that has a name.
  void flush();

 private:
  LogBinding insert_log(std::string_view name, LocalPtr<internal::LogBase> log);
  [[nodiscard]] LogBinding find(std::string_view name) const;
  void check_thread() const noexcept {
    LEAT_DCHECK(owner_ == this_thread_tag(), "a log registry was used by another thread");
  }

  const Clock& clock_;
  Nanos origin_;
  ThreadTag owner_ = this_thread_tag();
  std::map<std::string, LocalPtr<internal::LogBase>, std::less<>> logs_;
};

}  // namespace leat::core
