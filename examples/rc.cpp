// Records that may not leave their worker: they are counted without atomics, so an exchange of them
// would not compile. A pipeline takes them as they are, and `shared` shows one batch of them to
// several consumers.
//
//   rc [flags]      for example: rc -w 2
//
// Each worker prints "hello Test { _field: r }" for r = 0 to 9.

#include <leat/dataflow.hpp>

#include <cstdint>
#include <cstdio>

namespace df = leat::dataflow;

struct Test final : leat::LocalCounted<Test> {
  explicit Test(std::uint64_t field) : field_(field) {}
  std::uint64_t field_;
};
using TestPtr = leat::LocalPtr<Test>;

int main(int argc, char** argv) {
  const auto outcome = df::execute_from_args(argc, argv, [](df::Worker& worker) {
    df::Input<TestPtr> input;
    df::Probe<> probe;
    std::uint64_t sum = 0;
    worker.dataflow([&](auto& scope) {
      auto tests = scope.input(input) | df::shared();
      tests | df::inspect([](const TestPtr& test) {
        std::printf("hello Test { _field: %lu }\n", test->field_);
      });
      tests | df::inspect([&sum](const TestPtr& test) { sum += test->field_; }) | df::probe(probe);
    });
    for (std::uint64_t round = 0; round < 10; ++round) {
      input.send(leat::make_local<Test>(round));
      input.advance_to(round + 1);
      worker.step_or_park_while([&] { return probe.less_than(input.time()); });
    }
    if (sum != 45) std::printf("the second consumer saw %lu\n", sum);
  });
  return outcome.exit_code();
}
