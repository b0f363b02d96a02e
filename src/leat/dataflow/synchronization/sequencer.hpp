// What      One order for what all workers push: each worker gets every element, and all in the same
//           order. For commands that must be carried out alike everywhere.
// Shape     push -> [source, holds a capability] -> broadcast -> [sink, orders complete times] -> next
// Protocol  An element is sent at the time of its worker's capability. Whoever receives an element
//           at time t moves its own capability past t; so does its sender. When all have, t is
//           complete, and its elements come out ordered by (time, worker, order of pushing).
// Invariants
//   (1) All workers that look long enough see the same sequence; each worker's own elements are in
//       the order in which it pushed them.
//   (2) What is pushed after `next` returned an element comes after that element: times are
//       Lamport's clock.
//   (3) A worker that pushes nothing holds nobody up as long as it is stepped, and nothing runs
//       while nobody pushes.
// Limits    Elements must be copyable and may go to other threads. Ended (destroyed) on all workers,
//           its dataflow ends; what one worker has not taken by then is dropped there.
// Cost      An element: a message to each worker, then two rounds of progress.
// Source    Timely Dataflow's `Sequencer`, whose times come from the machine's clocks; Lamport, "Time,
//           Clocks, and the Ordering of Events in a Distributed System" (1978).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <source_location>
#include <tuple>
#include <utility>
#include <vector>

#include <leat/base/local_ptr.hpp>
#include <leat/dataflow/operators/routing.hpp>
#include <leat/dataflow/operators/unary.hpp>
#include <leat/dataflow/worker.hpp>

namespace leat::dataflow {

template <class R>
class Sequencer {
  static_assert(
      Sendable<R> && Copyable<R>,
      "Sequencer: each element goes to every worker, so it must be copyable and sendable");

 public:
  using leat_stays_on_its_worker = void;

  /// Builds its dataflow: all workers must, in the same order as their others.
  explicit Sequencer(Worker& worker, std::source_location where = std::source_location::current())
      : state_(make_local<State>()) {
    worker.dataflow_named<std::uint64_t>(
        "sequencer",
        [&](auto& scope) {
          source<Element>(
              scope, "sequencer: push",
              [&](Capability<std::uint64_t> capability, const OperatorInfo& info) {
                state_->source = info.activation;
                return [state = state_, capability = std::move(capability), index = worker.index(),
                        pushed = std::uint64_t{0}](auto& output) mutable {
                  if (!capability) return;
                  {
                    auto session = output.session(capability);
                    for (; !state->outgoing.empty(); state->outgoing.pop_front()) {
                      session.give(Element{index, pushed++, std::move(state->outgoing.front())});
                    }
                  }
                  if (state->past > capability.time()) capability.downgrade(state->past);
                  if (state->closed) capability.release();
                };
              },
              where) |
              broadcast(where).named("sequencer: broadcast") |
              sink(
                  pipeline, "sequencer: order",
                  [state = state_,
                   waiting = std::map<std::uint64_t, std::vector<Element>>()](auto& input) mutable {
                    input.for_each([&](auto& message) {
                      auto& elements = waiting[message.time()];
                      for (auto& element : message.records())
                        elements.push_back(std::move(element));
                      if (message.time() >= state->past) {
                        state->past = message.time() + 1;
                        state->source.activate();
                      }
                    });
                    while (!waiting.empty() &&
                           !input.frontier().less_equal(waiting.begin()->first)) {
                      auto& elements = waiting.begin()->second;
                      std::sort(elements.begin(), elements.end());
                      for (auto& element : elements) {
                        if (!state->closed) state->ready.push_back(std::move(element.value));
                      }
                      waiting.erase(waiting.begin());
                    }
                  },
                  where);
        },
        where);
  }
  Sequencer(Sequencer&&) = default;
  Sequencer& operator=(Sequencer&& other) noexcept {
    if (this != &other) {
      close();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  /// Ends this worker's part; what was pushed still goes out.
  ~Sequencer() { close(); }

  /// Gives an element to all workers, oneself included.
  void push(R element) {
    state_->outgoing.push_back(std::move(element));
    state_->source.activate();
  }

  /// The next element of the common order, if it is there yet. Step the worker to bring more.
  [[nodiscard]] std::optional<R> next() {
    if (state_->ready.empty()) return std::nullopt;
    std::optional<R> first(std::move(state_->ready.front()));
    state_->ready.pop_front();
    return first;
  }

 private:
  struct Element {
    std::uint64_t worker = 0;
    std::uint64_t number = 0;
    R value;
    friend bool operator<(const Element& a, const Element& b) {
      return std::tie(a.worker, a.number) < std::tie(b.worker, b.number);
    }
  };
  /// What the handle and both operators of one worker share.
  struct State final : LocalCounted<State> {
    std::deque<R> outgoing;
    std::deque<R> ready;
    std::uint64_t past = 0;  // after all times that were received
    bool closed = false;
    Activator source;
  };

  void close() {
    if (!state_) return;
    state_->closed = true;
    state_->source.activate();
    state_.reset();
  }

  LocalPtr<State> state_;
};

}  // namespace leat::dataflow
