// What      An operator's input: where it takes messages from, and a message that was taken.
// Protocol  A message that was taken is acknowledged when its guard (`Received`) is destroyed;
//           while the guard lives, capabilities may be made from it.
// Invariants
//   (1) An activation takes at most kMessagesPerActivation messages from each input, and no second
//       one once its fuel is spent; the operator runs again if more wait.
// Cost      Within a worker a batch is taken where it waits, without a call; from other workers with
//           one indirect call. Per record: nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <leat/base/local_ptr.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/dataflow/capability.hpp>
#include <leat/dataflow/message.hpp>
#include <leat/dataflow/message_ring.hpp>
#include <leat/dataflow/operator_context.hpp>
#include <leat/dataflow/show.hpp>
#include <leat/progress/subgraph.hpp>

namespace leat::dataflow {

template <progress::Timestamp T, Container C>
class OutputPort;

namespace internal {

template <progress::Timestamp T, Container C>
struct InputCore final : OperatorContext<T>::Reading, LocalCounted<InputCore<T, C>> {
  InputCore(OperatorContext<T>& context_in, std::uint32_t number_in, PullPtr<T, C> pull_in)
      : number(number_in),
        context(&context_in),
        pull(std::move(pull_in)),
        ring(pull->ring()),
        target(context_in.inputs[number_in].target) {
    context->inputs[number].reading = this;
  }
  InputCore(const InputCore&) = delete;
  InputCore& operator=(const InputCore&) = delete;
  ~InputCore() { context->inputs[number].reading = nullptr; }
  [[nodiscard]] progress::Unread unread() const override {
    const std::size_t owners = this->local_owners();  // the port, and messages that were taken
    return {pull->was_pending(), owners > 1 ? owners - 1 : 0};
  }

  std::uint32_t number;
  LocalPtr<OperatorContext<T>> context;  // a message that was kept may outlive its operator
  PullPtr<T, C> pull;
  MessageRing<T, C>* ring;  // of `pull`; null: it has to be asked
  C spare;                  // an emptied batch on its way back to the sender
  progress::PortIndex target;
  std::uint16_t activation = 0;  // the last that took something, modulo 2^16
  std::uint16_t taken = 0;       // in it

  void keep() {
    if (!this->used_again()) [[unlikely]]
      this->used(context->graph->plane().spares());
  }
  /// Takes an emptied batch back. A guard that was kept may end when the worker has swept.
  void take_back(C& batch) {
    if (this->is_listed()) std::swap(spare, batch);
  }
  void release_spares() override {
    spare = C{};
    pull->release_spares();
  }
};

}  // namespace internal

/// A message that was taken from an input: its records, and the right to make capabilities from it.
///
/// Progress hears that it was consumed when this is destroyed. It may be kept: until then its time
/// stays possible downstream.
template <progress::Timestamp T, Container C>
class Received {
 public:
  using leat_stays_on_its_worker = void;

  Received(Received&& other) noexcept
      : core_(std::move(other.core_)), message_(std::move(other.message_)), count_(other.count_) {}
  Received& operator=(Received&& other) noexcept {
    if (this != &other) {
      acknowledge();
      core_ = std::move(other.core_);
      message_ = std::move(other.message_);
      count_ = other.count_;
    }
    return *this;
  }
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;
  ~Received() { acknowledge(); }

  /// When the message is.
  ///
  /// Errors: `UsageError` if it carries several times; ask for its `stamp()`.
  [[nodiscard]] const T& time() const {
    if (message_.stamp.single()) [[likely]]
      return message_.stamp.first();
    throw UsageError(core_->context->name->described(), "the time of a message",
                     std::to_string(message_.stamp.times().size()) + " times",
                     "use stamp() and retain_all()");
  }
  [[nodiscard]] const Stamp<T>& stamp() const noexcept { return message_.stamp; }

  /// The records, to read, to change or to move out.
  [[nodiscard]] C& records() noexcept { return message_.batch; }

  /// A capability at the message's time for one of the operator's outputs.
  ///
  /// Errors: `UsageError` if the output is not connected to this input, or only by a path that
  ///         advances the time (use `delayed`).
  [[nodiscard]] Capability<T> retain(std::uint32_t output = 0) const {
    return delayed(time(), output);
  }
  template <Container D>
  [[nodiscard]] Capability<T> retain(const OutputPort<T, D>& output) const {
    return retain(output.number());
  }
  /// A capability at a time that the message's time may lead to.
  [[nodiscard]] Capability<T> delayed(const T& later, std::uint32_t output = 0) const {
    for (const T& time : message_.stamp.times()) {
      if (allows(time, later, output))
        return Capability<T>::mint(core_->context->outputs[output], later);
    }
    throw UsageError(
        core_->context->name->described(),
        "a capability at " + show(later) + " for output " + std::to_string(output),
        "a message at " + show(message_.stamp.first()) + " on input " +
            std::to_string(core_->number),
        "no path through the operator leads there; ask for a later time or connect the ports");
  }
  /// Capabilities at all the message's times.
  [[nodiscard]] CapabilitySet<T> retain_all(std::uint32_t output = 0) const {
    CapabilitySet<T> set;
    for (const T& time : message_.stamp.times()) set.insert(delayed(time, output));
    return set;
  }

