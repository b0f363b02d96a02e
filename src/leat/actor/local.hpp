// What      ActorLocal<T>: a value of which each actor has its own, made when it first asks, ended
//           when the actor ends, in the order opposite to their making. It moves with the actor from
//           thread to thread, as a thread_local does not.
// Protocol  static const ActorLocal<Cache> cache;   cache.get().find(...);
// Limits    On a plain thread it is the thread's own. Keys are never given back: make them static.
// Cost      get: a few loads, once it was made.
#pragma once

#include <leat/actor/scheduler/actor.hpp>

#include <cstddef>
#include <vector>

namespace leat::actor {

class LocalValues {
 public:
  using Make = void* (*)();
  using Drop = void (*)(void*) noexcept;

  LocalValues() = default;
  LocalValues(const LocalValues&) = delete;
  LocalValues& operator=(const LocalValues&) = delete;
  ~LocalValues() { drop_all(); }

  [[nodiscard]] void* find(std::size_t key) const noexcept {
    return key < values_.size() ? values_[key] : nullptr;
  }
  void* make(std::size_t key, Make maker, Drop drop);
  void drop_all() noexcept;

  /// The running actor's, or the thread's.
  [[nodiscard]] static LocalValues& here();
  /// Ends those of an actor, which runs. Its destructors may wait, and use others.
  static void end(Actor& self) noexcept;
  [[nodiscard]] static std::size_t next_key() noexcept;

 private:
  struct Made {
    std::size_t key;
    Drop drop;
  };
  std::vector<void*> values_;  // by key
  std::vector<Made> made_;     // in the order of making
};

template <class T>
class ActorLocal {
 public:
  ActorLocal() noexcept : key_(LocalValues::next_key()) {}
  ActorLocal(const ActorLocal&) = delete;
  ActorLocal& operator=(const ActorLocal&) = delete;

  /// The running actor's own, made by `T()` when it first asks. Good until the actor ends.
  [[nodiscard]] T& get() const {
    LocalValues& values = LocalValues::here();
    void* value = values.find(key_);
    if (value == nullptr) [[unlikely]] {
      value = values.make(
          key_, []() -> void* { return new T(); },
          [](void* made) noexcept { delete static_cast<T*>(made); });
    }
    return *static_cast<T*>(value);
  }

 private:
  std::size_t key_;
};

}  // namespace leat::actor
