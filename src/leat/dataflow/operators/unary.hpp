// What      Operators of one input or two whose logic the author writes:
//             unary, unary_frontier, unary_notify, binary, binary_frontier, binary_notify, sink,
//             source, empty
// Shape     The author gives a constructor: it receives the initial capability (drop it unless
//           something is to be sent that no message justifies) and returns the logic, which is
//           called with the ports:
//             logic(input, output)                    unary, unary_frontier, sink without output
//             logic(input, output, notificator)       unary_notify
//             logic(left, right, output[, notificator])  binary...
//           It returns nothing, or `true` while the operator is incomplete.
//           `R` is the type of the records that come out, in `std::vector`s; or `Batched<C>` for
//           batches `C`.
// Protocol  Plain operators run when records arrive or when they are activated; `_frontier` and
//           `_notify` also when an input's frontier changes.
#pragma once

#include <ranges>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/notificator.hpp>
#include <leat/dataflow/pipe.hpp>
#include <leat/dataflow/scope.hpp>

namespace leat::dataflow {

namespace internal {

// The kinds of authored operators differ in when they run and what their logic is called with.
enum class LogicKind { plain, frontier, notify };

constexpr progress::FrontierInterest interest_of(LogicKind kind) {
  return kind == LogicKind::plain ? progress::FrontierInterest::never
                                  : progress::FrontierInterest::always;
}

/// The times that a notificator is asked for before there is any record. `First` is a range of
/// times.
struct NoTimes {};
template <progress::Timestamp T, class First>
Notificator<T> asked_for(const First& first, const Capability<T>& capability) {
  Notificator<T> notificator;
  if constexpr (!std::is_same_v<First, NoTimes>) {
    for (const auto& time : first) notificator.notify_at(capability.delayed(time));
  }
  return notificator;
}

template <LogicKind kKind, class R, class Pact, class Make, class First = NoTimes>
class UnaryOp : public Named<UnaryOp<kKind, R, Pact, Make, First>> {
 public:
  UnaryOp(Pact pact, std::string name, Make make, std::source_location where, First first = {})
      : Named<UnaryOp>(std::move(name), where),
        pact_(std::move(pact)),
        make_(std::move(make)),
        first_(std::move(first)) {}

  template <progress::Timestamp T, Container C>
  StreamOf<T, R> apply(Stream<T, C> stream) && {
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pact_);
    auto [port, produced] = builder.template new_output<BatchOf<R>>();
    builder.set_interest(0, interest_of(kKind));
    builder.build([&](std::vector<Capability<T>> capabilities) {
      if constexpr (kKind == LogicKind::notify) {
        return [input = std::move(input), output = std::move(port),
                notificator = asked_for(first_, capabilities[0]),
                logic = make_(std::move(capabilities[0]), builder.info())]() mutable {
          notificator.look_again();
          return logic(input, output, notificator);
        };
      } else {
        return [input = std::move(input), output = std::move(port),
                logic = make_(std::move(capabilities[0]), builder.info())]() mutable {
          return logic(input, output);
        };
      }
    });
    return std::move(produced);
  }

 private:
  Pact pact_;
  Make make_;
  [[no_unique_address]] First first_;
};

template <LogicKind kKind, class R, progress::Timestamp T, class Right, class PactL, class PactR,
          class Make, class First = NoTimes>
class BinaryOp : public Named<BinaryOp<kKind, R, T, Right, PactL, PactR, Make, First>> {
 public:
  BinaryOp(Stream<T, Right> right, PactL left_pact, PactR right_pact, std::string name, Make make,
           std::source_location where, First first = {})
      : Named<BinaryOp>(std::move(name), where),
        right_(std::move(right)),
        left_pact_(std::move(left_pact)),
        right_pact_(std::move(right_pact)),
        make_(std::move(make)),
        first_(std::move(first)) {}

  template <Container C>
  StreamOf<T, R> apply(Stream<T, C> left_stream) && {
    OperatorBuilder<T> builder(left_stream.scope_state(), this->name_);
    auto left = builder.new_input(left_stream, left_pact_);
    auto right = builder.new_input(right_, right_pact_);
    auto [port, produced] = builder.template new_output<BatchOf<R>>();
    builder.set_interest(0, interest_of(kKind));
    builder.set_interest(1, interest_of(kKind));
    builder.build([&](std::vector<Capability<T>> capabilities) {
      if constexpr (kKind == LogicKind::notify) {
        return [left = std::move(left), right = std::move(right), output = std::move(port),
                notificator = asked_for(first_, capabilities[0]),
                logic = make_(std::move(capabilities[0]), builder.info())]() mutable {
          notificator.look_again();
          return logic(left, right, output, notificator);
        };
      } else {
        return [left = std::move(left), right = std::move(right), output = std::move(port),
                logic = make_(std::move(capabilities[0]), builder.info())]() mutable {
          return logic(left, right, output);
        };
      }
    });
    return std::move(produced);
  }

 private:
  Stream<T, Right> right_;
  PactL left_pact_;
  PactR right_pact_;
  Make make_;
  [[no_unique_address]] First first_;
};

template <class Pact, class Logic>
class SinkOp : public Named<SinkOp<Pact, Logic>> {
 public:
  SinkOp(Pact pact, std::string name, Logic logic, std::source_location where)
      : Named<SinkOp>(std::move(name), where), pact_(std::move(pact)), logic_(std::move(logic)) {}

  template <progress::Timestamp T, Container C>
  void apply(Stream<T, C> stream) && {
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pact_);
    builder.build([&](auto) {
      return
          [input = std::move(input), logic = std::move(logic_)]() mutable { return logic(input); };
    });
  }

