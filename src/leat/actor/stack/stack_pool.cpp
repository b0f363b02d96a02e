#include <leat/actor/stack/stack_pool.hpp>

#include <array>
#include <utility>

namespace leat::actor {

StackPool::StackPool(const Options& options, StackRegion& region)
    : options_(options), region_(region) {}

StackPool::~StackPool() { release(std::exchange(idle_, Stack{})); }

Stack StackPool::take() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (idle_) {
      const Stack stack = idle_;
      idle_ = Stack::of_word(stack.record().next);
      if (--count_ < unneeded_) unneeded_ = count_;
      return stack;
    }
    unneeded_ = 0;
  }
  return region_.take_slot(options_.stack_class);
}

void StackPool::give(Stack stack) noexcept { give_idle(stack, stack, 1); }

Stack StackPool::take_idle(std::size_t count) noexcept {
  const std::lock_guard lock(mutex_);
  if (count == 0 || !idle_) return {};
  const Stack first = idle_;
  Stack last = first;
  std::size_t taken = 1;
  for (; taken < count; ++taken) {
    const Stack next = Stack::of_word(last.record().next);
    if (!next) break;
    last = next;
  }
  idle_ = Stack::of_word(last.record().next);
  last.record().next = 0;
  count_ -= taken;
  if (count_ < unneeded_) unneeded_ = count_;
  return first;
}

void StackPool::give_idle(Stack first, Stack last, std::size_t count) noexcept {
  const std::lock_guard lock(mutex_);
  last.record().next = idle_.word();
  idle_ = first;
  count_ += count;
}

void StackPool::trim(Nanos now) noexcept {
  Nanos::rep at = trim_at_.load_relaxed();
  if (now.count() < at) return;
  // Whoever moves the time does the work.
  if (!trim_at_.compare_exchange_strong_relaxed(at, (now + options_.decay).count())) return;
  Stack surplus;
  {
    const std::lock_guard lock(mutex_);
    std::size_t spare = unneeded_ > options_.cap ? unneeded_ - options_.cap : 0;
    if (spare > 0) {
      // Those at the end of the list lay longest.
      Stack last_kept = idle_;
      for (std::size_t i = 1; i < count_ - spare; ++i) {
        last_kept = Stack::of_word(last_kept.record().next);
      }
      if (count_ == spare) {
        surplus = std::exchange(idle_, Stack{});
      } else {
        surplus = Stack::of_word(std::exchange(last_kept.record().next, 0));
      }
      count_ -= spare;
    }
    unneeded_ = count_;
  }
  release(surplus);
}

std::size_t StackPool::idle() const noexcept {
  const std::lock_guard lock(mutex_);
  return count_;
}

void StackPool::release(Stack first) noexcept {
  std::array<Stack, 256> batch;
  while (first) {
    std::size_t n = 0;
    for (; first && n < batch.size(); ++n) {
      batch[n] = first;
      first = Stack::of_word(first.record().next);
    }
    const std::span<Stack> stacks(batch.data(), n);
    region_.release(stacks);
    for (Stack stack : stacks) region_.give_slot(stack);
  }
}

Stack StackCache::refill() noexcept {
  first_ = pool_.take_idle(kMost / 2);
  if (!first_) return pool_.take();
  count_ = 0;
  for (Stack s = first_; s; s = Stack::of_word(s.record().next)) ++count_;
  return take();
}

void StackCache::flush(std::size_t keep) noexcept {
  // The most recent stay: their memory is in the cache.
  if (count_ <= keep) return;
  Stack last_kept;
  Stack given = first_;
  for (std::size_t i = 0; i < keep; ++i) {
    last_kept = given;
    given = Stack::of_word(given.record().next);
  }
  if (last_kept) {
    last_kept.record().next = 0;
  } else {
    first_ = Stack{};
  }
  Stack last = given;
  std::size_t n = 1;
  while (last.record().next != 0) {
    last = Stack::of_word(last.record().next);
    ++n;
  }
  count_ = keep;
  pool_.give_idle(given, last, n);
}

}  // namespace leat::actor
