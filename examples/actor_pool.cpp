// A pool of workers that share tasks, under a supervisor: a worker that fails on a task is started anew, and
// the task that broke it is not given out again. (`worker_pool` does the same with processes.)
//
//   $ actor_pool -w 2
//   100 tasks: 90 done, 10 broke their worker
//   the supervisor started 10 workers anew
#include <leat/actor/mailbox/ask.hpp>
#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/supervise/names.hpp>
#include <leat/actor/supervise/supervisor.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leat::actor;

// [pool]
// A worker asks for a task, and is answered when there is one; so the free ones share what there is.
struct Next {
  using Reply = int;
};
struct Result {
  int task;
  std::uint64_t value;
};

std::uint64_t compute(int task) {
  if (task % 10 == 3) throw std::runtime_error("task " + std::to_string(task) + " cannot be done");
  return static_cast<std::uint64_t>(task) * static_cast<std::uint64_t>(task);
}

void work(Pid master) {
  while (auto task = ask(master, Next{})) {
    (void)send(master, Result{*task, compute(*task)});
  }
}

void give_out(int tasks) {
  const Pid master = self();
  std::vector<ChildSpec> workers;
  for (int i = 0; i < 4; ++i) {
    workers.push_back({.name = "worker " + std::to_string(i), .run = [master] { work(master); }});
  }
  SupervisorOptions options;
  options.intensity = 1000;
  const auto pool = Supervisor::start(options, std::move(workers));

  int given = 0;
  int done = 0;
  std::vector<ReplyTo<int>> idle;
  // When all were given out and all four workers ask for more, each task is done or has broken its
  // worker.
  while (given < tasks || idle.size() < 4) {
    receive(on<Call<Next>>([&](Call<Next> call) {
              if (given < tasks) {
                (void)call.reply(given++);
              } else {
                idle.push_back(std::move(call.reply));
              }
            }),
            on<Result>([&](const Result&) { ++done; }));
  }
  std::printf("%d tasks: %d done, %d broke their worker\n", tasks, done, tasks - done);
  std::uint64_t restarts = 0;
  for (const ChildReport& child : pool.children()) restarts += child.restarts;
  std::printf("the supervisor started %llu workers anew\n",
              static_cast<unsigned long long>(restarts));
  (void)pool.stop();
}
// [/pool]

}  // namespace

int main(int argc, char** argv) {
  std::size_t threads = 1;
  if (argc == 3 && std::string_view(argv[1]) == "-w") threads = std::strtoul(argv[2], nullptr, 10);
  Runtime runtime(Config::exact(threads));
  runtime.run([] { give_out(100); });
}
