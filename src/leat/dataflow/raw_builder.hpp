// What      Builds an operator that does its own accounts with progress: for operators that the
//           capabilities and guards of builder.hpp do not fit (a bridge to another system, an
//           operator that keeps messages by itself, one that a front end generates).
// Protocol  Add inputs and outputs as with OperatorBuilder, each linked as it is told; then `build`
//           with the logic, which is called with its accounts. The rules that the safe builder keeps
//           for its users, and that are the author's here:
//             - It begins with one capability per output at the least time, and must give each back:
//               accounts.capability(output, minimum, -1).
//             - It says of each message that it pulled that it consumed it, once, with its stamp and
//               its number of records: accounts.consumed(input, stamp, n). It may do so later.
//             - It sends at a time only while it has a capability for it on that output, or has not
//               yet accounted for a message at a time that leads there.
//             - It claims a capability only while it has one at a time not later, or such a message;
//               it claims the new before it gives up the old.
//           What is sent need not be accounted for: the edges count it.
// Invariants
//   (1) What an activation enters into its accounts takes effect as one, when the scope publishes.
// Limits    Only `Config::validate_progress` checks the rules above, save what is consumed. An
//           operator that breaks them lets others see a time complete too early, or never.
// Threads   The worker's own.
// Source    Timely Dataflow's `builder_raw`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/base/usage_error.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/message.hpp>
#include <leat/dataflow/ports.hpp>

namespace leat::dataflow {

/// What a raw operator tells progress. Valid inside its logic.
template <progress::Timestamp T>
class Accounts {
 public:
  explicit Accounts(const OperatorContext<T>& context) : context_(context) {}

  /// `records` records at all times of `stamp`, pulled from `input`, have been dealt with.
  void consumed(std::uint32_t input, const Stamp<T>& stamp, std::size_t records) const {
    require(input < context_.inputs.size(), "input", input);
    for (const T& time : stamp.times()) {
      context_.ledger->update(context_.inputs[input].target, time,
                              -static_cast<std::int64_t>(records));
    }
  }
  /// There are `delta` more capabilities for `output` at `time`, or fewer if it is negative.
  void capability(std::uint32_t output, const T& time, std::int64_t delta) const {
    require(output < context_.outputs.size(), "output", output);
    context_.ledger->update(context_.outputs[output]->port, time, delta);
  }

 private:
  void require(bool there, const char* what, std::uint32_t number) const {
    if (there) [[likely]]
      return;
    throw UsageError(context_.name->described(),
                     "an account of " + std::string(what) + " " + std::to_string(number),
                     "no such port", "number ports from 0, in the order in which they were added");
  }

  const OperatorContext<T>& context_;
};

/// Where a raw operator takes messages from. Nothing bounds what it takes in one activation.
template <progress::Timestamp T, Container C>
class RawInput {
 public:
  /// Exchanges the next message into `message`, whose old batch, emptied, goes back to the sender.
  ///
  /// Returns: false if there is none now.
  bool pull(Message<T, C>& message) {
    message.batch.clear();
    if (!core_->pull->pull(message)) return false;
    core_->keep();
    return true;
  }
  /// Whether there may be something to pull.
  [[nodiscard]] bool was_pending() const { return core_->pull->was_pending(); }
  /// The times at which messages may still arrive. Constant during an activation.
  [[nodiscard]] progress::AntichainRef<T> frontier() const {
    return core_->context->graph->frontier(core_->context->inputs[core_->number].target);
  }

  /// For builders.
  explicit RawInput(LocalPtr<internal::InputCore<T, C>> core) : core_(std::move(core)) {}

 private:
  LocalPtr<internal::InputCore<T, C>> core_;
};

/// Where a raw operator sends messages.
template <progress::Timestamp T, Container C>
class RawOutput {
 public:
  /// Sends the batch of `message` at its stamp, unless it is empty. Leaves an empty one.
  void push(Message<T, C>& message) {
    core_->message.stamp = message.stamp;
    std::swap(core_->message.batch, message.batch);
    core_->ship();
    std::swap(core_->message.batch, message.batch);
  }

  /// For builders.
  explicit RawOutput(LocalPtr<internal::OutputCore<T, C>> core) : core_(std::move(core)) {}

 private:
  LocalPtr<internal::OutputCore<T, C>> core_;
};

/// An output under construction.
template <progress::Timestamp T, Container C>
struct NewRawOutput {
  RawOutput<T, C> port;
  Stream<T, C> stream;
};

template <progress::Timestamp T>
class RawOperatorBuilder {
 public:
  RawOperatorBuilder(LocalPtr<ScopeState<T>> scope, std::string name,
                     std::source_location where = std::source_location::current())
      : builder_(std::move(scope), std::move(name), where) {}

  /// Reads `stream` through `pact`; linked by the identity to all outputs that exist and that will.
  template <Container C, class Pact>
  RawInput<T, C> new_input(const Stream<T, C>& stream, const Pact& pact) {
    return RawInput<T, C>(builder_.new_input(stream, pact).core());
  }
  /// The same, linked only as `links` say (to outputs, which may be added later).
  template <Container C, class Pact>
  RawInput<T, C> new_input(const Stream<T, C>& stream, const Pact& pact,
                           const std::vector<LinkTo<T>>& links) {
    return RawInput<T, C>(builder_.new_input(stream, pact, links).core());
  }
  /// Adds an output; linked by the identity from all inputs that exist and that will.
  template <Container C>
  NewRawOutput<T, C> new_output() {
    return raw(builder_.template new_output<C>());
  }
  /// The same, linked only as `links` say (from inputs, which must exist).
  template <Container C>
  NewRawOutput<T, C> new_output(const std::vector<LinkTo<T>>& links) {
    return raw(builder_.template new_output<C>(links));
  }
  /// When a change of input `input`'s frontier runs the operator; `always` unless told otherwise.
  void set_interest(std::uint32_t input, progress::FrontierInterest interest) {
    builder_.set_interest(input, interest);
  }
  [[nodiscard]] OperatorInfo info() const { return builder_.info(); }

  /// Ends building. `logic(Accounts<T>&)` returns nothing, or `true` while it is incomplete.
  template <class Logic>
  void build(Logic logic) {
    static_assert(std::is_invocable_v<Logic&, Accounts<T>&>,
                  "the logic of a raw operator is called with its accounts");
    builder_.build_without_capabilities(
        [logic = std::move(logic), accounts = Accounts<T>(*builder_.context())]() mutable {
          return logic(accounts);
        });
  }

 private:
  template <Container C>
  static NewRawOutput<T, C> raw(NewOutput<T, C> output) {
    return {RawOutput<T, C>(output.port.core()), std::move(output.stream)};
  }

  OperatorBuilder<T> builder_;
};

}  // namespace leat::dataflow
