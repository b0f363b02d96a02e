// What is counted inside one thread may not be captured for another.
// expect: event_link: these records must stay on their worker (IsSendable<Record> is false)
#include <cstdint>
#include <utility>

#include <leat/dataflow.hpp>

namespace df = leat::dataflow;

struct Node : leat::LocalCounted<Node> {
  std::uint64_t key = 0;
};

auto build(df::Scope<std::uint64_t>& scope, df::Input<leat::LocalPtr<Node>>& nodes) {
#ifdef RIGHT
  auto [writer, reader] = df::event_list<std::uint64_t, std::vector<leat::LocalPtr<Node>>>();
  scope.input(nodes) | df::capture_into(std::move(writer));
  return std::move(reader);
#else
  return scope.input(nodes) | df::capture();
#endif
}
