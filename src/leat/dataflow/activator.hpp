// What      How an operator is run from elsewhere: by its own logic or by the program (`Activator`),
//           later (`activate_after`), from other threads (`RemoteActivator`), and when something
//           that it gave away is dropped (`ActivateOnDrop`).
// Protocol  An operator's constructor gets its activator in `OperatorInfo`. Activations before the
//           operator runs are one. All of them may outlive the operator: they have no effect then,
//           and a remote one says so.
// Source    Timely Dataflow's `Activator`, `SyncActivator`, `ActivateOnDrop`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <leat/base/clock.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/comm/remote_activation.hpp>
#include <leat/core/activation.hpp>
#include <leat/dataflow/context.hpp>

namespace leat::dataflow {

/// Activates an operator from any thread; see `Activator::remote`.
using comm::activate_all;
using comm::RemoteActivator;

/// What an activator knows of its operator, whatever that is: where to activate it, which is
/// nobody's once it has ended.
struct ActivationPlace : LocalCounted<ActivationPlace> {
  ActivationPlace() = default;
  ActivationPlace(const ActivationPlace&) = delete;
  ActivationPlace& operator=(const ActivationPlace&) = delete;
  virtual ~ActivationPlace() = default;

  std::uint32_t node = 0;  // within its scope
  core::Activation target;
  Context* context = nullptr;  // of its worker
  std::int64_t fuel = 0;       // records that this activation may still take in and put out
  std::unique_ptr<comm::RemotePlace> remote;

  void begins(Context& of, core::Activation whom) {
    target = whom;
    context = &of;
  }
  void has_ended() noexcept {
    target = core::Activation();
    context = nullptr;
    fuel = 0;
    remote.reset();
  }
};

/// Has an operator run in its worker's next step. Copies are of the same operator.
///
/// Threads: the worker's own. No effect after the operator, or its dataflow, has ended.
class Activator {
 public:
  using leat_stays_on_its_worker = void;

  Activator() = default;
  explicit Activator(LocalPtr<ActivationPlace> place) : place_(std::move(place)) {}

  void activate() const {
    if (place_) place_->target.put_off();
  }

  /// Whether this activation has done its share: the operator should put off what is left, activate
  /// itself and return, so that others get their turn. For logic that makes much of little; what an
  /// input port gives out is bounded by itself.
  ///
  /// Cost: a load. Records count when their batch is full or their session ends.
  [[nodiscard]] bool should_yield() const noexcept { return fuel_left() <= 0; }
  /// How many records this activation may still take in and put out; 0 or less when it has done its
  /// share, and 0 of an operator that has ended.
  [[nodiscard]] std::int64_t fuel_left() const noexcept { return place_ ? place_->fuel : 0; }

  /// Has the operator run in the first step at or after `delay` from now. A worker that sleeps
  /// wakes for it.
  ///
  /// At once if the worker has no clock, or if `delay` is not above zero. Each call is a timer.
  void activate_after(Nanos delay) const {
    if (!place_ || place_->context == nullptr) return;
    if (delay <= Nanos{0}) {
      activate();
      return;
    }
    place_->context->scheduler.timers().arm_after(delay,
                                                  [place = place_] { place->target.activate(); });
  }

  /// An activator of the same operator for other threads; it also wakes a worker that sleeps. One
  /// of nobody's if the operator has ended.
  [[nodiscard]] RemoteActivator remote() const {
    if (!place_ || place_->context == nullptr) return {};
    if (!place_->remote) {
      place_->remote = std::make_unique<comm::RemotePlace>(place_->context->seat, place_->target);
    }
    return place_->remote->activator();
  }

 private:
  LocalPtr<ActivationPlace> place_;
};

/// Something that an operator gave away; the operator runs when it has been dropped.
///
/// A capability outside, for one: progress hears of its end from the capability itself, the
/// operator from this. Threads: the worker's own.
template <class T>
class ActivateOnDrop {
 public:
  using leat_stays_on_its_worker = void;

  ActivateOnDrop(T value, Activator whom) : value_(std::move(value)), whom_(std::move(whom)) {}
  ActivateOnDrop(ActivateOnDrop&& other) noexcept
      : value_(std::move(other.value_)), whom_(std::move(other.whom_)) {
    other.value_.reset();
  }
  ActivateOnDrop& operator=(ActivateOnDrop&& other) noexcept {
    if (this != &other) {
      drop();
      value_ = std::move(other.value_);
      whom_ = std::move(other.whom_);
      other.value_.reset();
    }
    return *this;
  }
  ActivateOnDrop(const ActivateOnDrop&) = delete;
  ActivateOnDrop& operator=(const ActivateOnDrop&) = delete;
  ~ActivateOnDrop() { drop(); }

  /// Destroys the value now, and activates. A second time does nothing.
  void drop() {
    if (!value_) return;
    value_.reset();
    whom_.activate();
  }
  /// False after a move or `drop`.
  [[nodiscard]] explicit operator bool() const noexcept { return value_.has_value(); }

  /// Requires: not empty.
  [[nodiscard]] T& operator*() noexcept { return *value_; }
  [[nodiscard]] const T& operator*() const noexcept { return *value_; }
  [[nodiscard]] T* operator->() noexcept { return &*value_; }
  [[nodiscard]] const T* operator->() const noexcept { return &*value_; }

 private:
  std::optional<T> value_;
  Activator whom_;
};

}  // namespace leat::dataflow
