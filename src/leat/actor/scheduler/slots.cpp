#include <leat/actor/scheduler/slots.hpp>

#include <leat/base/check.hpp>

#include <memory>
#include <new>

namespace leat::actor {

Slots::~Slots() {
  for_each([](Actor& actor) { std::destroy_at(&actor); });
  for (Atomic<Actor*>& chunk : chunks_) {
    Actor* const slots = chunk.load_relaxed();  // nobody else is here any more
    if (slots != nullptr) ::operator delete(slots, std::align_val_t{alignof(Actor)});
  }
}

Actor* Slots::take(std::size_t count) {
  const std::lock_guard lock(mutex_);
  if (vacant_ == nullptr) make(count);
  Actor* const first = vacant_;
  Actor* last = first;
  while (--count > 0 && last->next != nullptr) last = last->next;
  vacant_ = last->next;
  last->next = nullptr;
  return first;
}

void Slots::give(Actor* first, Actor* last) noexcept {
  const std::lock_guard lock(mutex_);
  last->next = vacant_;
  vacant_ = first;
}

void Slots::make(std::size_t count) {
  std::uint32_t made = made_.load_relaxed();  // our own
  Actor** end = &vacant_;
  for (; count > 0; --count, ++made) {
    const unsigned chunk = chunk_of(made);
    LEAT_CHECK(chunk < kChunks, "a runtime has as many actors as it can have");
    if (made == first_of(chunk)) {
      chunks_[chunk].store_relaxed(static_cast<Actor*>(::operator new(
          size_of(chunk) * sizeof(Actor), std::align_val_t{alignof(Actor)})));  // made_ orders it
    }
    void* const place = chunks_[chunk].load_relaxed() + (made - first_of(chunk));
    Actor* const actor = ::new (place) Actor(mark_);
    actor->index = made;
    actor->generation = 1;
    actor->scheduler = &scheduler_;
    *end = actor;
    end = &actor->next;
  }
  made_.store_release(made, grown{});
}

void SlotCache::give_all() noexcept {
  Actor* last = first_;
  while (last->next != nullptr) last = last->next;
  slots_.give(first_, last);
  first_ = nullptr;
  count_ = 0;
}

void SlotCache::give_batch() noexcept {
  Actor* const first = first_;
  Actor* last = first;
  for (std::size_t i = 1; i < kBatch; ++i) last = last->next;
  first_ = last->next;
  count_ -= kBatch;
  slots_.give(first, last);
}

}  // namespace leat::actor
