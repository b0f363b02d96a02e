// What      Whose code threw in a fabric, kept apart from what the workers' functions make of it: a
//           program may catch an exception of an operator and go on, or return, and its peers and
//           whoever waits for the run must learn of it all the same.
// Protocol  A worker out of which an exception came notes it, and stops its peers. The building of
//           a dataflow is told for every worker that tries, whether it stood or failed: if all fail
//           alike nothing is amiss, and if some stand and one failed, that one is a failure.
//           Afterwards `run_workers` asks for what was noted.
// Invariants  (1) Of each worker the first failure is kept, as it was thrown.
// Threads   Any, under a mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace leat::comm {

/// What user code threw on one worker, and whose code it was.
struct Failure {
  std::size_t worker = 0;
  std::string where;  // may be empty
  std::exception_ptr error;
};

class Failures {
 public:
  explicit Failures(std::size_t workers) : first_(workers) {}

  /// Keeps `failure` if it is its worker's first. Returns: whether it is.
  bool note(Failure failure);
  /// The first failure of `worker`, if it had one.
  [[nodiscard]] std::optional<Failure> of(std::size_t worker) const;

  /// A worker built the dataflow `id`, or failed to. Once per worker and id.
  ///
  /// Returns: a failure that not all workers share, as soon as one is known.
  [[nodiscard]] std::optional<Failure> built(std::uint64_t id, std::optional<Failure> failure);

 private:
  struct Building {
    std::size_t arrived = 0;
    std::size_t stood = 0;
    std::optional<Failure> failure;  // the first
  };

  mutable std::mutex mutex_;                              // guards all that follows
  std::vector<std::optional<Failure>> first_;             // by worker
  std::unordered_map<std::uint64_t, Building> building_;  // those that not all have come to
};

}  // namespace leat::comm
