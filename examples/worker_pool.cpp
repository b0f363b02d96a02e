// A pool of worker processes shares tasks: each task goes to one of them, whoever is free, and if that
// one dies over it, to another. Kill a worker while they work: all tasks are done all the same.
//
//   worker_pool give [TASKS] [WORKERS]     hands out TASKS tasks (20000) once WORKERS (2) are there
//   worker_pool work                       as many of these as you like, also later, also killed
//
// A task is a number, its result is the square. Each is done at least once: a worker that dies between
// telling its result and saying that it is done has it done again. Prints, of `give`:
//   handing out 20000 tasks to 2 workers
//   20000 squares, the sum is 2666466670000
// and of each `work` how many tasks it did.

#include <leat/base/fields.hpp>
#include <leat/core/segment/segment.hpp>
#include <leat/queue/ring/in_segment.hpp>

#include "arguments.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace q = leat::queue;

namespace {

struct Task {
  std::uint64_t number = 0;
  std::uint64_t is_last = 0;  // 1: go home
};
LEAT_FIELDS(Task, number, is_last);

struct Square {
  std::uint64_t number = 0;
  std::uint64_t square = 0;
};
LEAT_FIELDS(Square, number, square);

const leat::core::SegmentName kTasks{.name = "pool-tasks"};
const leat::core::SegmentName kSquares{.name = "pool-squares"};
constexpr auto kPatience = std::chrono::seconds(60);

int fail(const std::string& why) {
  std::fprintf(stderr, "worker_pool: %s\n", why.c_str());
  return 1;
}

q::Ring<Task> open_tasks() {
  return q::create_or_join_ring<Task>(kTasks, {.slots = 256, .reliable = true}).value();
}
q::Ring<Square> open_squares() {
  return q::create_or_join_ring<Square>(
             kSquares, {.kind = q::RingKind::many_producers, .slots = 256, .reliable = true})
      .value();
}

std::uint64_t workers_at(const q::Ring<Task>& tasks) {
  std::uint64_t workers = 0;
  for (const auto& seat : tasks.report().seats) workers += seat.state.role == q::SeatRole::member;
  return workers;
}

int give(std::uint64_t count, std::uint64_t workers) {
  std::uint64_t sum = 0;
  {
    auto tasks = open_tasks();
    auto squares = open_squares();
    auto producer = tasks.single_producer("give");
    auto results = squares.consumer({.label = "give", .reliable = true});
    if (!producer) return fail(producer.error().message);
    if (!results) return fail(results.error().message);
    while (workers_at(tasks) < workers) std::this_thread::yield();
    std::printf("handing out %llu tasks to %llu workers\n", static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(workers));
    std::fflush(stdout);

    std::vector<bool> done(count);
    std::uint64_t given = 0;
    std::uint64_t received = 0;
    std::uint64_t in_vain = 0;
    while (received < count) {
      ++in_vain;
      if (given < count && producer->try_push({.number = given, .is_last = 0}) == q::Push::ok) {
        ++given;
        in_vain = 0;
      }
      Square square;
      while (results->try_pop(square) == q::Pull::ok) {
        in_vain = 0;
        if (done[square.number]) continue;  // done twice: somebody died in between
        done[square.number] = true;
        sum += square.square;
        ++received;
      }
      if (in_vain > 100) std::this_thread::yield();
    }
    std::printf("%llu squares, the sum is %llu\n", static_cast<unsigned long long>(received),
                static_cast<unsigned long long>(sum));
    // One word for each, and one more whenever one is left, until all have gone home.
    while (workers_at(tasks) > 0) {
      static_cast<void>(producer->try_push({.number = 0, .is_last = 1}));
      tasks.repair();
      std::this_thread::yield();
    }
  }
  for (const auto& name : {kTasks, kSquares}) {
    if (auto gone = leat::core::destroy_segment(name, leat::core::Force::yes); !gone) {
      return fail(gone.error().message);
    }
  }
  return 0;
}

int work() {
  auto tasks = open_tasks();
  auto squares = open_squares();
  auto producer = squares.shared_producer("work");
  auto member =
      tasks.member("pool", {.label = "work", .reliable = true, .ack = q::Ack::explicitly});
  if (!producer) return fail(producer.error().message);
  if (!member) return fail(member.error().message);
  std::uint64_t done = 0;
  for (;;) {
    Task task;
    if (member->pop(task, kPatience, q::Waiting::yielding()) != q::Pull::ok) {
      return fail("nobody hands out tasks any more");
    }
    if (task.is_last == 0) {
      const Square square{.number = task.number, .square = task.number * task.number};
      if (producer->push(square, kPatience) != q::Push::ok) return fail("nobody takes results");
      ++done;
    }
    member->ack(member->sequence());
    if (task.is_last == 1) break;
  }
  std::printf("did %llu tasks\n", static_cast<unsigned long long>(done));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = word(argc, argv, 1);
  if (role == "work") return work();
  if (role == "give") {
    return give(number(argc, argv, 2, "TASKS", 20'000), number(argc, argv, 3, "WORKERS", 2));
  }
  return fail("expected \"give\" or \"work\" first");
}
