// What      Container builders: what records are given to one by one, and batches are taken from.
//           Sessions and exchanges use CapacityBuilder unless an author brings another.
// Protocol  `push` absorbs a record; if it returns true there may be full batches, to be taken with
//           `extract` until that is null. `finish` gives all that is left, one batch a call, and
//           null in the end. What either returned is the caller's until the next call, who may leave
//           in it whatever it likes, also other memory: it is cleared before it is used again.
//           `relax` gives up memory that holds no records.
// Invariants  (1) A builder with `preserves_length = true` gives out as many records as it was given:
//             what is counted in front of an exchange must be what is counted behind it.
// Source    Timely Dataflow's `ContainerBuilder`; a `push` that tells whether to look is ours.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include <leat/dataflow/container.hpp>

namespace leat::dataflow {

template <class B>
concept ContainerBuilder = std::default_initializable<B> && std::movable<B> && requires(B builder) {
  typename B::Batch;
  requires Container<typename B::Batch>;
  { builder.extract() } -> std::same_as<typename B::Batch*>;
  { builder.finish() } -> std::same_as<typename B::Batch*>;
  builder.relax();
};

/// A builder that takes an `R`.
template <class B, class R>
concept BuilderFor = ContainerBuilder<B> && requires(B builder, R&& record) {
  { builder.push(std::forward<R>(record)) } -> std::same_as<bool>;
};

/// A builder that neither makes records nor drops nor joins any.
template <class B>
concept PreservesLength = ContainerBuilder<B> && requires { requires B::preserves_length; };

/// The default: a batch is given out when it is at capacity, first the oldest.
template <Container C>
class CapacityBuilder {
 public:
  using Batch = C;
  static constexpr bool preserves_length = true;

  template <class R>
    requires PushInto<C, R>
  bool push(R&& record) {
    current_.push_back(std::forward<R>(record));
    if (!at_capacity(current_)) [[likely]]
      return false;
    full_.push_back(std::exchange(current_, C{}));
    reclaim();
    return true;
  }

  [[nodiscard]] C* extract() {
    if (next_ == full_.size()) {
      full_.clear();
      next_ = 0;
      return nullptr;
    }
    return hand_out(std::move(full_[next_++]));
  }

  [[nodiscard]] C* finish() {
    if (C* const full = extract()) return full;
    if (record_count(current_) != 0) return hand_out(std::exchange(current_, C{}));
    reclaim();
    return nullptr;
  }

  void relax() {
    if (record_count(current_) == 0) current_ = C{};
    handed_ = C{};
    is_out_ = false;
    if (next_ == full_.size()) {
      full_ = std::vector<C>();
      next_ = 0;
    }
  }

 private:
  C* hand_out(C&& batch) {
    handed_ = std::move(batch);
    is_out_ = true;
    return &handed_;
  }
  // The memory that came back for what was handed out last holds the next records.
  void reclaim() {
    if (!std::exchange(is_out_, false)) return;
    handed_.clear();
    std::swap(current_, handed_);
  }

  C current_;
  C handed_;  // the caller's, from when it was given out until the next call
  bool is_out_ = false;
  std::vector<C> full_;  // in the order they became so; taken up to next_
  std::size_t next_ = 0;
};

}  // namespace leat::dataflow
