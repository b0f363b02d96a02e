// What      StallWatch: a thread that looks now and then what each worker runs, and tells when one
//           actor has not let others run for long: which, for how long, in which calls.
// Limits    Told once for each such turn. A worker is interrupted by a signal at each look, as long
//           as it does not sleep; nothing happens while a runtime has no `Config::on_stall`.
// Source    Seastar's stall detector, Erlang's long_schedule.
#pragma once

#include <leat/actor/config.hpp>
#include <leat/base/clock.hpp>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace leat::actor {

class Scheduler;
class Worker;

/// What one worker runs, at some moment.
struct WorkerSample {
  std::uint64_t turn = 0;
  Pid pid;  ///< none: no actor
  std::array<char, 64> name{};
  std::size_t name_size = 0;
  std::array<void*, 40> calls{};
  std::size_t call_count = 0;
};
/// Interrupts the worker's thread for it. Returns: false if it sleeps, or did not answer.
/// Threads: any but the worker's own.
bool sample_worker(Worker& worker, WorkerSample& sample);

class StallWatch {
 public:
  explicit StallWatch(Scheduler& scheduler);
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;
  ~StallWatch();

 private:
  struct Seen {
    std::uint64_t turn = 0;
    Pid pid;
    Nanos since{0};
    bool told = false;
  };
  void run();
  void look_at(std::size_t worker, Seen& seen);

  Scheduler& scheduler_;
  std::vector<Seen> seen_;  // the thread's
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace leat::actor
