// A stream whose records cannot be copied has one consumer: its handle can be moved, not copied.
// expect: deleted
// expect: Stream<
#include <cstdint>
#include <memory>

#include <leat/dataflow.hpp>

namespace df = leat::dataflow;

auto build(df::Scope<std::uint64_t>& scope, df::Input<std::unique_ptr<int>>& boxes) {
  auto stream = scope.input(boxes);
  auto open = df::map([](std::unique_ptr<int> box) { return *box; });
#ifdef RIGHT
  return std::move(stream) | std::move(open);
#else
  return stream | std::move(open);
#endif
}
