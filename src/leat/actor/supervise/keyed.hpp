// What      KeyedActors: actors that are there when they are asked for: each key has one, which is
//           started by the first message to it, and ends when none has come for a while.
// Protocol  KeyedActors<std::string, Order> accounts(
//               [](const std::string& key, KeyedReceiver<Order>& orders) {
//                 while (auto order = orders.receive()) { ... }  // nullopt: it was idle
//               }, {.idle_after = seconds(60)});
//           accounts.send("anna", Order{...});
// Invariants
//   (1) At most one actor of a key receives at a time: the next is started when the function has
//       returned.
//   (2) No message is lost by an actor's being idle: what comes at that moment is the next one's.
//   One that
//       fails loses what it had taken, and keeps nothing else from the next.
// Limits    `run` is called by several actors at a time, for different keys.
// Cost      Per key with an actor: the actor, a channel, a place in a hash table. Others cost
//           nothing.
// Source    Orleans' grains.
#pragma once

#include <leat/actor/channel/channel.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/spawn.hpp>
#include <leat/actor/wait/wait.hpp>
#include <leat/base/atomic.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace leat::actor {

struct KeyedOptions {
  Nanos idle_after = std::chrono::seconds(60);
  std::string name = "keyed";
};

/// What the actor of a key receives from.
template <class Message>
class KeyedReceiver {
 public:
  virtual ~KeyedReceiver() = default;
  /// Waits for a message. Returns: nullopt if none came for `idle_after`: then return, too.
  virtual std::optional<Message> receive() = 0;
};

/// Threads: actors of one runtime. Must outlive its actors: its destructor ends them, and waits.
template <class Key, class Message>
class KeyedActors {
 public:
  using Run = std::function<void(const Key&, KeyedReceiver<Message>&)>;

  explicit KeyedActors(Run run, KeyedOptions options = {})
      : shared_(std::make_shared<Shared>(std::move(run), std::move(options))) {}
  KeyedActors(const KeyedActors&) = delete;
  KeyedActors& operator=(const KeyedActors&) = delete;
  ~KeyedActors() { shared_->close(); }

  /// Sends to the key's actor, which is started if there is none. Never waits.
  void send(const Key& key, Message message) {
    Shard& shard = shared_->shard_of(key);
    {
      const ObjectLock::Guard guard(shard.lock);
      auto [place, is_new] = shard.places.try_emplace(key);
      place->second.messages.push_back(std::move(message));
      place->second.waiting.fire_one();
      if (!is_new) return;
    }
    shared_->start(shared_, key);
  }

  /// How many keys have an actor, a moment ago.
  [[nodiscard]] std::size_t size_approx() const {
    std::size_t size = 0;
    for (Shard& shard : shared_->shards) {
      const ObjectLock::Guard guard(shard.lock);
      size += shard.places.size();
    }
    return size;
  }

 private:
  struct Place {
    std::deque<Message> messages;
    WaitList waiting;
  };
  struct Shard {
    ObjectLock lock;
    // Guarded by lock.
    std::unordered_map<Key, Place> places;
    WaitList emptied;
  };
  struct Shared {
    Shared(Run call, KeyedOptions with) : run(std::move(call)), options(std::move(with)) {}

    const Run run;
    const KeyedOptions options;
    std::array<Shard, 16> shards;
    Atomic<bool> closed{false};  // relaxed: looked at under a shard's lock after it was woken by it

    Shard& shard_of(const Key& key) {
      return shards[(std::hash<Key>()(key) * 0x9e3779b97f4a7c15U) >> 60U];
    }

    static void start(const std::shared_ptr<Shared>& shared, const Key& key) {
      spawn(SpawnOptions{.name = shared->options.name}, [shared, key] {
        Shard& shard = shared->shard_of(key);
        const Leaves leaves{shared, shard, key};
        From from(*shared, shard, key);
        shared->run(key, from);
      }).detach();
    }

    void close() {
      closed.store_relaxed(true);
      const CancelShield whole;
      for (Shard& shard : shards) {
        ObjectLock::Guard guard(shard.lock);
        for (auto& [key, place] : shard.places) place.waiting.fire_all();
        while (!shard.places.empty()) wait(guard, shard.emptied);
      }
    }
  };

  // What came meanwhile is the next one's.
  struct Leaves {
    std::shared_ptr<Shared> shared;
    Shard& shard;
    const Key& key;

    ~Leaves() {
      bool again = false;
      {
        const ObjectLock::Guard guard(shard.lock);
        const auto place = shard.places.find(key);
        again = !place->second.messages.empty() && !shared->closed.load_relaxed();
        if (!again) {
          shard.places.erase(place);
          shard.emptied.fire_all();
        }
      }
      if (again) Shared::start(shared, key);
    }
  };

  class From final : public KeyedReceiver<Message> {
   public:
    From(Shared& shared, Shard& shard, const Key& key) noexcept
        : shared_(shared), shard_(shard), key_(key) {}

    std::optional<Message> receive() override {
      const Nanos deadline = deadline_after(shared_.options.idle_after);
      ObjectLock::Guard guard(shard_.lock);
      Place& place = shard_.places.find(key_)->second;  // ours: it stays until we leave
      while (place.messages.empty()) {
        if (shared_.closed.load_relaxed()) return std::nullopt;
        if (wait(guard, place.waiting, deadline) == Waited::timed_out && place.messages.empty()) {
          return std::nullopt;
        }
      }
      std::optional<Message> message(std::move(place.messages.front()));
      place.messages.pop_front();
      return message;
    }

   private:
    Shared& shared_;
    Shard& shard_;
    const Key& key_;
  };

  const std::shared_ptr<Shared> shared_;
};

}  // namespace leat::actor
