// What      Results per time, sent when the time is complete: accumulate, count (per worker),
//           aggregate (per key, on the worker that the key's hash names).
// Source    Timely Dataflow's `accumulate`, `count` and `aggregate`.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <source_location>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/complete_times.hpp>
#include <leat/dataflow/hash.hpp>
#include <leat/dataflow/pipe.hpp>

namespace leat::dataflow {

namespace internal {

/// Of a record of two parts, a pair or a class of two members: the type of the first.
template <class R>
auto key_type(const R& record) {
  [[maybe_unused]] const auto& [key, value] = record;
  return std::type_identity<std::remove_cvref_t<decltype(key)>>();
}
template <class R>
using KeyOf = typename decltype(key_type(std::declval<const R&>()))::type;

/// The state of a key, which is made if there is none. A key may be a view, as columns show it: it
/// becomes a key of its own only where it is new.
template <class States, class K>
auto& state_of(States& states, const K& key) {
  using Key = typename States::key_type;
  if constexpr (std::is_same_v<K, Key>) {
    return states[key];
  } else if constexpr (requires { states.find(key); }) {
    const auto at = states.find(key);
    return at != states.end() ? at->second : states[Key(key)];
  } else {
    return states[Key(key)];
  }
}

/// Builds an operator that keeps a `State` per time, feeds it batches, and sends what it became
/// when the time is complete: `add(state, batch)`, and `finish(state, session, left)`, which sends
/// at most `left` records, takes them off it, and returns whether it sent all.
template <class State, class R, progress::Timestamp T, Container C, class Pact, class Fresh,
          class Add, class Finish>
StreamOf<T, R> per_time(const Stream<T, C>& stream, const progress::NodeName& name,
                        const Pact& pact, Fresh fresh, Add add, Finish finish) {
  OperatorBuilder<T> builder(stream.scope_state(), name);
  auto input = builder.new_input(stream, pact);
  auto [port, results] = builder.template new_output<BatchOf<R>>();
  builder.build([&](auto) {
    return [input = std::move(input), output = std::move(port), states = std::map<T, State>(),
            complete = CompleteTimes<T>(builder.info().activation), fresh = std::move(fresh),
            add = std::move(add), finish = std::move(finish)]() mutable {
      input.for_each([&](auto& message) {
        auto at = states.find(message.time());
        if (at == states.end()) {
          at = states.emplace(message.time(), fresh()).first;
          complete.notify_at(message.retain(0));
        }
        add(at->second, message.records());
      });
      std::size_t budget = complete.template budget<R>();
      complete.for_each(input.frontier(), budget, [&](const auto& capability, std::size_t& left) {
        const auto at = states.find(capability.time());
        auto session = output.session(capability);
        if (!finish(at->second, session, left)) return false;
        states.erase(at);
        return true;
      });
    };
  });
  return std::move(results);
}

template <class State, class F>
class AccumulateOp : public Named<AccumulateOp<State, F>> {
 public:
  AccumulateOp(State start, F f, std::source_location where)
      : Named<AccumulateOp>("accumulate", where), start_(std::move(start)), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    return per_time<State, State>(
        stream, this->name_, pipeline, [start = std::move(start_)] { return start; },
        [f = std::move(f_)](State& state, C& records) mutable { f(state, records); },
        [](State& state, auto& session, std::size_t& left) {
          session.give(std::move(state));
          --left;
          return true;
        });
  }

 private:
  State start_;
  F f_;
};

class CountOp : public Named<CountOp> {
 public:
  explicit CountOp(std::source_location where) : Named<CountOp>("count", where) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    return per_time<std::size_t, std::size_t>(
        stream, this->name_, pipeline, [] { return std::size_t{0}; },
        [](std::size_t& count, C& records) { count += record_count(records); },
        [](std::size_t count, auto& session, std::size_t& left) {
          session.give(count);
          --left;
          return true;
        });
  }
};

/// Hashes keys, and views of keys, for a map.
template <class Hash>
struct ViewHash {
  using is_transparent = void;
  [[no_unique_address]] Hash hash;
  template <class K>
  std::size_t operator()(const K& key) const {
    return static_cast<std::size_t>(hash(key));
  }
};

template <class State, class Fold, class Emit, class Hash>
class AggregateOp : public Named<AggregateOp<State, Fold, Emit, Hash>> {
 public:
  AggregateOp(Fold fold, Emit emit, Hash key_hash, std::source_location where)
      : Named<AggregateOp>("aggregate", where),
        fold_(std::move(fold)),
        emit_(std::move(emit)),
        hash_(std::move(key_hash)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    using Key = KeyOf<RecordOf<C>>;
    using R = std::decay_t<std::invoke_result_t<Emit&, const Key&, State&&>>;
    using States = std::unordered_map<Key, State, ViewHash<Hash>, std::equal_to<>>;
    return per_time<States, R>(
        stream, this->name_, exchange_by([hash = hash_](ReadOf<C> record) {
          const auto& [key, value] = record;
          return hash(key);
        }),
        [hash = hash_] { return States(8, ViewHash<Hash>{hash}); },
        [fold = std::move(fold_)](States& states, C& records) mutable {
          for (auto&& [key, value] : records) {
            auto& state = state_of(states, std::as_const(key));
            fold(std::as_const(key), std::move(value), state);
          }
        },
        [emit = std::move(emit_)](States& states, auto& session, std::size_t& left) mutable {
          for (; left > 0 && !states.empty(); --left) {
            const auto at = states.begin();
            session.give(emit(at->first, std::move(at->second)));
            states.erase(at);
          }
          return states.empty();
        });
  }

 private:
  Fold fold_;
  Emit emit_;
  Hash hash_;
};

struct AccumulateFn {
  template <class State, class F>
  auto operator()(State start, F f,
                  std::source_location where = std::source_location::current()) const {
    return AccumulateOp<State, F>(std::move(start), std::move(f), where);
  }
};
struct CountFn {
  CountOp operator()(std::source_location where = std::source_location::current()) const {
    return CountOp(where);
  }
};

}  // namespace internal

/// `accumulate(start, f)`: per time and worker, `start` changed by `f(state&, batch&)` for each
/// batch.
inline constexpr internal::AccumulateFn accumulate{};
/// Per time and worker, the number of records.
inline constexpr internal::CountFn count{};

/// Of a stream of (key, value) pairs: per time and key one `emit(key, state)`, after `fold(key,
/// value, state&)` of each of the key's values. `State{}` is the start.
template <class State, class Fold, class Emit, class Hash = internal::HashFn>
[[nodiscard]] auto aggregate(Fold fold, Emit emit, Hash key_hash = {},
                             std::source_location where = std::source_location::current()) {
  return internal::AggregateOp<State, Fold, Emit, Hash>(std::move(fold), std::move(emit),
                                                        std::move(key_hash), where);
}

}  // namespace leat::dataflow