  /// Whether a session of an operator's output may be opened with the message itself. For ports.
  [[nodiscard]] bool opens(const OperatorContext<T>& context, std::uint32_t output) const {
    if (core_->context.get() != &context) return false;
    // Links that leave times alone open at all of them; most operators have no others.
    if (!context.inputs[core_->number].links) [[likely]]
      return true;
    for (const T& time : message_.stamp.times()) {
      if (!allows(time, time, output)) return false;
    }
    return true;
  }

  /// For input ports.
  Received(const LocalPtr<internal::InputCore<T, C>>& core, Message<T, C>&& message)
      : core_(core),
        message_(std::move(message)),
        count_(static_cast<std::int64_t>(record_count(message_.batch))) {}
  Received(const LocalPtr<internal::InputCore<T, C>>& core, MessageRing<T, C>& ring)
      : core_(core),
        message_(ring.take(core->spare)),
        count_(static_cast<std::int64_t>(record_count(message_.batch))) {}
  /// How many records it had.
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }

 private:
  [[nodiscard]] bool allows(const T& time, const T& later, std::uint32_t output) const {
    const auto& links = core_->context->inputs[core_->number].links;
    if (!links) [[likely]]
      return output < core_->context->outputs.size() && progress::less_equal(time, later);
    return std::any_of(links->begin(), links->end(), [&](const auto& link) {
      if (link.output != output) return false;
      const auto reached = progress::PathSummary<T>::results_in(link.summary, time);
      return reached && progress::less_equal(*reached, later);
    });
  }

  void acknowledge() {
    if (!core_) return;
    auto& ledger = *core_->context->ledger;
    if (message_.stamp.single()) [[likely]] {
      ledger.update(core_->target, message_.stamp.first(), -count_);
    } else {
      for (const T& time : message_.stamp.times()) ledger.update(core_->target, time, -count_);
    }
    message_.batch.clear();
    core_->take_back(message_.batch);
    core_.reset();
  }

  LocalPtr<internal::InputCore<T, C>> core_;
  Message<T, C> message_;
  std::int64_t count_;
};

/// Where an operator takes messages from.
template <progress::Timestamp T, Container C>
class InputPort {
 public:
  /// Takes the next message; none if there is none now, or if this activation took its share.
  [[nodiscard]] std::optional<Received<T, C>> next() {
    if (core_->ring != nullptr && core_->ring->empty()) return std::nullopt;
    return take();
  }

  /// Calls `f(Received&)` for each message until there is none, or this activation took its share.
  template <class F>
  void for_each(F&& f) {
    while (auto message = next()) f(*message);
  }

  /// The times at which messages may still arrive. Constant during an activation; messages that
  /// were taken in it are not earlier.
  [[nodiscard]] progress::AntichainRef<T> frontier() const {
    return core_->context->graph->frontier(core_->target);
  }

  /// For builders.
  explicit InputPort(LocalPtr<internal::InputCore<T, C>> core) : core_(std::move(core)) {}
  [[nodiscard]] const LocalPtr<internal::InputCore<T, C>>& core() const noexcept { return core_; }

 private:
  std::optional<Received<T, C>> take() {
    auto& core = *core_;
    auto& context = *core.context;
    if (const auto now = static_cast<std::uint16_t>(context.activation); core.activation != now) {
      core.activation = now;
      core.taken = 0;
    }
    std::optional<Received<T, C>> received;
    if (core.taken == kMessagesPerActivation || (core.taken > 0 && context.fuel <= 0)) {
      if (core.pull->was_pending()) context.more = true;
      return received;
    }
    if (core.ring != nullptr) [[likely]] {
      received.emplace(core_, *core.ring);
    } else {
      Message<T, C> message{Stamp<T>(), std::move(core.spare)};
      if (!core.pull->pull(message)) {
        core.spare = std::move(message.batch);
        return received;
      }
      received.emplace(core_, std::move(message));
    }
    if (++core.taken == 1) core.keep();
    *context.records += static_cast<std::uint64_t>(received->count());
    context.fuel -= received->count();
    return received;
  }

  LocalPtr<internal::InputCore<T, C>> core_;
};

}  // namespace leat::dataflow
