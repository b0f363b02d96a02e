// What is counted inside one thread may not be sent to another.
// expect: exchange: these records must stay on their worker (IsSendable<Record> is false)
#include <cstdint>

#include <leat/dataflow.hpp>

namespace df = leat::dataflow;

struct Node : leat::LocalCounted<Node> {
  std::uint64_t key = 0;
};

auto build(df::Scope<std::uint64_t>& scope, df::Input<leat::LocalPtr<Node>>& nodes) {
#ifdef RIGHT
  return scope.input(nodes) | df::map([](const leat::LocalPtr<Node>& node) { return node->key; }) |
         df::exchange(df::hash);
#else
  return scope.input(nodes) |
         df::exchange([](const leat::LocalPtr<Node>& node) { return node->key; });
#endif
}
