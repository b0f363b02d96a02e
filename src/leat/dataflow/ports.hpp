// What      An operator's own ends: input ports, which it takes messages from, and output ports,
//           which it sends records to.
// Protocol  A message that was taken is acknowledged when its guard (`Received`) is destroyed;
//           while the guard lives, capabilities may be made from it. Records leave when their
//           session ends; what an edge still holds on its way to other workers leaves when the
//           operator's activation ends.
// Invariants
//   (1) An activation takes at most kMessagesPerActivation messages from each input, and no second
//       one once its fuel is spent; the operator runs again if more wait.
//   (2) A session opens only with a capability of its own port, or with a message whose link to the
//       port does not change times.
//   (3) Empty batches are not sent.
// Cost      Per batch: one indirect call to take it and one to send it. Per record: nothing.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/base/small_vector.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/dataflow/activator.hpp>
#include <leat/dataflow/capability.hpp>
#include <leat/dataflow/container_builder.hpp>
#include <leat/dataflow/message.hpp>
#include <leat/dataflow/tee.hpp>
#include <leat/progress/subgraph.hpp>

namespace leat::dataflow {

/// How many messages an operator may take before others get their turn.
inline constexpr std::uint32_t kMessagesPerActivation = 64;

/// What the ports of one operator share, with its activators too.
template <progress::Timestamp T>
struct OperatorContext final : ActivationPlace {
  using Summary = progress::SummaryOf<T>;
  struct Link {
    std::uint32_t output;
    Summary summary;
  };
  using Links = std::vector<Link>;
  /// What is asked of an input, whatever its batches are.
  class Reading : public core::Keeper {
   public:
    [[nodiscard]] virtual progress::Unread unread() const = 0;

   protected:
    ~Reading() = default;
  };
  struct InputInfo {
    progress::PortIndex target;
    std::unique_ptr<const Links> links;  // null: to each output, and times stay as they are
    const Reading* reading = nullptr;    // null once the port is gone
  };
  /// An output that was used in this activation and must be flushed at its end.
  class Flushable : public core::Keeper {
   public:
    virtual void flush() = 0;

   protected:
    ~Flushable() = default;

    bool is_waiting_ = false;  // in the context's `to_flush`

   private:
    friend OperatorContext;
    Flushable* next_ = nullptr;  // there
  };

  progress::Subgraph<T>* graph = nullptr;
  LocalPtr<progress::Ledger<T>> ledger;
  progress::SharedName name;
  SmallVector<InputInfo, 1> inputs;
  SmallVector<LocalPtr<OutputToken<T>>, 1> outputs;

  core::Fuel* tank = nullptr;        // the worker's
  std::uint64_t* records = nullptr;  // that came to operators of this worker
  Flushable* to_flush = nullptr;     // and others after it
  std::uint32_t activation = 0;      // counts runs of the operator, modulo 2^32
  bool own_accounts = false;  // its logic does them; nobody else knows what it holds
  bool more = false;          // an input was left with messages in it

  void begin() noexcept {
    ++activation;
    more = false;
    fuel = tank->per_activation;
  }
  /// Returns: whether the operator has more to do at once.
  bool end() {
    while (Flushable* const output = to_flush) {
      to_flush = output->next_;
      output->is_waiting_ = false;
      output->flush();
    }
    tank->left -= tank->per_activation - fuel + core::Fuel::kActivation;
    return more;
  }
  void flush_at_end(Flushable& output) noexcept {
    if (output.is_waiting_) return;
    output.is_waiting_ = true;
    output.next_ = std::exchange(to_flush, &output);
  }
};

template <progress::Timestamp T, Container C>
class OutputPort;

namespace internal {

template <progress::Timestamp T, Container C>
struct InputCore final : OperatorContext<T>::Reading, LocalCounted<InputCore<T, C>> {
  InputCore(OperatorContext<T>& context_in, std::uint32_t number_in, PullPtr<T, C> pull_in)
      : number(number_in),
        context(&context_in),
        pull(std::move(pull_in)),
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
  C spare;  // an emptied batch on its way back to the sender
  progress::PortIndex target;
  std::uint32_t activation = 0;
  std::uint32_t taken = 0;  // in this activation

