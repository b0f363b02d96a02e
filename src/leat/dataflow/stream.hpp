// What      A stream of batches in a scope under construction: what operators are applied to.
// Invariants
//   (1) A handle can be copied if its batches can; else it can only be moved, and so has one
//       consumer.
//   (2) It can be used only while its scope is being built.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <leat/base/type_name.hpp>
#include <leat/dataflow/scope_state.hpp>
#include <leat/dataflow/tee.hpp>

namespace leat::dataflow {

namespace internal {
// Takes copying away from what derives from it.
struct MoveOnly {
  MoveOnly() = default;
  MoveOnly(MoveOnly&&) = default;
  MoveOnly& operator=(MoveOnly&&) = default;
};
struct MayCopy {};
}  // namespace internal

template <progress::Timestamp T, Container C>
class Stream
    : private std::conditional_t<CopyableContainer<C>, internal::MayCopy, internal::MoveOnly> {
 public:
  using Time = T;
  using Batch = C;
  using Record = RecordOf<C>;

  Stream(LocalPtr<ScopeState<T>> scope, progress::PortIndex source, LocalPtr<Tee<T, C>> tee,
         bool counted = true)
      : scope_(std::move(scope)), source_(source), tee_(std::move(tee)), counted_(counted) {}

  /// Adds a consumer: an edge to `target`, and the push that carries batches there, as `pact` says.
  /// For builders.
  void connect(progress::PortIndex target, PushPtr<T, C> push,
               const char* pact) const {
    scope_->graph->add_edge(source_, target, pact, type_name<C>());
    tee_->add(std::move(push));
  }
  [[nodiscard]] const LocalPtr<ScopeState<T>>& scope_state() const noexcept { return scope_; }
  /// False for what a child scope emits: progress hears of it from the child scope itself.
  [[nodiscard]] bool counted() const noexcept { return counted_; }

 private:
  LocalPtr<ScopeState<T>> scope_;
  progress::PortIndex source_;
  LocalPtr<Tee<T, C>> tee_;
  bool counted_;
};

/// A stream of `Record`s in the default batches, or, of `Batched<C>`, in batches `C`.
template <progress::Timestamp T, class Record>
using StreamOf = Stream<T, BatchOf<Record>>;

}  // namespace leat::dataflow
