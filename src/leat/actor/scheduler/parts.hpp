// What      Parts: what is built on a runtime and lives as long as it, made when it is first asked for: the
//           reactor, the threads for calls that block.
// Limits    Internal. They are ended when all actors have ended and the workers have not.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace leat::actor {

class Scheduler;

class Parts {
 public:
  /// The runtime's T, made as T(scheduler). Threads: any.
  template <class T>
  T& get(Scheduler& scheduler) {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, part] : parts_) {
      if (key == &kKey<T>) return *static_cast<T*>(part.get());
    }
    auto part = std::make_shared<T>(scheduler);
    parts_.emplace_back(&kKey<T>, part);
    return *part;
  }

  /// Ends them, the last made first. Requires: nobody asks any more.
  void end() noexcept {
    while (!parts_.empty()) parts_.pop_back();
  }

 private:
  template <class T>
  static constexpr char kKey = 0;

  std::mutex mutex_;
  std::vector<std::pair<const void*, std::shared_ptr<void>>> parts_;  // guarded by mutex_
};

}  // namespace leat::actor
