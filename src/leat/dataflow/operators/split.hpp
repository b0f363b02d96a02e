// What      One stream into several: branch (by record), branch_when (by time), ok_err (by what a
//           function makes of a record), partition (into any number).
// Shape     Two-way splits return a struct with named members; `partition` returns a vector.
// Source    Timely Dataflow; there `branch` sends what is true to its second output, here the names
//           say it.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <leat/base/usage_error.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/pipe.hpp>

namespace leat::dataflow {

/// What `branch` and `branch_when` return.
template <progress::Timestamp T, Container C>
struct Branches {
  Stream<T, C> if_false;
  Stream<T, C> if_true;
};

/// What `ok_err` returns.
template <progress::Timestamp T, class Ok, class Err>
struct OkErr {
  StreamOf<T, Ok> ok;
  StreamOf<T, Err> err;
};

namespace internal {

template <class F>
class BranchOp : public Named<BranchOp<F>> {
 public:
  BranchOp(F f, std::source_location where) : Named<BranchOp>("branch", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  Branches<T, C> apply(Stream<T, C> stream) && {
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [no_port, if_false] = builder.template new_output<C>();
    auto [yes_port, if_true] = builder.template new_output<C>();
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([&](auto) {
      return [input = std::move(input), no = std::move(no_port), yes = std::move(yes_port),
              f = std::move(f_)]() mutable {
        input.for_each([&](auto& message) {
          auto to_false = no.session(message);
          auto to_true = yes.session(message);
          for (auto&& record : message.records()) {
            if (f(message.time(), std::as_const(record))) {
              to_true.give(std::move(record));
            } else {
              to_false.give(std::move(record));
            }
          }
        });
      };
    });
    return {std::move(if_false), std::move(if_true)};
  }

 private:
  F f_;
};

template <class F>
class BranchWhenOp : public Named<BranchWhenOp<F>> {
 public:
  BranchWhenOp(F f, std::source_location where)
      : Named<BranchWhenOp>("branch_when", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  Branches<T, C> apply(Stream<T, C> stream) && {
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [no_port, if_false] = builder.template new_output<C>();
    auto [yes_port, if_true] = builder.template new_output<C>();
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([&](auto) {
      return [input = std::move(input), no = std::move(no_port), yes = std::move(yes_port),
              f = std::move(f_)]() mutable {
        input.for_each([&](auto& message) {
          auto& output = f(message.time()) ? yes : no;
          output.session(message).give_batch(message.records());
        });
      };
    });
    return {std::move(if_false), std::move(if_true)};
  }

 private:
  F f_;
};

template <class F>
class OkErrOp : public Named<OkErrOp<F>> {
 public:
  OkErrOp(F f, std::source_location where) : Named<OkErrOp>("ok_err", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    using Either = std::decay_t<std::invoke_result_t<F&, TakenOf<C>>>;
    static_assert(
        requires(Either either) { std::get<1>(either); },
        "ok_err: the function returns std::variant<Ok, Err>");
    using Ok = std::variant_alternative_t<0, Either>;
    using Err = std::variant_alternative_t<1, Either>;
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [ok_end, oks] = builder.template new_output<std::vector<Ok>>();
    auto [err_end, errs] = builder.template new_output<std::vector<Err>>();
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([&](auto) {
      return [input = std::move(input), ok_port = std::move(ok_end), err_port = std::move(err_end),
              f = std::move(f_)]() mutable {
        input.for_each([&](auto& message) {
          auto to_ok = ok_port.session(message);
          auto to_err = err_port.session(message);
          for (auto&& record : message.records()) {
            auto either = f(std::move(record));
            if (either.index() == 0) {
              to_ok.give(std::get<0>(std::move(either)));
            } else {
              to_err.give(std::get<1>(std::move(either)));
            }
          }
        });
      };
    });
    return OkErr<T, Ok, Err>{std::move(oks), std::move(errs)};
  }

 private:
  F f_;
};

template <class F>
class PartitionOp : public Named<PartitionOp<F>> {
 public:
  PartitionOp(std::uint64_t parts, F f, std::source_location where)
      : Named<PartitionOp>("partition", where), parts_(parts), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    using Routed = std::decay_t<std::invoke_result_t<F&, TakenOf<C>>>;
    static_assert(
        requires(Routed routed) {
          routed.first;
          routed.second;
        }, "partition: the function returns a pair of the part's number and the record");
    using R = std::decay_t<decltype(std::declval<Routed>().second)>;
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    std::vector<OutputPort<T, std::vector<R>>> ports;
    std::vector<StreamOf<T, R>> streams;
    for (std::uint64_t part = 0; part < parts_; ++part) {
      auto [port, produced] = builder.template new_output<std::vector<R>>();
      ports.push_back(std::move(port));
      streams.push_back(std::move(produced));
    }
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([&](auto) {
      return [input = std::move(input), ports = std::move(ports),
              buffers = std::vector<std::vector<R>>(parts_), who = builder.name().described(),
              f = std::move(f_)]() mutable {
        input.for_each([&](auto& message) {
          for (auto&& record : message.records()) {
            auto routed = f(std::move(record));
            if (static_cast<std::uint64_t>(routed.first) >= buffers.size()) {
              throw UsageError(who, "part " + std::to_string(routed.first),
                               std::to_string(buffers.size()) + " parts",
                               "return a number below that");
            }
            buffers[static_cast<std::size_t>(routed.first)].push_back(std::move(routed.second));
          }
          for (std::size_t part = 0; part < buffers.size(); ++part) {
            if (!buffers[part].empty()) ports[part].session(message).give_batch(buffers[part]);
          }
        });
      };
    });
    return streams;
  }

 private:
  std::uint64_t parts_;
  F f_;
};

struct PartitionFn {
  template <class F>
  auto operator()(std::uint64_t parts, F f,
                  std::source_location where = std::source_location::current()) const {
    return PartitionOp<F>(parts, std::move(f), where);
  }
};

}  // namespace internal

/// Splits by `f(time, record)`.
inline constexpr internal::MakeRecordOp<internal::BranchOp> branch{};
/// Splits whole batches by `f(time)`; the usual bound of a loop is `branch_when(...).if_false`.
inline constexpr internal::MakeRecordOp<internal::BranchWhenOp> branch_when{};
/// Splits by the alternative of `std::variant<Ok, Err>` that `f(record)` returns.
inline constexpr internal::MakeRecordOp<internal::OkErrOp> ok_err{};
/// `partition(n, f)`: `f(record)` returns a pair: which of n streams, and the record for it.
inline constexpr internal::PartitionFn partition{};

}  // namespace leat::dataflow
