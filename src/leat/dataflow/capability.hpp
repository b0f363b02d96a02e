// What      The right to send at a time on one output of one operator. While one is held, everybody
//           downstream must expect records at its time.
// Invariants
//   (1) Every capability is counted in its scope's ledger: made +1, dropped -1; a new one is
//       written before the one it comes from is dropped.
//   (2) A new one comes only from a held one or from an unacknowledged message, at a time that is
//       not earlier. Never from a frontier: a retraction could be in flight.
//   (3) It belongs to one port of one operator; every use on another is refused, also in release
//       builds.
// Threads   The worker's own; checked. After its dataflow is gone it has no effect.
// Source    Timely Dataflow's `Capability`; move-only and checked always is ours.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/base/thread_tag.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/dataflow/context.hpp>
#include <leat/dataflow/scope_state.hpp>
#include <leat/dataflow/show.hpp>
#include <leat/progress/antichain.hpp>
#include <leat/progress/ledger.hpp>
#include <leat/progress/order.hpp>
#include <leat/progress/subgraph.hpp>

namespace leat::dataflow {

/// The identity of one output port of one operator on one worker.
template <progress::Timestamp T>
struct OutputToken final : LocalCounted<OutputToken<T>> {
  progress::PortIndex port = 0;
  std::uint32_t output = 0;  // which of the operator's outputs
  std::uint32_t ports = 0;   // that hold this token beside its operator: the rest are capabilities
  LocalPtr<progress::Ledger<T>> ledger;
  progress::SharedName operator_name;
  ThreadTag owner = this_thread_tag();
  LocalPtr<ScopeState<T>> scope;

  [[nodiscard]] std::string described() const {
    return operator_name->described() + ", output " + std::to_string(output);
  }
};

/// Does `f()`, which sends from an output from outside of its operator, and so runs code of the
/// dataflow (a route, a copy). What it throws ends the dataflow, and comes through.
template <progress::Timestamp T, class F>
void from_outside(const OutputToken<T>& token, F&& f) {
  try {
    f();
  } catch (...) {
    dataflow_failed(*token.scope->context, token.scope->address.front(),
                    token.operator_name->described());
    throw;
  }
}

template <progress::Timestamp T>
class Capability {
 public:
  using leat_stays_on_its_worker = void;

  /// Empty: the right to nothing.
  Capability() = default;
  // In line: most that are moved from or destroyed are empty, and the compiler sees it.
  [[gnu::always_inline]] Capability(Capability&& other) noexcept
      : token_(std::move(other.token_)), time_(std::move(other.time_)) {}
  [[gnu::always_inline]] Capability& operator=(Capability&& other) noexcept {
    if (this != &other) {
      release();
      token_ = std::move(other.token_);
      time_ = std::move(other.time_);
    }
    return *this;
  }
  Capability(const Capability&) = delete;
  Capability& operator=(const Capability&) = delete;
  [[gnu::always_inline]] ~Capability() { release(); }

  /// Whether it still is the right to something: false after a move or `release`.
  [[nodiscard]] explicit operator bool() const noexcept { return token_ != nullptr; }

  /// Requires: not empty.
  [[nodiscard]] const T& time() const {
    require_held("its time");
    return time_;
  }

  /// The same, unchecked; for the library, where it keeps capabilities.
  [[nodiscard]] const T& held_time() const noexcept { return time_; }

  /// Another one at the same time.
  [[nodiscard]] Capability clone() const { return delayed(time_); }

  /// Another one at `time`.
  ///
  /// Errors: `UsageError` if `time` is not at or after this one's.
  [[nodiscard]] Capability delayed(const T& time) const {
    require_held("a capability from it");
    require_later("a delayed capability", time);
    return mint(token_, time);
  }
  /// The same, or nothing if `time` is not at or after this one's.
  [[nodiscard]] std::optional<Capability> try_delayed(const T& time) const {
    require_held("a capability from it");
    if (!progress::less_equal(time_, time)) return std::nullopt;
    return mint(token_, time);
  }

  /// Moves this one to `time`.
  ///
  /// Errors: `UsageError` if `time` is not at or after this one's; it is unchanged then.
  void downgrade(const T& time) {
    require_held("a downgrade of it");
    require_later("a downgrade", time);
    if (time == time_) return;
    token_->ledger->update(token_->port, time, +1);
    token_->ledger->update(token_->port, time_, -1);
    time_ = time;
  }
  /// Returns: false, with nothing changed, if `time` is not at or after this one's.
  [[nodiscard]] bool try_downgrade(const T& time) {
    require_held("a downgrade of it");
    if (!progress::less_equal(time_, time)) return false;
    downgrade(time);
    return true;
  }