 private:
  Pact pact_;
  Logic logic_;
};

}  // namespace internal

/// One input, one output of `R` records; runs when records arrive. `make(Capability<T>,
/// OperatorInfo)`.
template <class R, class Pact, class Make>
[[nodiscard]] auto unary(Pact pact, std::string name, Make make,
                         std::source_location where = std::source_location::current()) {
  return internal::UnaryOp<internal::LogicKind::plain, R, Pact, Make>(
      std::move(pact), std::move(name), std::move(make), where);
}
/// The same; runs also when the input's frontier changes, which the logic asks for with
/// `input.frontier()`.
template <class R, class Pact, class Make>
[[nodiscard]] auto unary_frontier(Pact pact, std::string name, Make make,
                                  std::source_location where = std::source_location::current()) {
  return internal::UnaryOp<internal::LogicKind::frontier, R, Pact, Make>(
      std::move(pact), std::move(name), std::move(make), where);
}
/// The same, with a notificator: `while (auto done = notificator.next(input.frontier())) ...`.
template <class R, class Pact, class Make>
[[nodiscard]] auto unary_notify(Pact pact, std::string name, Make make,
                                std::source_location where = std::source_location::current()) {
  return internal::UnaryOp<internal::LogicKind::notify, R, Pact, Make>(
      std::move(pact), std::move(name), std::move(make), where);
}
/// The same, asked for the times of the range `first` before there is any record.
template <class R, class Pact, std::ranges::forward_range First, class Make>
[[nodiscard]] auto unary_notify(Pact pact, std::string name, First first, Make make,
                                std::source_location where = std::source_location::current()) {
  return internal::UnaryOp<internal::LogicKind::notify, R, Pact, Make, First>(
      std::move(pact), std::move(name), std::move(make), where, std::move(first));
}

/// Two inputs, one output of `R` records; `stream | binary<R>(other, pact, other_pact, name,
/// make)`.
template <class R, progress::Timestamp T, Container Right, class PactL, class PactR, class Make>
[[nodiscard]] auto binary(Stream<T, Right> right, PactL left_pact, PactR right_pact,
                          std::string name, Make make,
                          std::source_location where = std::source_location::current()) {
  return internal::BinaryOp<internal::LogicKind::plain, R, T, Right, PactL, PactR, Make>(
      std::move(right), std::move(left_pact), std::move(right_pact), std::move(name),
      std::move(make), where);
}
template <class R, progress::Timestamp T, Container Right, class PactL, class PactR, class Make>
[[nodiscard]] auto binary_frontier(Stream<T, Right> right, PactL left_pact, PactR right_pact,
                                   std::string name, Make make,
                                   std::source_location where = std::source_location::current()) {
  return internal::BinaryOp<internal::LogicKind::frontier, R, T, Right, PactL, PactR, Make>(
      std::move(right), std::move(left_pact), std::move(right_pact), std::move(name),
      std::move(make), where);
}
template <class R, progress::Timestamp T, Container Right, class PactL, class PactR, class Make>
[[nodiscard]] auto binary_notify(Stream<T, Right> right, PactL left_pact, PactR right_pact,
                                 std::string name, Make make,
                                 std::source_location where = std::source_location::current()) {
  return internal::BinaryOp<internal::LogicKind::notify, R, T, Right, PactL, PactR, Make>(
      std::move(right), std::move(left_pact), std::move(right_pact), std::move(name),
      std::move(make), where);
}
/// The same, asked for the times of the range `first` before there is any record.
template <class R, progress::Timestamp T, Container Right, class PactL, class PactR,
          std::ranges::forward_range First, class Make>
[[nodiscard]] auto binary_notify(Stream<T, Right> right, PactL left_pact, PactR right_pact,
                                 std::string name, First first, Make make,
                                 std::source_location where = std::source_location::current()) {
  return internal::BinaryOp<internal::LogicKind::notify, R, T, Right, PactL, PactR, Make, First>(
      std::move(right), std::move(left_pact), std::move(right_pact), std::move(name),
      std::move(make), where, std::move(first));
}

/// One input and no output: `logic(input)`, run when records arrive or the frontier changes.
template <class Pact, class Logic>
[[nodiscard]] auto sink(Pact pact, std::string name, Logic logic,
                        std::source_location where = std::source_location::current()) {
  return internal::SinkOp<Pact, Logic>(std::move(pact), std::move(name), std::move(logic), where);
}

/// No input: `make(Capability<T>, OperatorInfo)` returns `logic(output)`. It runs once, and again
/// whenever it was activated (`info.activation.activate()`); it ends when it dropped its
/// capability.
template <class R, progress::Timestamp T, class Make>
[[nodiscard]] StreamOf<T, R> source(Scope<T>& scope, std::string name, Make make,
                                    std::source_location where = std::source_location::current()) {
  OperatorBuilder<T> builder(scope.state(), std::move(name), where);
  auto [port, produced] = builder.template new_output<BatchOf<R>>();
  builder.build([&](std::vector<Capability<T>> capabilities) {
    return [output = std::move(port),
            logic = make(std::move(capabilities[0]), builder.info())]() mutable {
      return logic(output);
    };
  });
  return std::move(produced);
}

/// A stream without records that ends at once.
template <class R, progress::Timestamp T>
[[nodiscard]] StreamOf<T, R> empty(Scope<T>& scope,
                                   std::source_location where = std::source_location::current()) {
  return source<R>(
      scope, "empty", [](Capability<T>, const OperatorInfo&) { return [](auto&) {}; }, where);
}

}  // namespace leat::dataflow
