#include <leat/actor/local.hpp>

#include <leat/base/atomic.hpp>

#include <utility>

namespace leat::actor {

void* LocalValues::make(std::size_t key, Make maker, Drop drop) {
  if (values_.size() <= key) values_.resize(key + 1, nullptr);
  made_.reserve(made_.size() + 1);
  void* const value = maker();  // may ask for others, and so move what we hold
  made_.push_back({key, drop});
  values_[key] = value;
  return value;
}

void LocalValues::drop_all() noexcept {
  while (!made_.empty()) {  // one that ends may make others
    const Made last = made_.back();
    made_.pop_back();
    last.drop(std::exchange(values_[last.key], nullptr));
  }
}

LocalValues& LocalValues::here() {
  if (Actor* const self = this_actor()) {
    if (self->locals == nullptr) [[unlikely]]
      self->locals = new LocalValues();
    return *self->locals;
  }
  thread_local LocalValues of_thread;
  return of_thread;
}

void LocalValues::end(Actor& self) noexcept {
  ++self.shields;  // their destructors are not told to end
  while (self.locals != nullptr) {
    LocalValues* const values = self.locals;
    values->drop_all();
    self.locals = nullptr;
    delete values;
  }
  --self.shields;
}

std::size_t LocalValues::next_key() noexcept {
  static Atomic<std::size_t> keys{0};
  return keys.fetch_add_relaxed(1);  // a number of one's own; it orders nothing
}

}  // namespace leat::actor