  /// Gives the right up; empty afterwards. Destruction does the same.
  void release() noexcept {
    if (token_) give_up();
  }

  /// Whose it is; for ports that check it.
  [[nodiscard]] const LocalPtr<OutputToken<T>>& token() const noexcept { return token_; }

  /// Makes one from nothing. For the library: at construction of an operator, and from messages.
  [[nodiscard]] static Capability mint(LocalPtr<OutputToken<T>> token, const T& time) {
    token->ledger->update(token->port, time, +1);
    return Capability(std::move(token), time);
  }
  /// The one that the initial counts already hold; not written into the ledger.
  [[nodiscard]] static Capability initial(LocalPtr<OutputToken<T>> token) {
    return Capability(std::move(token), progress::TimestampTraits<T>::minimum());
  }

 private:
  Capability(LocalPtr<OutputToken<T>> token, T time)
      : token_(std::move(token)), time_(std::move(time)) {}

  [[gnu::noinline]] void give_up() noexcept {
    if (!token_->ledger->closed()) {
      LEAT_CHECK(token_->owner == this_thread_tag(),
                 "a capability was dropped by a thread that is not its worker");
      token_->ledger->update(token_->port, time_, -1);
    }
    token_.reset();
  }
  // What is asked of every use is asked in line; what to say of a wrong one is elsewhere.
  void require_held(const char* what) const {
    if (token_ && (token_->owner == this_thread_tag() || token_->ledger->closed())) [[likely]]
      return;
    refuse_use(what);
  }
  void require_later(const char* what, const T& time) const {
    if (progress::less_equal(time_, time)) [[likely]]
      return;
    refuse_time(what, time);
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_use(const char* what) const {
    if (token_) {
      throw UsageError(token_->described(), std::string(what) + " on the worker that owns it",
                       "another thread",
                       "send the record, not the capability, to the other worker");
    }
    throw UsageError("capability", what, "a capability that was moved from or released",
                     "keep the capability, or clone it before it is given away");
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_time(const char* what, const T& time) const {
    throw UsageError(token_->described(), std::string(what) + " to time " + show(time),
                     "a capability at time " + show(time_),
                     "capabilities only move to times at or after their own");
  }

  LocalPtr<OutputToken<T>> token_;
  T time_ = progress::TimestampTraits<T>::minimum();
};

/// Capabilities of one output at times that are not comparable: the right to send at or after any
/// of them.
template <progress::Timestamp T>
class CapabilitySet {
 public:
  using leat_stays_on_its_worker = void;

  CapabilitySet() = default;

  /// Adds one; what it makes superfluous is dropped, and it is itself if it is superfluous.
  void insert(Capability<T> capability) {
    for (const auto& held : members_) {
      if (progress::less_equal(held.time(), capability.time())) return;
    }
    std::erase_if(members_, [&](const Capability<T>& held) {
      return progress::less_equal(capability.time(), held.time());
    });
    members_.push_back(std::move(capability));
  }

  /// A capability at `time`.
  ///
  /// Errors: `UsageError` if no member is at or before it.
  [[nodiscard]] Capability<T> delayed(const T& time) const {
    if (const auto* member = find(time)) return member->delayed(time);
    throw UsageError(
        members_.empty() ? std::string("capability set") : members_.front().token()->described(),
        "a capability at time " + show(time),
        members_.empty() ? std::string("an empty set") : "no member of the set at or before it",
        "hold a capability for every time that is still to be sent at");
  }

  /// Moves the set to `frontier`: one capability at each of its times, the old ones dropped.
  ///
  /// Errors: `UsageError` if some time is not at or after a member; the set is unchanged then.
  void downgrade(std::span<const T> frontier) {
    CapabilitySet next;
    for (const T& time : frontier) next.insert(delayed(time));
    members_ = std::move(next.members_);
  }
  void downgrade(const progress::Antichain<T>& frontier) { downgrade(frontier.elements()); }

  void clear() { members_.clear(); }
  [[nodiscard]] bool empty() const noexcept { return members_.empty(); }
  [[nodiscard]] std::span<const Capability<T>> members() const noexcept { return members_; }

 private:
  const Capability<T>* find(const T& time) const {
    for (const auto& member : members_) {
      if (progress::less_equal(member.time(), time)) return &member;
    }
    return nullptr;
  }

  std::vector<Capability<T>> members_;
};

}  // namespace leat::dataflow
