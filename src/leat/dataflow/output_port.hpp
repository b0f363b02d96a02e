// What      An operator's output: where it sends records, in sessions at one time each.
// Protocol  Records leave when their session ends, or before; what an edge still holds on its way to
//           other workers leaves when the operator's activation ends.
// Invariants
//   (1) A session opens only with a capability of its own port, or with a message whose link to the
//       port does not change times.
//   (2) Empty batches are not sent.
// Cost      Per batch: one indirect call. Per record: nothing.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <leat/base/exceptions.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/base/small_vector.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/dataflow/capability.hpp>
#include <leat/dataflow/container_builder.hpp>
#include <leat/dataflow/message.hpp>
#include <leat/dataflow/operator_context.hpp>
#include <leat/dataflow/tee.hpp>
#include <leat/progress/subgraph.hpp>

namespace leat::dataflow {

template <progress::Timestamp T, Container C>
class Received;
template <progress::Timestamp T, Container C>
class OutputPort;

namespace internal {

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
    const std::size_t records = record_count(message.batch);
    if (records == 0) return;
    if (token->ledger->closed()) [[unlikely]] {  // whoever would receive it is gone
      message.batch.clear();
      return;
    }
    context->fuel -= static_cast<std::int64_t>(records);
    tee->push(message);
    message.batch.clear();
    if (!this->used_again()) [[unlikely]]
      this->used(context->graph->plane().spares());
    if (tee->may_hold()) context->flush_at_end(*this);
  }
  void release_spares() override {
    if (record_count(message.batch) == 0) message.batch = C{};
    tee->release_spares();
  }
  void flush() override { tee->flush(); }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_second_session() const {
    throw UsageError(token->described(), "a session", "a session that has not ended",
                     "let the first one go out of scope, or send through it");
  }
};

}  // namespace internal

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
    if (exceptions_under_way() > exceptions_) {
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
  /// Sends what was given so far. Destruction does the same, unless an exception causes it.
  void flush() { core_.ship(); }
  /// Sends a batch as it is, after what was given before it. Leaves an empty one.
  void give_batch(C& batch) {
    core_.ship();
    std::swap(core_.message.batch, batch);
    core_.ship();
    std::swap(core_.message.batch, batch);
  }
  void give_batch(C&& batch) { give_batch(batch); }

  /// For output ports.
  [[gnu::always_inline]] Session(internal::OutputCore<T, C>& core, const Stamp<T>& stamp)
      : core_(core) {
    if (core_.in_session) [[unlikely]]
      core_.refuse_second_session();
    core_.in_session = true;
    core_.message.stamp = stamp;
  }

 private:
  internal::OutputCore<T, C>& core_;
  int exceptions_ = exceptions_under_way();  // when this was made
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
    const bool failed = exceptions_under_way() > exceptions_;
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
  int exceptions_ = exceptions_under_way();  // when this was made
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
  [[gnu::always_inline]] Session<T, C> session(const Received<T, D>& message) {
    require(message.opens(*core_->context, core_->token->output), [] {
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
  void require(bool fits, const Found& found) const {
    if (!fits) [[unlikely]]
      refuse(found);
  }
  template <class Found>
  [[noreturn, gnu::cold, gnu::noinline]] void refuse(const Found& found) const {
    throw UsageError(core_->token->described(), "a session", found(),
                     "use a capability that was made for this output of this operator");
  }

  LocalPtr<internal::OutputCore<T, C>> core_;
};

}  // namespace leat::dataflow
