// What      Streams of values or reasons why there are none (`Result<T>`, `std::variant<Ok, Err>`):
//             ok              the values, without the errors
//             err             the errors, without the values
//             map_ok(f)       f of the values; errors stay
//             map_err(f)      f of the errors; values stay
//             and_then(f)     what f makes of the values, which may be errors; errors stay
//             unwrap_or_else(f)  the values, and f of the errors
// Limits    `map_err` of a Result makes an `Error` again; another type of error needs a variant.
// Source    Timely Dataflow's `ResultStream`.
#pragma once

#include <concepts>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <variant>

#include <leat/base/result.hpp>
#include <leat/dataflow/operators/map.hpp>

namespace leat::dataflow {

namespace internal {

/// How to read and make records that are one of two things. `With<T>` is the type with other values.
template <class R>
struct Either;

template <class T>
struct Either<Result<T>> {
  using Ok = T;
  using Err = Error;
  template <class U>
  using WithOk = Result<U>;
  template <class>
  using WithErr = Result<T>;
  static bool is_ok(const Result<T>& result) { return result.has_value(); }
  static T&& ok(Result<T>& result) { return std::move(result).value(); }
  static Error&& err(Result<T>& result) { return std::move(result).error(); }
  template <class To, class U>
  static To make_ok(U&& value) {
    return To(std::forward<U>(value));
  }
  template <class To, class E>
  static To make_err(E&& error) {
    return To(std::forward<E>(error));
  }
};

template <class T, class E>
struct Either<std::variant<T, E>> {
  using Ok = T;
  using Err = E;
  template <class U>
  using WithOk = std::variant<U, E>;
  template <class F>
  using WithErr = std::variant<T, F>;
  static bool is_ok(const std::variant<T, E>& either) { return either.index() == 0; }
  static T&& ok(std::variant<T, E>& either) { return std::get<0>(std::move(either)); }
  static E&& err(std::variant<T, E>& either) { return std::get<1>(std::move(either)); }
  template <class To, class U>
  static To make_ok(U&& value) {
    return To(std::in_place_index<0>, std::forward<U>(value));
  }
  template <class To, class F>
  static To make_err(F&& error) {
    return To(std::in_place_index<1>, std::forward<F>(error));
  }
};

template <class R>
concept EitherRecord = requires { typename Either<R>::Ok; };

enum class ResultStep { ok, err, map_ok, map_err, and_then, unwrap_or_else };

/// What a step makes of a record. `Out<E>` is the type of what comes out.
template <ResultStep kStep, class E, class F>
struct ResultOut;
template <class E, class F>
struct ResultOut<ResultStep::ok, E, F> {
  using type = typename E::Ok;
};
template <class E, class F>
struct ResultOut<ResultStep::err, E, F> {
  using type = typename E::Err;
};
template <class E, class F>
struct ResultOut<ResultStep::map_ok, E, F> {
  using type = typename E::template WithOk<std::decay_t<std::invoke_result_t<F&, typename E::Ok>>>;
};
template <class E, class F>
struct ResultOut<ResultStep::map_err, E, F> {
  using type =
      typename E::template WithErr<std::decay_t<std::invoke_result_t<F&, typename E::Err>>>;
};
template <class E, class F>
struct ResultOut<ResultStep::and_then, E, F> {
  using type = std::decay_t<std::invoke_result_t<F&, typename E::Ok>>;
};
template <class E, class F>
struct ResultOut<ResultStep::unwrap_or_else, E, F> {
  using type = typename E::Ok;
};

template <ResultStep kStep, class F>
class ResultOp : public Named<ResultOp<kStep, F>> {
 public:
  ResultOp(F f, const char* name, std::source_location where)
      : Named<ResultOp>(name, where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    static_assert(EitherRecord<RecordOf<C>>,
                  "ok, err, map_ok and their kin: records are leat::Result<T> or "
                  "std::variant<Ok, Err>");
    using E = Either<RecordOf<C>>;
    using R = typename ResultOut<kStep, E, F>::type;
    return on_records<R>(stream, this->name_,
                         [f = std::move(f_)](auto& input, auto& output) mutable {
                           input.for_each([&](auto& message) {
                             auto session = output.session(message);
                             for (auto& record : message.records()) step<E, R>(f, record, session);
                           });
                         });
  }

 private:
  template <class E, class R, class Record, class Session>
  static void step(F& f, Record& record, Session& session) {
    const bool is_ok = E::is_ok(record);
    if constexpr (kStep == ResultStep::ok) {
      if (is_ok) session.give(E::ok(record));
    } else if constexpr (kStep == ResultStep::err) {
      if (!is_ok) session.give(E::err(record));
    } else if constexpr (kStep == ResultStep::map_ok) {
      session.give(is_ok ? E::template make_ok<R>(std::invoke(f, E::ok(record)))
                         : E::template make_err<R>(E::err(record)));
    } else if constexpr (kStep == ResultStep::map_err) {
      session.give(is_ok ? E::template make_ok<R>(E::ok(record))
                         : E::template make_err<R>(std::invoke(f, E::err(record))));
    } else if constexpr (kStep == ResultStep::and_then) {
      static_assert(EitherRecord<R>, "and_then: the function returns a Result or a variant, too");
      if (is_ok) {
        session.give(R(std::invoke(f, E::ok(record))));
      } else {
        session.give(E::template make_err<R>(E::err(record)));
      }
    } else {
      if (is_ok) {
        session.give(E::ok(record));
      } else {
        session.give(R(std::invoke(f, E::err(record))));
      }
    }
  }

  F f_;
};

template <ResultStep kStep>
struct ResultFn {
  const char* name;
  template <class F>
  auto operator()(F f, std::source_location where = std::source_location::current()) const {
    return ResultOp<kStep, F>(std::move(f), name, where);
  }
};
template <ResultStep kStep>
struct ResultPartFn {
  const char* name;
  auto operator()(std::source_location where = std::source_location::current()) const {
    return ResultOp<kStep, std::monostate>({}, name, where);
  }
};

}  // namespace internal

/// The values; errors are gone.
inline constexpr internal::ResultPartFn<internal::ResultStep::ok> ok{"ok"};
/// The errors; values are gone.
inline constexpr internal::ResultPartFn<internal::ResultStep::err> err{"err"};
/// `f(value)` in the place of each value.
inline constexpr internal::ResultFn<internal::ResultStep::map_ok> map_ok{"map_ok"};
/// `f(error)` in the place of each error.
inline constexpr internal::ResultFn<internal::ResultStep::map_err> map_err{"map_err"};
/// `f(value)`, itself a value or an error, in the place of each value.
inline constexpr internal::ResultFn<internal::ResultStep::and_then> and_then{"and_then"};
/// Values, with `f(error)` in the place of each error.
inline constexpr internal::ResultFn<internal::ResultStep::unwrap_or_else> unwrap_or_else{
    "unwrap_or_else"};

}  // namespace leat::dataflow
