// Memory of one's own for messages: where they travel as bytes (-z, or several processes), the buffers
// that they are put together in are pages that this program maps itself, and asks to be huge.
//
//   mapped_memory [flags]      for example: mapped_memory -w 4
//
// Each of w workers sends itself and the others the numbers from 0 to 9 999 in ten rounds, each to the
// worker that it belongs to. The workers print between them, in any order,
//
//   worker i: 10·w·(numbers below 10 000 that leave i when divided by w) numbers
//
// and then the program
//
//   all buffers were mapped here, and none is left

#include <leat/core/options.hpp>
#include <leat/dataflow.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <sys/mman.h>

namespace df = leat::dataflow;

// [mapped_memory]
// Of buffers: how many were ever made, and how many are left.
struct Counts {
  std::atomic<int> made = 0;
  std::atomic<int> left = 0;
};

leat::core::OwnedBytes map(std::size_t bytes, Counts& counts) {
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  ::madvise(at, bytes, MADV_HUGEPAGE);  // if the kernel has them
  ++counts.made;
  ++counts.left;
  std::shared_ptr<void> owner(at, [bytes, &counts](void* mapped) {
    ::munmap(mapped, bytes);
    --counts.left;
  });
  return {std::move(owner), {static_cast<std::byte*>(at), bytes}};
}
// [/mapped_memory]

void send_numbers(df::Worker& worker) {
  df::Input<std::uint64_t> input;
  df::Probe<> probe;
  std::uint64_t count = 0;
  worker.dataflow([&](auto& scope) {
    scope.input(input) | df::exchange([](std::uint64_t number) { return number; }) |
        df::inspect([&](std::uint64_t) { ++count; }) | df::probe(probe);
  });
  for (std::uint64_t round = 0; round < 10; ++round) {
    for (std::uint64_t number = 0; number < 10'000; ++number) input.send(number);
    input.advance_to(round + 1);
    worker.step_or_park_while([&] { return probe.less_than(input.time()); });
  }
  input.close();
  while (worker.step_or_park()) {
  }
  std::printf("worker %zu: %lu numbers\n", worker.index(), count);
}

int main(int argc, char** argv) {
  auto args = leat::core::parse_args(argc, argv);
  if (!args || args->help) {
    std::fprintf(args ? stdout : stderr, "%s\n",
                 args ? std::string(leat::core::usage()).c_str() : args.error().message.c_str());
    return args ? 0 : 2;
  }
  Counts counts;
  args->config.zerocopy = true;
  args->config.network.refill = [&](std::size_t bytes) { return map(bytes, counts); };
  const int code = df::execute(args->config, send_numbers).exit_code();
  if (code != 0) return code;
  // A worker that is alone sends itself nothing as bytes.
  const bool is_alone = args->config.workers * args->config.network.processes == 1;
  if ((counts.made == 0 && !is_alone) || counts.left != 0) return 1;
  std::printf("all buffers were mapped here, and none is left\n");
  return 0;
}
