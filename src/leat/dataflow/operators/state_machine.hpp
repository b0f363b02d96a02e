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
#include <leat/dataflow/hash.hpp>
#include <leat/dataflow/notificator.hpp>
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
    auto [output, results] = builder.template new_output<std::vector<R>>();
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(output), waiting = std::map<T, C>(),
              states = std::unordered_map<Key, State, KeyHash>(8, KeyHash{hash_}),
              notificator = Notificator<T>(), fold = std::move(fold_)]() mutable {
        const auto apply = [&](C& records, auto& session) {
          for (auto& [key, value] : records) {
            auto& state = states[key];
            Transition<R> transition = fold(std::as_const(key), std::move(value), state);
            if (transition.remove) states.erase(key);
            session.give_all(std::move(transition.emit));
          }
        };
        // First what became complete, in order; then what can be applied at once.
        notificator.look_again();
        const auto complete = [&] {
          while (auto done = notificator.next(input.frontier())) {
            const auto at = waiting.find(done->time());
            auto session = output.session(done->capability);
            apply(at->second, session);
            waiting.erase(at);
          }
        };
        complete();
        input.for_each([&](auto& message) {
          if (!input.frontier().less_than(message.time()) &&
              !earlier_waits(waiting, message.time())) {
            auto session = output.session(message);
            apply(message.records(), session);
            return;
          }
          auto at = waiting.find(message.time());
          if (at == waiting.end()) {
            at = waiting.emplace(message.time(), C{}).first;
            notificator.notify_at(message.retain(0));
          }
          for (auto& record : message.records()) at->second.push_back(std::move(record));
        });
        notificator.look_again();
        complete();
      };
    });
    return std::move(results);
  }

 private:
  template <class T, class C>
  static bool earlier_waits(const std::map<T, C>& waiting, const T& time) {
    for (const auto& [earlier, records] : waiting) {
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