  void keep() { this->used(context->graph->plane().spares()); }
  /// Takes an emptied batch back. A guard that was kept may end when the worker has swept.
  void take_back(C batch) {
    if (this->is_listed()) spare = std::move(batch);
  }
  void release_spares() override {
    spare = C{};
    pull->release_spares();
  }
};

template <progress::Timestamp T, Container C>
struct OutputCore final : OperatorContext<T>::Flushable, LocalCounted<OutputCore<T, C>> {
  OutputCore(OperatorContext<T>& context_in, LocalPtr<OutputToken<T>> token_in,
             LocalPtr<Tee<T, C>> tee_in)
      : context(&context_in), token(std::move(token_in)), tee(std::move(tee_in)) {
    ++token->ports;
  }
  OutputCore(const OutputCore&) = delete;
  OutputCore& operator=(const OutputCore&) = delete;
  ~OutputCore() { --token->ports; }

  bool in_session = false;
  LocalPtr<OperatorContext<T>> context;
  LocalPtr<OutputToken<T>> token;
  LocalPtr<Tee<T, C>> tee;
  Message<T, C> message;  // its batch is being filled

  void ship() {
    if (record_count(message.batch) == 0) return;
    if (token->ledger->closed()) {  // whoever would receive it is gone
      message.batch.clear();
      return;
    }
    context->fuel -= static_cast<std::int64_t>(record_count(message.batch));
    tee->push(message);
    message.batch.clear();
    this->used(context->graph->plane().spares());
    if (tee->may_hold()) context->flush_at_end(*this);
  }
  void release_spares() override {
    if (record_count(message.batch) == 0) message.batch = C{};
    tee->release_spares();
  }
  void flush() override { tee->flush(); }
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

  /// Whether a session of `output` may be opened with the message itself. For ports.
  [[nodiscard]] bool opens(const OutputToken<T>& token) const {
    const auto& context = *core_->context;
    if (token.output >= context.outputs.size() || context.outputs[token.output].get() != &token)
      return false;
    // Links that leave times alone open at all of them; most operators have no others.
    if (!context.inputs[core_->number].links) [[likely]]
      return true;
    for (const T& time : message_.stamp.times()) {
      if (!allows(time, time, token.output)) return false;
    }
    return true;
  }

  /// For input ports.
  Received(const LocalPtr<internal::InputCore<T, C>>& core, Message<T, C>&& message)
      : core_(core),
        message_(std::move(message)),
        count_(static_cast<std::int64_t>(record_count(message_.batch))) {}

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
    for (const T& time : message_.stamp.times())
      core_->context->ledger->update(core_->target, time, -count_);
    message_.batch.clear();
    core_->take_back(std::move(message_.batch));
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
    auto& core = *core_;
    if (core.activation != core.context->activation) {
      core.activation = core.context->activation;
      core.taken = 0;
    }
    if (core.taken == kMessagesPerActivation || (core.taken > 0 && core.context->fuel <= 0)) {
      if (core.pull->was_pending()) core.context->more = true;
      return std::nullopt;
    }
    Message<T, C> message{Stamp<T>(), std::move(core.spare)};
    if (!core.pull->pull(message)) {
      core.spare = std::move(message.batch);
      return std::nullopt;
    }
    if (++core.taken == 1) core.keep();
    const std::size_t records = record_count(message.batch);
    *core.context->records += records;
    core.context->fuel -= static_cast<std::int64_t>(records);
    return std::optional<Received<T, C>>(std::in_place, core_, std::move(message));
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
  LocalPtr<internal::InputCore<T, C>> core_;
};

/// Records on their way out of an operator at one time. They leave when it is destroyed, or before.
template <progress::Timestamp T, Container C>
class [[nodiscard]] Session {
 public:
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Sends what was given; after an exception it is dropped with the operator that threw.
  ~Session() noexcept(false) {
    core_.in_session = false;
    if (record_count(core_.message.batch) == 0) return;
    if (std::uncaught_exceptions() > exceptions_) {
      core_.message.batch.clear();
    } else {
      core_.ship();
    }
  }

  /// Sends one record.
  template <class R>
  void give(R&& record) {
    auto& batch = core_.message.batch;
    batch.push_back(std::forward<R>(record));
    if (at_capacity(batch)) core_.ship();
  }
  /// Sends each of `records`; moves them out of a container that is given away.
  template <class Range>
  void give_all(Range&& records) {
    constexpr bool kGivenAway = !std::is_lvalue_reference_v<Range> && !std::ranges::view<Range>;
    for (auto&& record : records) {
      if constexpr (kGivenAway) {
        give(std::move(record));
      } else {
        give(std::forward<decltype(record)>(record));
      }
    }
  }
  /// Sends a batch as it is, after what was given before it. Leaves an empty one.
  void give_batch(C& batch) {
    core_.ship();
    std::swap(core_.message.batch, batch);
    core_.ship();
    std::swap(core_.message.batch, batch);
  }
  void give_batch(C&& batch) { give_batch(batch); }

