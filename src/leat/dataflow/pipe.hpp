// What      How operators compose: `stream | operator`. An operator is a value with its settings;
//           applied to a stream it builds itself in the stream's scope.
#pragma once

#include <concepts>
#include <source_location>
#include <string>
#include <utility>

#include <leat/dataflow/stream.hpp>
#include <leat/progress/subgraph.hpp>

namespace leat::dataflow {

/// What `|` takes on its right: anything with `apply(stream)`.
template <class Op, class S>
concept AppliesTo = requires(Op op, S stream) { std::move(op).apply(std::move(stream)); };

template <progress::Timestamp T, Container C, class Op>
  requires requires { &std::remove_cvref_t<Op>::is_leat_operator; } || AppliesTo<Op, Stream<T, C>>
auto operator|(Stream<T, C> stream, Op op) {
  return std::move(op).apply(std::move(stream));
}

/// What operators derive from: a name for reports, and where in the source they were written.
template <class Derived>
class Named {
 public:
  static constexpr bool is_leat_operator = true;

  Named(std::string name, std::source_location where) : name_{std::move(name), where} {}

  /// The same operator under another name.
  [[nodiscard]] Derived named(std::string name) && {
    name_.name = std::move(name);
    return std::move(static_cast<Derived&>(*this));
  }
  [[nodiscard]] Derived named(std::string name) const& {
    Derived copy = static_cast<const Derived&>(*this);
    copy.name_.name = std::move(name);
    return copy;
  }

 protected:
  progress::NodeName name_;
};

namespace internal {

/// Makes an operator `Op<F>` of a function: what `map`, `filter` and the like are.
template <template <class> class Op>
struct MakeRecordOp {
  template <class F>
  Op<F> operator()(F f, std::source_location where = std::source_location::current()) const {
    return Op<F>(std::move(f), where);
  }
};

}  // namespace internal

}  // namespace leat::dataflow
