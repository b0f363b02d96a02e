// What      The smallest scheduler there is, for tests of fibers: it runs each body in turn, on the
//           calling thread, until all have ended.
#pragma once

#include <leat/actor/fiber/fiber.hpp>
#include <leat/actor/preempt/turn.hpp>
#include <leat/actor/stack/stack_pool.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace leat::actor {

class Carousel {
 public:
  explicit Carousel(StackClass size = StackClass::k64KiB)
      : pool_({.stack_class = size, .cap = 8}) {}
  ~Carousel() {
    for (const auto& rider : riders_) pool_.give(rider->stack);
  }
  Carousel(const Carousel&) = delete;
  Carousel& operator=(const Carousel&) = delete;

  void add(std::function<void()> body) {
    auto& rider = *riders_.emplace_back(std::make_unique<Rider>());
    rider.carousel = this;
    rider.body = std::move(body);
    rider.stack = pool_.take();
    rider.stack.record().owner = &rider;
    rider.fiber.start(rider.stack.slot(), rider.stack.top(), &Carousel::enter, &rider);
  }

  /// Has those who run counted and cut short. Call it before `run`.
  void preempt_by(const PreemptKnobs& knobs) { knobs_ = knobs; }

  /// Until all have ended.
  void run() {
    while (run_round() > 0) {
    }
  }

  /// Each that has not ended, once. Returns: how many those were.
  std::size_t run_round() {
    Carrier carrier;
    carrier_ = &carrier;
    std::optional<Turn::Before> before;
    if (knobs_) before = turn().attach(*knobs_, [](void* self) { yield_in(self); }, this);
    std::size_t ran = 0;
    for (std::size_t i = 0; i < riders_.size(); ++i) {
      Rider& rider = *riders_[i];
      if (rider.ended) continue;
      ++ran;
      now_ = &rider;
      if (knobs_) turn().begin(rider.held);
      switch_to(carrier, own_, rider.fiber);
      if (knobs_) rider.held = turn().end(reductions_);
    }
    if (before) turn().detach(*before);
    return ran;
  }

  /// By the body that runs: let the next one run.
  void yield() {
    Rider& rider = *now_;
    switch_to(*carrier_, rider.fiber, own_);
  }

  /// The same by the jump alone, with nothing kept: what goes wrong then.
  void jump() {
    Rider& rider = *now_;
    swap_context(const_cast<Context&>(rider.fiber.context()), own_.context(), nullptr);
  }

  /// Ends the body that `owner`, of a stack's record, stands for; on its own stack.
  [[noreturn]] static void end_now(void* owner) {
    auto& rider = *static_cast<Rider*>(owner);
    rider.ended = true;
    switch_for_good(*rider.carousel->carrier_, rider.fiber, rider.carousel->own_);
  }

  [[nodiscard]] Fiber& fiber() { return now_->fiber; }
  [[nodiscard]] Fiber& fiber(std::size_t which) { return riders_[which]->fiber; }
  [[nodiscard]] Stack stack(std::size_t which) const { return riders_[which]->stack; }
  [[nodiscard]] const Carrier& carrier() const { return *carrier_; }
  [[nodiscard]] bool ended(std::size_t which) const { return riders_[which]->ended; }
  [[nodiscard]] std::uint64_t reductions() const { return reductions_; }

 private:
  struct Rider {
    Carousel* carousel = nullptr;
    std::function<void()> body;
    Stack stack;
    Fiber fiber;
    bool ended = false;
    std::uint32_t held = 0;
  };

  static void enter(void* argument, void* /*message*/) {
    auto& rider = *static_cast<Rider*>(argument);
    rider.body();
    end_now(&rider);
  }
  static void yield_in(void* self) { static_cast<Carousel*>(self)->yield(); }

  StackPool pool_;
  std::vector<std::unique_ptr<Rider>> riders_;
  Carrier* carrier_ = nullptr;
  Fiber own_;
  Rider* now_ = nullptr;
  std::optional<PreemptKnobs> knobs_;
  std::uint64_t reductions_ = 0;
};

}  // namespace leat::actor
