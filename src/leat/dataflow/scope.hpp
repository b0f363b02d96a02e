// What      A scope under construction, as an author sees it: where streams begin and where child
//           scopes are made. Valid inside the closure that builds it.
// Shape     `region` has the times of its parent, `iterative` adds a round, `scoped` uses any time
//           that refines the parent's. Streams go in with `enter` and come out with `leave`.
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/dataflow/scope_state.hpp>
#include <leat/dataflow/stream.hpp>
#include <leat/progress/nested_scope.hpp>
#include <leat/progress/product.hpp>

namespace leat::dataflow {

template <class Record, progress::Timestamp T>
class Input;

template <progress::Timestamp T>
class Scope {
 public:
  using Time = T;

  explicit Scope(LocalPtr<ScopeState<T>> state) : state_(std::move(state)) {}

  /// This worker's number, and how many there are.
  [[nodiscard]] std::size_t index() const noexcept { return state_->context->seat.index(); }
  [[nodiscard]] std::size_t peers() const noexcept { return state_->context->seat.peers(); }
  [[nodiscard]] const std::string& name() const noexcept { return state_->name.name; }

  /// The stream of what is sent into `handle`, under a name for reports. Defined in input.hpp.
  template <class Record>
  StreamOf<T, Record> input(Input<Record, T>& handle, std::string name,
                            std::source_location where = std::source_location::current());
  template <class Record>
  StreamOf<T, Record> input(Input<Record, T>& handle,
                            std::source_location where = std::source_location::current()) {
    return input(handle, "input", where);
  }

  /// A child scope with the same times: a group of operators.
  template <class Build>
  auto region(std::string name, Build&& build,
              std::source_location where = std::source_location::current()) {
    return scoped<T>(std::move(name), std::forward<Build>(build), where);
  }
  /// A child scope whose times carry a round besides: a place for loops.
  template <progress::Timestamp Round = std::uint64_t, class Build>
  auto iterative(std::string name, Build&& build,
                 std::source_location where = std::source_location::current()) {
    return scoped<progress::Product<T, Round>>(std::move(name), std::forward<Build>(build), where);
  }
  /// A child scope with times `Inner`. `build(Scope<Inner>&)` is called at once; its result is
  /// returned.
  template <progress::Timestamp Inner, class Build>
  auto scoped(std::string name, Build&& build,
              std::source_location where = std::source_location::current()) {
    static_assert(progress::RefinementOf<Inner, T>,
                  "scoped: the inner time does not refine the scope's (Refines<Inner, Outer>)");
    progress::NodeName who{std::move(name), where};
    state_->require_open(who);
    auto& context = *state_->context;
    auto nested =
        std::make_unique<progress::NestedScope<T, Inner>>(*state_->graph, context.new_id(), who);
    auto address = state_->address;
    address.push_back(nested->node());
    auto inner =
        make_local<ScopeState<Inner>>(context, nested->inner(), std::move(who), std::move(address));
    inner->parent = state_.get();
    inner->nested = nested.get();
    const Building<Inner> building(inner);
    Scope<Inner> scope(inner);
    struct Finish {
      Scope& outer;
      ScopeState<Inner>& inner;
      std::unique_ptr<progress::NestedScope<T, Inner>>& nested;
      void operator()() const {
        inner.open = false;
        const auto node = nested->node();
        nested->seal();
        outer.state_->graph->install(node, std::move(nested), false);
      }
    };
    const Finish finish{*this, *inner, nested};
    if constexpr (std::is_void_v<std::invoke_result_t<Build&, Scope<Inner>&>>) {
      build(scope);
      finish();
    } else {
      auto result = build(scope);
      finish();
      return result;
    }
  }

  [[nodiscard]] const LocalPtr<ScopeState<T>>& state() const noexcept { return state_; }

 private:
  LocalPtr<ScopeState<T>> state_;
};

}  // namespace leat::dataflow