  /// For output ports.
  Session(internal::OutputCore<T, C>& core, const Stamp<T>& stamp) : core_(core) {
    if (core_.in_session) {
      throw UsageError(core_.token->described(), "a session", "a session that has not ended",
                       "let the first one go out of scope, or send through it");
    }
    core_.in_session = true;
    core_.message.stamp = stamp;
  }

 private:
  internal::OutputCore<T, C>& core_;
  int exceptions_ = std::uncaught_exceptions();  // under way when this was made
};

/// Records on their way out of an operator through a builder of the author's own. What it still
/// holds leaves when this is destroyed; the builder gives its memory up then.
template <progress::Timestamp T, ContainerBuilder B>
class [[nodiscard]] BuiltSession {
 public:
  using Batch = typename B::Batch;

  BuiltSession(const BuiltSession&) = delete;
  BuiltSession& operator=(const BuiltSession&) = delete;
  ~BuiltSession() noexcept(false) {
    const bool failed = std::uncaught_exceptions() > exceptions_;
    while (Batch* const batch = builder_.finish()) {
      if (!failed) session_.give_batch(*batch);
    }
    builder_.relax();
  }

  /// Gives one record to the builder.
  template <class R>
    requires BuilderFor<B, R>
  void give(R&& record) {
    if (!builder_.push(std::forward<R>(record))) return;
    while (Batch* const batch = builder_.extract()) session_.give_batch(*batch);
  }

  /// For output ports.
  template <class At>
  BuiltSession(OutputPort<T, Batch>& port, const At& at, B& builder)
      : session_(port.session(at)), builder_(builder) {}

 private:
  Session<T, Batch> session_;
  B& builder_;
  int exceptions_ = std::uncaught_exceptions();  // under way when this was made
};

/// Where an operator sends records.
template <progress::Timestamp T, Container C>
class OutputPort {
 public:
  /// Opens a session at the capability's time.
  ///
  /// Errors: `UsageError` if the capability is not of this output of this operator.
  Session<T, C> session(const Capability<T>& capability) {
    require(capability.token() == core_->token, [&] {
      return capability ? "a capability of " + capability.token()->described()
                        : std::string("an empty capability");
    });
    return {*core_, Stamp<T>(capability.time())};
  }
  /// Opens a session at all times of the set: each of its messages is at all of them.
  Session<T, C> session(const CapabilitySet<T>& set) {
    SmallVector<T, 4> times;
    for (const auto& member : set.members()) {
      require(member.token() == core_->token,
              [&] { return "a capability of " + member.token()->described(); });
      times.push_back(member.time());
    }
    require(!times.empty(), [] { return std::string("an empty capability set"); });
    return {*core_, Stamp<T>(std::span<const T>(times.data(), times.size()))};
  }
  /// Opens a session at the times of a message, whose input must lead here without advancing times.
  template <Container D>
  Session<T, C> session(const Received<T, D>& message) {
    require(message.opens(*core_->token), [] {
      return std::string("a message of an input that does not lead to it at the same time");
    });
    return {*core_, message.stamp()};
  }

  /// Opens a session, at what the others open at, that sends what `builder` makes of the records.
  /// `builder` must outlive it.
  template <class At, ContainerBuilder B>
    requires std::same_as<typename B::Batch, C>
  BuiltSession<T, B> session(const At& at, B& builder) {
    return {*this, at, builder};
  }

  /// Which of the operator's outputs it is.
  [[nodiscard]] std::uint32_t number() const noexcept { return core_->token->output; }

  /// For builders.
  explicit OutputPort(LocalPtr<internal::OutputCore<T, C>> core) : core_(std::move(core)) {}
  [[nodiscard]] const LocalPtr<internal::OutputCore<T, C>>& core() const noexcept { return core_; }

 private:
  template <class Found>
  void require(bool fits, Found&& found) const {
    if (fits) [[likely]]
      return;
    throw UsageError(core_->token->described(), "a session", found(),
                     "use a capability that was made for this output of this operator");
  }

  LocalPtr<internal::OutputCore<T, C>> core_;
};

}  // namespace leat::dataflow
