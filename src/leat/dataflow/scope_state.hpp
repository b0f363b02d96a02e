// What      What a scope under construction shares with its streams and operators.
// Invariants  (1) `graph` is valid while `open`; afterwards streams refuse to be used.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/hash.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/dataflow/context.hpp>
#include <leat/progress/subgraph.hpp>

namespace leat::dataflow {

template <progress::Timestamp T>
struct ScopeState final : LocalCounted<ScopeState<T>> {
  ScopeState(Context& context_in, progress::Subgraph<T>& graph_in, progress::NodeName name_in,
             std::vector<std::uint32_t> address_in)
      : context(&context_in),
        graph(&graph_in),
        name(std::move(name_in)),
        address(std::move(address_in)) {}

  Context* context;
  progress::Subgraph<T>* graph;
  progress::NodeName name;
  std::vector<std::uint32_t> address;  // dataflow, child, grandchild, ...: the same on all workers
  bool open = true;
  const void* parent = nullptr;  // the ScopeState of the scope around this one
  void* nested = nullptr;        // the NestedScope<Outer, T> that this is the inside of

  /// Refuses what comes after the scope was built.
  void require_open(const progress::NodeName& who) const {
    if (open) [[likely]]
      return;
    throw UsageError(who.described(), "a stream of scope \"" + name.name + "\"",
                     "a scope that is built already",
                     "connect streams inside the closure that builds their scope");
  }

  /// What all workers must agree on about the child `node` and a thing of kind `what` that it has.
  [[nodiscard]] comm::Signature signature(progress::NodeIndex node, const progress::NodeName& who,
                                          std::string what, std::uint64_t type) const {
    std::string place = "[";
    for (const auto step : address) place += std::to_string(step) + ", ";
    std::string text =
        std::move(what) + " of \"" + who.name + "\" at " + place + std::to_string(node) + "]";
    return {hash_combine(fnv1a(text), type), std::move(text)};
  }
};

/// Refuses a stream that was moved from: it has no scope.
template <progress::Timestamp T>
void require_stream(const LocalPtr<ScopeState<T>>& scope, const progress::NodeName& who) {
  if (scope) [[likely]]
    return;
  throw UsageError(who.described(), "a stream", "a stream that was moved from",
                   "copy the stream for all but its last use");
}

/// Ends the building of a scope however its author's closure is left.
template <progress::Timestamp T>
class Building {
 public:
  explicit Building(LocalPtr<ScopeState<T>> state) : state_(std::move(state)) {}
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;
  ~Building() { state_->open = false; }

 private:
  LocalPtr<ScopeState<T>> state_;
};

}  // namespace leat::dataflow
