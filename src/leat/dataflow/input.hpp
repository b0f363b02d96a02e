// What      Input from outside: what a program sends records into, and how it tells the dataflow
//           that times are over.
// Protocol  `send` puts records at the current time into a batch; `flush` and `send_batch` close
//           it; `advance_to` closes it and moves the time on; destruction or `close` ends the
//           input.
// Invariants
//   (1) Records and times of one handle reach each dataflow in the order they were given.
//   (2) What user code throws while records are sent (a route, a copy) ends the dataflow that it
//       belongs to, as an exception of an operator does, and leaves the handle's function; other
//       dataflows of the handle have got what it sent.
//   (3) To a dataflow that ended, was cancelled or dropped, or failed, nothing is sent. A handle
//       without a dataflow drops what it is given.
// Threads   The worker's own.
// Source    Timely Dataflow's `InputHandle`.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/base/thread_tag.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/scope.hpp>

namespace leat::dataflow {

namespace internal {
/// Keeps what an input's edges keep for records to come.
template <progress::Timestamp T, Container C>
struct InputSpares final : LocalCounted<InputSpares<T, C>>, core::Keeper {
  explicit InputSpares(LocalPtr<Tee<T, C>> tee_in) : tee(std::move(tee_in)) {}
  void keep(const OutputToken<T>& token) {
    if (!used_again()) [[unlikely]]
      used(token.scope->context->plane.spares());
  }
  void release_spares() override { tee->release_spares(); }

  LocalPtr<Tee<T, C>> tee;
};
}  // namespace internal

template <class Record, progress::Timestamp T = std::uint64_t>
class Input {
  static_assert(progress::Order<T>::is_total,
                "Input: its time must be totally ordered; use unordered_input for others");

 public:
  using Batch = BatchOf<Record>;
  using leat_stays_on_its_worker = void;

  Input() = default;
  Input(Input&&) = default;
  /// Ends this input first.
  Input& operator=(Input&& other) {
    if (this != &other) {
      close();
      who_ = std::move(other.who_);
      attached_ = std::move(other.attached_);
      batch_ = std::move(other.batch_);
      time_ = other.time_;
      unflushed_ = std::exchange(other.unflushed_, false);
      closed_ = other.closed_;
    }
    return *this;
  }
  /// Ends the input; after an exception it gives up what was not sent.
  ~Input() noexcept(false) {
    // What was shipped is counted, so it must arrive.
    if (std::uncaught_exceptions() > exceptions_) batch_.clear();
    close();
  }

  /// The current time: of what is sent next.
  [[nodiscard]] const T& time() const noexcept { return time_; }

  /// Sends one record at the current time. It may wait in a batch until `flush` or `advance_to`.
  void send(RecordOf<Batch> record) { push(std::move(record)); }
  /// The same of anything that the input's batches take, such as a text for a column of texts.
  template <class R>
    requires(!std::same_as<Batch, std::vector<Record>> && PushInto<Batch, R> &&
             !std::is_arithmetic_v<std::remove_cvref_t<R>>)
  void send(R&& record) {
    push(std::forward<R>(record));
  }

  /// Sends a batch, together with what waits from `send`, as exactly one; leaves an empty one.
  ///
  /// Workers that sleep are told: no `flush` is needed.
  void send_batch(Batch& records) {
    require_open("a batch to be sent");
    if (record_count(batch_) == 0) {
      std::swap(batch_, records);
    } else {
      for (auto&& record : records) batch_.push_back(std::move(record));
    }
    flush();
    records.clear();
  }
  void send_batch(Batch&& records) { send_batch(records); }

  /// Closes the batch: everything sent so far is on its way to its worker. Nothing happens if
  /// nothing waits.
  void flush() {
    ship();
    if (!unflushed_) return;
    unflushed_ = false;
    forget_ended();
    for (auto& to : attached_) from_outside(to, [&] { to.tee->flush(); });
    forget_failed();
  }

  /// Says that everything before `time` was sent.
  ///
  /// Errors: `UsageError` if `time` is before the current time; nothing changes then.
  void advance_to(const T& time) {
    require_open("its time to be advanced");
    if (!progress::less_equal(time_, time)) {
      throw UsageError(described(), "to advance to time " + show(time),
                       "a current time of " + show(time_), "times of an input only move forward");
    }
    flush();
    if (time == time_) return;
    time_ = time;
    for (auto& to : attached_) to.capability.downgrade(time_);
  }

