// What      StallWatch: a thread that looks now and then what each worker runs, and tells when one
//           actor has not let others run for long: which, for how long, in which calls.
// Limits    Told once for each such turn. A worker is interrupted by a signal at each look, as long
//           as it does not sleep; nothing happens while a runtime has no `Config::on_stall`.
// Source    Seastar's stall detector, Erlang's long_schedule.
#pragma once

#include <leat/actor/config.hpp>
#include <leat/base/clock.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace leat::actor {

class Scheduler;

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
