// What      How streams cross the boundary of a scope: `enter` into a child scope, `leave` out of
//           one.
// Invariants
//   (1) What enters is written in the inner scope's ledger as gone from its input and come to its
//       inner targets, in one batch; the parent hears that it was consumed when that batch is
//       applied.
//   (2) What leaves is written in the inner ledger as come to the scope's output; the parent counts
//       it as produced when that batch is applied, and not before.
#pragma once

#include <memory>
#include <source_location>
#include <utility>

#include <leat/dataflow/edges.hpp>
#include <leat/dataflow/scope.hpp>
#include <leat/dataflow/stream.hpp>
#include <leat/progress/nested_scope.hpp>

namespace leat::dataflow {

namespace internal {

template <class Outer, class Inner, Container C>
class EnterPush final : public Push<Outer, C> {
 public:
  EnterPush(EdgeCount<Outer> count, LocalPtr<progress::Ledger<Inner>> ledger,
            progress::PortIndex source, LocalPtr<Tee<Inner, C>> tee,
            LocalPtr<progress::ChannelLog> log)
      : count_(std::move(count)),
        ledger_(std::move(ledger)),
        source_(source),
        tee_(std::move(tee)),
        log_(std::move(log)) {}

  void push(Message<Outer, C>& message) override {
    const auto records = static_cast<std::int64_t>(record_count(message.batch));
    count_.produced(message.stamp, record_count(message.batch));
    if (log_) [[unlikely]]
      log_->crossed(record_count(message.batch));
    Message<Inner, C> inner{message.stamp.mapped(progress::Refines<Inner, Outer>::to_inner),
                            std::move(message.batch)};
    for (const Inner& time : inner.stamp.times()) ledger_->update(source_, time, -records);
    tee_->push(inner);
    message.batch = std::move(inner.batch);
  }
  void flush() override { tee_->flush(); }
  void release_spares() override { tee_->release_spares(); }

 private:
  EdgeCount<Outer> count_;
  LocalPtr<progress::Ledger<Inner>> ledger_;
  progress::PortIndex source_;
  LocalPtr<Tee<Inner, C>> tee_;
  LocalPtr<progress::ChannelLog> log_;
};

template <class Inner, class Outer, Container C>
class LeavePush final : public Push<Inner, C> {
 public:
  LeavePush(EdgeCount<Inner> count, LocalPtr<Tee<Outer, C>> tee, LocalPtr<progress::ChannelLog> log)
      : count_(std::move(count)), tee_(std::move(tee)), log_(std::move(log)) {}

  void push(Message<Inner, C>& message) override {
    count_.produced(message.stamp, record_count(message.batch));
    if (log_) [[unlikely]]
      log_->crossed(record_count(message.batch));
    Message<Outer, C> outer{message.stamp.mapped(progress::Refines<Inner, Outer>::to_outer),
                            std::move(message.batch)};
    tee_->push(outer);
    message.batch = std::move(outer.batch);
  }
  void flush() override { tee_->flush(); }
  void release_spares() override { tee_->release_spares(); }

 private:
  EdgeCount<Inner> count_;
  LocalPtr<Tee<Outer, C>> tee_;
  LocalPtr<progress::ChannelLog> log_;
};

/// The scope `inner` as a child of `outer`.
///
/// Errors: `UsageError` if it is not one.
template <class Outer, class Inner>
progress::NestedScope<Outer, Inner>& nested_in(const ScopeState<Outer>& outer,
                                               const ScopeState<Inner>& inner, const char* what) {
  const progress::NodeName who{what, inner.name.where};
  inner.require_open(who);
  if (inner.parent != &outer) {
    throw UsageError(who.described(),
                     "to cross between scope \"" + outer.name.name + "\" and its child \"" +
                         inner.name.name + "\"",
                     "a scope that is not its child", "cross one scope at a time");
  }
  return *static_cast<progress::NestedScope<Outer, Inner>*>(inner.nested);
}

}  // namespace internal

template <progress::Timestamp Inner>
class EnterOp {
 public:
  explicit EnterOp(const Scope<Inner>& scope) : inner_(scope.state()) {}

  template <progress::Timestamp Outer, Container C>
  Stream<Inner, C> apply(Stream<Outer, C> stream) const {
    static_assert(
        progress::RefinementOf<Inner, Outer>,
        "enter: the inner scope's time does not refine the stream's (Refines<Inner, Outer>)");
    require_stream(stream.scope_state(), progress::NodeName{"enter", inner_->name.where});
    auto& nested = internal::nested_in(*stream.scope_state(), *inner_, "enter");
    const auto [outer_target, inner_source] = nested.add_input();
    auto tee = make_local<Tee<Inner, C>>();
    auto& outer_graph = *stream.scope_state()->graph;
    EdgeCount<Outer> edge_count = stream.counted()
                                      ? EdgeCount<Outer>(outer_graph.ledger(), outer_target)
                                      : EdgeCount<Outer>();
    stream.connect(outer_target,
                   std::make_unique<internal::EnterPush<Outer, Inner, C>>(
                       std::move(edge_count), inner_->graph->ledger(), inner_source, tee,
                       outer_graph.channel_log(outer_target)),
                   "enter");
    return Stream<Inner, C>(inner_, inner_source, std::move(tee));
  }

 private:
  LocalPtr<ScopeState<Inner>> inner_;
};

template <progress::Timestamp Outer>
class LeaveOp {
 public:
  explicit LeaveOp(const Scope<Outer>& scope) : outer_(scope.state()) {}

  template <progress::Timestamp Inner, Container C>
  Stream<Outer, C> apply(Stream<Inner, C> stream) const {
    static_assert(
        progress::RefinementOf<Inner, Outer>,
        "leave: the stream's time does not refine the outer scope's (Refines<Inner, Outer>)");
    require_stream(stream.scope_state(), progress::NodeName{"leave", outer_->name.where});
    auto& nested = internal::nested_in(*outer_, *stream.scope_state(), "leave");
    const auto [inner_target, outer_source] = nested.add_output();
    auto tee = make_local<Tee<Outer, C>>();
    auto& inner_graph = *stream.scope_state()->graph;
    EdgeCount<Inner> edge_count = stream.counted()
                                      ? EdgeCount<Inner>(inner_graph.ledger(), inner_target)
                                      : EdgeCount<Inner>();
    stream.connect(inner_target,
                   std::make_unique<internal::LeavePush<Inner, Outer, C>>(
                       std::move(edge_count), tee, inner_graph.channel_log(inner_target)),
                   "leave");
    return Stream<Outer, C>(outer_, outer_source, std::move(tee), false);
  }

 private:
  LocalPtr<ScopeState<Outer>> outer_;
};

namespace internal {
struct EnterFn {
  template <progress::Timestamp Inner>
  EnterOp<Inner> operator()(const Scope<Inner>& scope) const {
    return EnterOp<Inner>(scope);
  }
};
struct LeaveFn {
  template <progress::Timestamp Outer>
  LeaveOp<Outer> operator()(const Scope<Outer>& scope) const {
    return LeaveOp<Outer>(scope);
  }
};
}  // namespace internal

/// `stream | enter(inner)`: the stream inside a child scope of its own.
inline constexpr internal::EnterFn enter{};
/// `stream | leave(outer)`: the stream in the scope around its own.
inline constexpr internal::LeaveFn leave{};

}  // namespace leat::dataflow
