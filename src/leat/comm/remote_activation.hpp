// What      Activation from threads that are no workers: a thread that waits for a socket, a device
//           or a user has somebody on a worker run, also if that worker sleeps, and learns when
//           nobody is there any more.
// Protocol  The worker makes a `RemotePlace` for whom it concerns and gives activators of it away.
//           `activate` is a sender's half of the doorbell protocol, without a datum; the worker
//           surfaces the bell with those of its channels. Destroying the place closes the bell.
// Invariants
//   (1) An activation that returned true is surfaced if its place lives, and the worker does not
//       sleep before that.
//   (2) After the place is destroyed every activation returns false.
//   (3) An activator keeps the bell, and the ready list and the parker that it may still touch,
//       alive: it may outlive worker and fabric.
// Ordering  notice  (doorbell.hpp) what a thread did before `activate` is visible to whom it
//                   activates.
// Limits    What is announced is that there is something, once: activations that come before the
//           worker looks are one.
// Cost      activate: one read-modify-write; on an edge a compare-exchange and the load of the
//           parker, and a system call if the worker sleeps. Copies of an activator: two counts.
// Source    Timely Dataflow's `SyncActivator` and `SyncActivations`; theirs ends with the worker.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <leat/comm/seat.hpp>
#include <leat/core/bell.hpp>

namespace leat::comm {

namespace internal {
struct RemoteBell final : core::Bell {
  RemoteBell() : core::Bell(&release) {}
  static void release(core::Doorbell* bell) noexcept;

  std::shared_ptr<RemoteBell> self;  // the place's reference, while it lives
};
}  // namespace internal

/// Activates from any thread. Copies are of the same place; a default one is of nobody's.
class RemoteActivator {
 public:
  RemoteActivator() = default;

  /// Has whom it is for run in its worker's next step, and wakes the worker if it sleeps.
  ///
  /// Returns:  false if nobody is there any more: the operator, its dataflow or its worker ended.
  /// Threads:  any. Never waits.
  /// Ordering: what the caller did before is visible to what is run.
  bool activate() const noexcept;

 private:
  friend class RemotePlace;  // makes them
  friend std::size_t activate_all(std::span<const RemoteActivator> whom) noexcept;

  RemoteActivator(std::shared_ptr<internal::RemoteBell> bell, std::shared_ptr<Seat> seat)
      : bell_(std::move(bell)), seat_(std::move(seat)) {}

  std::shared_ptr<internal::RemoteBell> bell_;
  std::shared_ptr<Seat> seat_;
};

/// Activates many; a worker that sleeps is woken once for all of them that are its own, if they
/// stand together.
///
/// Returns: how many were there.
/// Threads: any. Never waits.
std::size_t activate_all(std::span<const RemoteActivator> whom) noexcept;

/// Where activations from other threads arrive. Threads: the worker's own.
class RemotePlace {
 public:
  RemotePlace(Seat& seat, core::Activation whom);
  RemotePlace(const RemotePlace&) = delete;
  RemotePlace& operator=(const RemotePlace&) = delete;
  ~RemotePlace();

  [[nodiscard]] RemoteActivator activator() const;

 private:
  Seat& seat_;
  internal::RemoteBell* bell_;
};

}  // namespace leat::comm
