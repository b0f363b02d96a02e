// What      Ring<T>: a queue of fixed records from one or many producers to any number of consumers,
//           in private memory or in a segment that processes share. Ends are made from it: producers,
//           broadcast consumers who see everything, and members of groups who share the work.
// Shape     auto ring = Ring<Quote>::make({.slots = 4096});
//           auto producer = ring->single_producer("feed");
//           auto consumer = ring->consumer({.label = "book"});
//           producer->try_push(quote);
//           while (consumer->try_pop(quote) == Pull::ok) ...
// Protocol  docs/protocols/ring.md. The parts: slot.hpp (how a message is written and read),
//           producer.hpp, consumer.hpp, group.hpp, core.hpp (who is attached), bell.hpp (sleeping).
// Limits    T is bytes that mean the same everywhere: no pointers in it. What a hostile process
//           writes into a shared ring is taken for a T.
#pragma once

#include <leat/base/result.hpp>
#include <leat/queue/ring/consumer.hpp>
#include <leat/queue/ring/group.hpp>
#include <leat/queue/ring/producer.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace leat::queue {

/// A handle on a ring; copies are of the same ring. Ends keep its memory.
///
/// Threads: any.
template <RingRecord T>
class Ring {
 public:
  /// A ring in this process's own memory. Errors: options out of their ranges.
  [[nodiscard]] static Result<Ring> make(const RingOptions& options) {
    auto shape = shape_of(options);
    if (!shape) return shape.error();
    return Ring(make_private_ring(*shape));
  }

  /// The shape that a ring of `T`s with these options has.
  [[nodiscard]] static Result<RingShape> shape_of(const RingOptions& options) {
    static_assert(sizeof(T) <= kRingPayloadMax, "a ring's records have at most 1 MiB");
    return ring_shape(options, static_cast<std::uint32_t>(sizeof(T)), kRingStride<T>);
  }

  /// A ring over memory that is its caller's affair. Requires: `core` has the shape of a ring of
  /// `T`s; checked.
  explicit Ring(std::shared_ptr<RingCore> core) : core_(std::move(core)) {
    LEAT_CHECK(core_->shape().stride == kRingStride<T> && core_->shape().payload_bytes == sizeof(T),
               "a ring was taken for one of other records");
  }

  /// Takes the place of the one producer.
  ///
  /// Errors: the ring is of many; another is there and lives; no seat; the label is too long.
  [[nodiscard]] Result<SingleProducer<T>> single_producer(std::string_view label = "") {
    if (core_->shape().kind != RingKind::single_producer) {
      return wrong_kind("its single producer", "a ring of many_producers", "shared_producer");
    }
    auto seat = core_->sit(SeatRole::producer, label, {}, false);
    if (!seat) return seat.error();
    return SingleProducer<T>(internal::Sitting(core_, *seat));
  }

  /// Errors: the ring is of one; no seat; the label is too long.
  [[nodiscard]] Result<SharedProducer<T>> shared_producer(std::string_view label = "") {
    if (core_->shape().kind != RingKind::many_producers) {
      return wrong_kind("one of many producers", "a ring of a single_producer", "single_producer");
    }
    auto seat = core_->sit(SeatRole::producer, label, {}, false);
    if (!seat) return seat.error();
    return SharedProducer<T>(internal::Sitting(core_, *seat));
  }

  /// A consumer that sees every message from `options.start` on.
  ///
  /// Errors: no seat; a reliable one of a ring that is not; the label is too long. A reliable one
  ///         that starts earlier than `latest` may still lose what is overwritten while it joins; it
  ///         is told so, and loses nothing afterwards.
  [[nodiscard]] Result<BroadcastConsumer<T>> consumer(const ConsumerOptions& options = {}) {
    auto seat = core_->sit(SeatRole::broadcast, options.label, options.start, options.reliable);
    if (!seat) return seat.error();
    return BroadcastConsumer<T>(internal::Sitting(core_, *seat), options);
  }

  /// A member of the group `name`, whose members share the messages among them.
  ///
  /// Errors: no seat; no room for a further group; what the group is and was asked to be differ.
  [[nodiscard]] Result<GroupMember<T>> member(std::string_view name,
                                              const MemberOptions& options = {}) {
    for (;;) {
      auto group = core_->join_group(name, options.start, options.reliable);
      if (!group) return group.error();
      auto seat = core_->sit(SeatRole::member, options.label, {}, false, group->place);
      if (!seat) return seat.error();
      internal::Sitting sitting(core_, *seat);
      // Removed between the two? Then it is another one, or none, by now.
      if (core_->group_state(group->place).generation != group->generation) continue;
      return GroupMember<T>(std::move(sitting), group->place, options);
    }
  }

  /// Frees the place of a group that nobody is a member of; in a reliable ring producers wait for it
  /// no more. Errors: there is none of that name; it has members.
  [[nodiscard]] Result<void> remove_group(std::string_view name) {
    return core_->remove_group(name);
  }

  [[nodiscard]] const RingShape& shape() const noexcept { return core_->shape(); }
  [[nodiscard]] RingReport report() const { return core_->report(); }
  /// Frees what the dead left behind. Who waits does so by itself, now and then.
  std::size_t repair() { return core_->repair(); }
  /// Makes all ends that sleep look again.
  void wake_all() noexcept { core_->wake_all(); }
  [[nodiscard]] RingCore& core() const noexcept { return *core_; }

 private:
  static Error wrong_kind(const char* asked, const char* found, const char* next) {
    return Error{std::string("ring: asked for ") + asked + "; found " + found + "; take " + next +
                 ", or make the ring of the other kind"};
  }

  std::shared_ptr<RingCore> core_;
};

}  // namespace leat::queue