  /// Ends the input. Destruction does the same; a second time does nothing.
  void close() {
    if (closed_) return;
    flush();
    attached_.clear();
    closed_ = true;
  }

  /// For `Scope::input`.
  ///
  /// Errors: `UsageError` if the input is closed, or feeds a dataflow and its records cannot be
  ///         copied for another.
  void attach(Capability<T> capability, LocalPtr<Tee<T, Batch>> tee) {
    const auto& name = *capability.token()->operator_name;
    if (who_.empty()) who_ = name.described();
    require_open("a dataflow to be fed");
    forget_ended();
    if (!CopyableContainer<Batch> && !attached_.empty()) {
      throw UsageError(name.described(), "a dataflow to be fed",
                       "an input that feeds another one, with records that cannot be copied",
                       "give each dataflow an input of its own");
    }
    flush();
    capability.downgrade(time_);
    auto spares = make_local<internal::InputSpares<T, Batch>>(tee);
    attached_.push_back({std::move(capability), std::move(tee), std::move(spares)});
  }

 private:
  struct Attached {
    Capability<T> capability;
    LocalPtr<Tee<T, Batch>> tee;
    LocalPtr<internal::InputSpares<T, Batch>> spares;
  };

  [[nodiscard]] std::string described() const { return who_.empty() ? "input" : who_; }

  void require_own_thread() const {
    if (attached_.empty() || attached_.front().capability.token()->owner == this_thread_tag())
        [[likely]]
      return;
    throw UsageError(described(), "records to be sent on the worker that owns it", "another thread",
                     "hand the records to that worker's own thread");
  }

  // Dataflows that ended, or were dropped, before the input did: nobody is there any more.
  void forget_ended() {
    std::erase_if(attached_,
                  [](const Attached& to) { return to.capability.token()->ledger->closed(); });
  }

  template <class R>
  void push(R&& record) {
    require_open("a record to be sent");
    batch_.push_back(std::forward<R>(record));
    if (at_capacity(batch_)) ship();
  }

  void require_open(const char* what) const {
    if (closed_)
      throw UsageError(described(), what, "an input that was closed",
                       "close it after the last record");
  }

  void ship() {
    if (record_count(batch_) == 0) return;
    forget_ended();
    require_own_thread();
    for (std::size_t i = 0; i < attached_.size(); ++i) {
      const bool is_last = i + 1 == attached_.size();
      from_outside(attached_[i], [&] {
        attached_[i].spares->keep(*attached_[i].capability.token());
        Message<T, Batch> message{Stamp<T>(time_), {}};
        if constexpr (CopyableContainer<Batch>) {
          if (!is_last) message.batch = batch_;
        }
        if (is_last) message.batch = std::move(batch_);
        attached_[i].tee->push(message);
        if (attached_[i].tee->may_hold()) unflushed_ = true;
        if (is_last) batch_ = std::move(message.batch);
      });
    }
    batch_.clear();
    forget_failed();
  }

  // The others get theirs before an exception leaves.
  template <class F>
  void from_outside(const Attached& to, F&& f) {
    try {
      dataflow::from_outside(*to.capability.token(), f);
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void forget_failed() {
    if (!failure_) [[likely]]
      return;
    forget_ended();
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  std::string who_;  // the operator that first took from this input; empty before
  std::vector<Attached> attached_;
  Batch batch_;
  T time_ = progress::TimestampTraits<T>::minimum();
  bool unflushed_ = false;  // something waits in an edge
  bool closed_ = false;
  std::exception_ptr failure_;  // of code that ran while records were sent; on its way out
  int exceptions_ = std::uncaught_exceptions();  // under way when this was made
};

template <progress::Timestamp T>
template <class Record>
StreamOf<T, Record> Scope<T>::input(Input<Record, T>& handle, std::string name,
                                    std::source_location where) {
  OperatorBuilder<T> builder(state_, std::move(name), where);
  builder.held_outside("input handle");
  auto [port, stream] = builder.template new_output<BatchOf<Record>>();
  builder.build([&](std::vector<Capability<T>> capabilities) {
    handle.attach(std::move(capabilities[0]), port.core()->tee);
    return [] {};
  });
  return std::move(stream);
}

}  // namespace leat::dataflow
