// What      Several streams into one, without touching a record: concat (two), concatenate (any
//           number).
#pragma once

#include <source_location>
#include <utility>
#include <vector>

#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/pipe.hpp>
#include <leat/dataflow/scope.hpp>

namespace leat::dataflow {

namespace internal {

template <progress::Timestamp T, Container C>
Stream<T, C> merge(Scope<T>& scope, const std::vector<Stream<T, C>>& streams,
                   progress::NodeName name) {
  OperatorBuilder<T> builder(scope.state(), std::move(name));
  std::vector<InputPort<T, C>> inputs;
  inputs.reserve(streams.size());
  for (const auto& stream : streams) inputs.push_back(builder.new_input(stream, pipeline));
  auto [port, merged] = builder.template new_output<C>();
  for (std::uint32_t input = 0; input < inputs.size(); ++input) {
    builder.set_interest(input, progress::FrontierInterest::never);
  }
  builder.build([&](auto) {
    return [inputs = std::move(inputs), output = std::move(port)]() mutable {
      for (auto& input : inputs) {
        input.for_each(
            [&](auto& message) { output.session(message).give_batch(message.records()); });
      }
    };
  });
  return std::move(merged);
}

template <progress::Timestamp T, Container C>
class ConcatOp : public Named<ConcatOp<T, C>> {
 public:
  ConcatOp(Stream<T, C> other, std::source_location where)
      : Named<ConcatOp>("concat", where), other_(std::move(other)) {}

  Stream<T, C> apply(Stream<T, C> stream) && {
    Scope<T> scope(stream.scope_state());
    std::vector<Stream<T, C>> both;
    both.push_back(std::move(stream));
    both.push_back(std::move(other_));
    return merge(scope, both, std::move(this->name_));
  }

 private:
  Stream<T, C> other_;
};

struct ConcatFn {
  template <progress::Timestamp T, Container C>
  ConcatOp<T, C> operator()(Stream<T, C> other,
                            std::source_location where = std::source_location::current()) const {
    return ConcatOp<T, C>(std::move(other), where);
  }
};

}  // namespace internal

/// All records of all `streams`, which are of one scope.
template <progress::Timestamp T, Container C>
[[nodiscard]] Stream<T, C> concatenate(
    Scope<T>& scope, std::vector<Stream<T, C>> streams,
    std::source_location where = std::source_location::current()) {
  return internal::merge(scope, streams, progress::NodeName{"concatenate", where});
}
/// `stream | concat(other)`: the records of both.
inline constexpr internal::ConcatFn concat{};

}  // namespace leat::dataflow
