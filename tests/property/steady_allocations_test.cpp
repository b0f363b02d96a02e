// A dataflow in a steady state allocates nothing: every call of operator new is counted while a
// barrier, a ping-pong and an exchange go round. And a round costs what the protocol says, however
// many workers agree: one entry of each, read by each of the others.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/sanitizers.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace {

std::uint64_t allocations = 0;  // the tests have one thread

}  // namespace

#if !LEAT_TSAN  // whose own cannot be replaced: nothing is counted under it
namespace {

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  bytes = (bytes + alignment - 1) / alignment * alignment;
  if (void* const memory = std::aligned_alloc(alignment, bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// Not inlined: g++ would see a delete that frees.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
#endif

namespace leat::dataflow {
namespace {

using test::World;
using Time = std::uint64_t;

constexpr std::uint64_t kWarmUp = 2'000;
constexpr std::uint64_t kSteps = 100'000;
constexpr Time kNever = kWarmUp + 4 * kSteps;

class SteadyState : public ::testing::TestWithParam<std::size_t> {
 protected:
  /// What `once()` allocates when it is called kSteps times, after kWarmUp times; or, as a worker
  /// alone goes round many times in a step, until `rounds` counted kSteps of them.
  template <class F>
  std::uint64_t allocated_by(F&& once, const std::uint64_t& rounds) {
    for (std::uint64_t i = 0; i < kWarmUp; ++i) once();
    const std::uint64_t before = allocations;
    const std::uint64_t first = rounds;
    for (std::uint64_t i = 0; i < kSteps && rounds - first < kSteps; ++i) once();
    return allocations - before;
  }

  World world{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Workers, SteadyState, ::testing::Values(1, 2));

// The barrier on every worker; `rounds[index]` is how far worker `index` got.
void build_barriers(World& world, std::vector<Time>& rounds) {
  for (std::size_t index = 0; index < rounds.size(); ++index) {
    world[index].dataflow([&](auto& scope) {
      auto [handle, stream] = feedback<Time>(scope, 1);
      stream |
          unary_notify<Time>(pipeline, "barrier",
                             [&round = rounds[index]](Capability<Time> first, const OperatorInfo&) {
                               return [&round, first = std::move(first)](
                                          auto& input, auto&, auto& notificator) mutable {
                                 if (first) notificator.notify_at(std::move(first));
                                 while (auto done = notificator.next(input.frontier())) {
                                   round = done->time() + 1;
                                   if (round < kNever)
                                     notificator.notify_at(done->capability.delayed(round));
                                 }
                               };
                             }) |
          connect_loop(std::move(handle));
    });
  }
}

TEST_P(SteadyState, ABarrierAllocatesNothing) {
  std::vector<Time> rounds(GetParam(), 0);
  build_barriers(world, rounds);
  const Time before = rounds[0];
  EXPECT_EQ(allocated_by([&] { world.steps(1); }, rounds[0]), 0U);
  EXPECT_GE(rounds[0] - before, kSteps / 2);
}

TEST_P(SteadyState, APingPongAllocatesNothing) {
  std::uint64_t seen = 0;
  for (std::size_t index = 0; index < GetParam(); ++index) {
    world[index].dataflow([&](auto& scope) {
      std::vector<std::uint64_t> own(index == 0 ? 1 : 0, 0);
      auto [handle, cycle] = feedback<std::uint64_t>(scope, 1);
      auto branches = to_stream(scope, std::move(own)) | concat(std::move(cycle)) |
                      exchange([](const std::uint64_t& record) { return record; }) |
                      map_in_place([&seen](std::uint64_t& record) { seen = ++record; }) |
                      branch_when([](Time time) { return time + 1 < kNever; });
      branches.if_true | connect_loop(std::move(handle));
    });
  }
  EXPECT_EQ(allocated_by([&] { world.steps(1); }, seen), 0U);
  EXPECT_GE(seen, kSteps / 2);
}

TEST_P(SteadyState, AnExchangeAllocatesNothing) {
  std::vector<Input<std::uint64_t>> inputs(GetParam());
  std::vector<Probe<>> probes(GetParam());
  std::uint64_t received = 0;
  for (std::size_t index = 0; index < GetParam(); ++index) {
    world[index].dataflow([&](auto& scope) {
      scope.input(inputs[index]) | exchange([](const std::uint64_t& record) { return record; }) |
          inspect([&received](std::uint64_t) { ++received; }) | probe(probes[index]);
    });
  }
  Time epoch = 0;
  const auto one_epoch = [&] {
    for (auto& input : inputs) {
      input.send(epoch);
      input.advance_to(epoch + 1);
    }
    ++epoch;
    while (probes[0].less_than(epoch)) world.steps(1);
  };
  EXPECT_EQ(allocated_by(one_epoch, epoch), 0U);
  EXPECT_GE(received, kSteps * GetParam());
}

TEST(Growth, ARoundIsOneEntryOfEachWorkerAndNothingElse) {
  constexpr std::uint64_t kRounds = 200;
  for (const std::size_t workers : {2U, 3U, 4U, 8U, 16U, 32U, 64U}) {
    SCOPED_TRACE(workers);
    World world(workers);
    std::vector<Time> rounds(workers, 0);
    build_barriers(world, rounds);
    world.steps(3 * kRounds);  // until chunks of the logs go round as well

    const auto total = [&] {
      WorkerCounters sum;
      for (std::size_t index = 0; index < workers; ++index) {
        const WorkerCounters one = world[index].counters();
        sum.batches += one.batches;
        sum.batches_read += one.batches_read;
        sum.notices += one.notices;
        sum.wakes_sent += one.wakes_sent;
      }
      return sum;
    };
    const Time first = rounds[0];
    const WorkerCounters before = total();
    const std::uint64_t allocated = allocations;
    while (rounds[0] < first + kRounds) world.steps(1);
    const std::uint64_t went = rounds[0] - first;
    EXPECT_EQ(allocations - allocated, 0U);
    EXPECT_EQ(total().batches - before.batches, went * workers);
    EXPECT_EQ(total().batches_read - before.batches_read, went * workers * (workers - 1));
    EXPECT_EQ(total().notices - before.notices, 0U);
    EXPECT_EQ(total().wakes_sent - before.wakes_sent, 0U);
  }
}

}  // namespace
}  // namespace leat::dataflow
