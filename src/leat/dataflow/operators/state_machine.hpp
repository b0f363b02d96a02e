// What      A state per key that lives across times: transitions are applied in the order of times,
//           at once when nothing earlier can come, else when their time is complete.
// Source    Timely Dataflow's `state_machine`.
#pragma once

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

/// What a transition of a state machine does: the records it emits, and whether the key's state
/// ends.
template <class R>
struct Transition {
  bool remove = false;
  std::vector<R> emit;
};

namespace internal {

template <class State, class R, class Fold, class Hash>
class StateMachineOp : public Named<StateMachineOp<State, R, Fold, Hash>> {
 public:
  StateMachineOp(Fold fold, Hash key_hash, std::source_location where)
      : Named<StateMachineOp>("state_machine", where),
        fold_(std::move(fold)),
        hash_(std::move(key_hash)) {}

  template <progress::Timestamp T, Container C>
  StreamOf<T, R> apply(Stream<T, C> stream) && {
    using Key = std::decay_t<decltype(std::declval<RecordOf<C>&>().first)>;
    struct KeyHash {
      [[no_unique_address]] Hash hash;
      std::size_t operator()(const Key& key) const { return static_cast<std::size_t>(hash(key)); }
    };
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, exchange_by([hash = hash_](const RecordOf<C>& record) {
                                     return hash(record.first);
                                   }));
    auto [port, results] = builder.template new_output<std::vector<R>>();
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port), waiting = std::map<T, Stash<C>>(),
              states = std::unordered_map<Key, State, KeyHash>(8, KeyHash{hash_}),
              complete = CompleteTimes<T>(builder.info().activation),
              fold = std::move(fold_)]() mutable {
        const auto apply = [&](RecordOf<C>&& record, auto& session) {
          auto& [key, value] = record;
          auto& state = states[key];
          Transition<R> transition = fold(std::as_const(key), std::move(value), state);
          if (transition.remove) states.erase(key);
          session.give_all(std::move(transition.emit));
        };
        std::size_t budget = complete.template budget<RecordOf<C>>();
        const auto apply_complete = [&] {
          complete.for_each(
              input.frontier(), budget, [&](const auto& capability, std::size_t& left) {
                const auto at = waiting.find(capability.time());
                auto session = output.session(capability);
                const auto step = [&](RecordOf<C>&& record) { apply(std::move(record), session); };
                if (!at->second.work(left, step)) return false;
                waiting.erase(at);
                return true;
              });
        };
        // First what became complete, in order; then what can be applied at once.
        apply_complete();
        input.for_each([&](auto& message) {
          if (!input.frontier().less_than(message.time()) &&
              !earlier_waits(waiting, message.time())) {
            auto session = output.session(message);
            for (auto& record : message.records()) apply(std::move(record), session);
            return;
          }
          auto at = waiting.find(message.time());
          if (at == waiting.end()) {
            at = waiting.try_emplace(message.time()).first;
            complete.notify_at(message.retain(0));
          }
          for (auto& record : message.records()) at->second.records.push_back(std::move(record));
        });
        apply_complete();
      };
    });
    return std::move(results);
  }

 private:
  template <class T, class C>
  static bool earlier_waits(const std::map<T, Stash<C>>& waiting, const T& time) {
    for (const auto& [earlier, stash] : waiting) {
      if (!(earlier < time)) return false;
      if (progress::less_than(earlier, time)) return true;
    }
    return false;
  }

  Fold fold_;
  Hash hash_;
};

}  // namespace internal

/// Of a stream of (key, value) pairs: `fold(key, value, state&)` returns a `Transition<R>`.
/// `State{}` is the start; keys live on the worker that `hash` names.
template <class State, class R, class Fold, class Hash = internal::HashFn>
[[nodiscard]] auto state_machine(Fold fold, Hash key_hash = {},
                                 std::source_location where = std::source_location::current()) {
  return internal::StateMachineOp<State, R, Fold, Hash>(std::move(fold), std::move(key_hash),
                                                        where);
}

}  // namespace leat::dataflow
