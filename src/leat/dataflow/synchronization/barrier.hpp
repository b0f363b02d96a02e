// What      A barrier for all workers: none goes on past round k before each has come to it.
// Shape     A dataflow without records: an input whose time is the round, and a probe on it.
// Protocol  `wait` in every round on every worker; or `advance`, other work, and `reached`.
// Threads   The worker's own. While it waits the worker runs its dataflows, and sleeps if they have
//           nothing to do.
// Source    Timely Dataflow's `Barrier`; theirs never sleeps.
#pragma once

#include <cstdint>
#include <source_location>

#include <leat/dataflow/input.hpp>
#include <leat/dataflow/probe.hpp>
#include <leat/dataflow/worker.hpp>

namespace leat::dataflow {

class Barrier {
 public:
  /// Builds its dataflow: all workers must, in the same order as their others.
  explicit Barrier(Worker& worker, std::source_location where = std::source_location::current());
  Barrier(Barrier&&) noexcept;
  ~Barrier();

  /// Comes to the next round, and returns when all workers have.
  void wait();
  /// Comes to the next round without waiting for the others.
  void advance();
  /// Whether all workers have come to the round that this one is in. Step the worker to find out.
  [[nodiscard]] bool reached() const;
  /// How many rounds this worker has come to.
  [[nodiscard]] std::uint64_t round() const noexcept { return input_.time(); }

 private:
  struct Nothing {};

  Worker& worker_;
  Probe<> probe_;
  Input<Nothing> input_;
};

}  // namespace leat::dataflow
