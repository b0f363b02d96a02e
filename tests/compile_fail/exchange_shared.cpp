// Shared batches are counted without atomics: they may not be sent to another worker.
// expect: exchange: these batches must stay on their worker (IsSendable<Batch> is false)
#include <cstdint>

#include <leat/dataflow.hpp>

namespace df = leat::dataflow;

auto build(df::Scope<std::uint64_t>& scope, df::Input<std::uint64_t>& numbers) {
#ifdef RIGHT
  return scope.input(numbers) | df::shared() |
         df::map([](std::uint64_t number) { return number; }) | df::exchange(df::hash);
#else
  return scope.input(numbers) | df::shared() | df::exchange(df::hash);
#endif
}
