// What      What the tests of rings share: a producer of either kind behind one face, and peers whose
//           deaths the test decides.
#pragma once

#include <leat/queue/ring/ring.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace leat::queue::test {

template <class T>
class AnyProducer {
 public:
  explicit AnyProducer(Ring<T>& ring)
      : end_(ring.shape().kind == RingKind::single_producer ? End(ring.single_producer().value())
                                                            : End(ring.shared_producer().value())) {
  }

  Push try_push(const T& value) {
    return std::visit([&](auto& end) { return end.try_push(value); }, end_);
  }
  Push push(const T& value, Nanos at_most, OnSlow on_slow, const Clock& clock,
            const Waiting& waiting = Waiting::yielding()) {
    return std::visit([&](auto& end) { return end.push(value, at_most, on_slow, waiting, clock); },
                      end_);
  }
  std::uint64_t credit() {
    return std::visit([](auto& end) { return end.credit(); }, end_);
  }
  std::uint64_t headroom() {
    return std::visit([](auto& end) { return end.headroom(); }, end_);
  }
  template <class Do>
  void with_batch(std::size_t count, Do&& act) {
    std::visit(
        [&](auto& end) {
          auto batch = end.reserve(count);
          act(batch);
        },
        end_);
  }

 private:
  using End = std::variant<SingleProducer<T>, SharedProducer<T>>;
  End end_;
};

/// Peers among whom the test says who is dead. `as(owner)` is the view of one of them.
class Mortals {
 public:
  [[nodiscard]] std::shared_ptr<const RingPeers> as(std::uint64_t owner) const {
    return std::make_shared<View>(owner, dead_);
  }
  void kill(std::uint64_t owner) { dead_->insert(owner); }

 private:
  struct View final : RingPeers {
    View(std::uint64_t owner, std::shared_ptr<std::set<std::uint64_t>> the_dead)
        : owner_(owner), dead_(std::move(the_dead)) {}
    [[nodiscard]] std::uint64_t self() const noexcept override { return owner_; }
    [[nodiscard]] bool is_dead(std::uint64_t owner) const noexcept override {
      return dead_->count(owner) != 0;
    }
    std::uint64_t owner_;
    std::shared_ptr<std::set<std::uint64_t>> dead_;
  };

  std::shared_ptr<std::set<std::uint64_t>> dead_ = std::make_shared<std::set<std::uint64_t>>();
};

/// Memory that several views share, as processes share a segment.
template <class T>
class SharedMemory {
 public:
  explicit SharedMemory(const RingOptions& options)
      : shape_(Ring<T>::shape_of(options).value()), first_(make_private_ring(shape_)) {}

  [[nodiscard]] Ring<T> as(std::uint64_t owner, const Mortals& mortals) const {
    auto* memory = reinterpret_cast<std::byte*>(&first_->words());
    return Ring<T>(std::make_shared<RingCore>(memory, shape_, mortals.as(owner), first_));
  }
  [[nodiscard]] RingCore& core() const { return *first_; }

 private:
  RingShape shape_;
  std::shared_ptr<RingCore> first_;
};

inline constexpr RingKind kKinds[] = {RingKind::single_producer, RingKind::many_producers};

inline std::string kind_name(const testing::TestParamInfo<RingKind>& kind) {
  return kind.param == RingKind::single_producer ? "Single" : "Many";
}

/// Pushes the numbers from ... to - 1.
template <class Producer>
void produce(Producer& producer, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t n = from; n < to; ++n) ASSERT_EQ(producer.try_push(n), Push::ok);
}

}  // namespace leat::queue::test
