// What      Config: what a run can be told before it starts. Defaults work; command lines fill one
//           in (options.hpp), and so may a program.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/type_name.hpp>
#include <leat/core/network.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace leat::core {

/// When a scope tells its peers what changed.
enum class ProgressMode {
  eager,   ///< at once: fewer rounds to wait, more messages
  demand,  ///< when it could move somebody's frontier: fewer messages
};

/// Values of any type by name, for parameters that Leat itself does not know.
///
/// Threads: any number of readers, once filled. Copies share the values.
class Parameters {
 public:
  /// Puts `value` under `key`, in place of what was there.
  template <class T>
  void set(std::string_view key, T&& value) {
    using Value = std::remove_cvref_t<T>;
    values_.insert_or_assign(
        std::string(key),
        Entry{type_id<Value>(), std::make_shared<const Value>(std::forward<T>(value))});
  }

  /// The value under `key`; null if there is none, or if it is of another type than exactly `T`.
  /// It lives as long as this object and holds it.
  template <class T>
  [[nodiscard]] const T* get(std::string_view key) const noexcept {
    const auto it = values_.find(key);
    if (it == values_.end() || it->second.type != type_id<T>()) return nullptr;
    return static_cast<const T*>(it->second.value.get());
  }

 private:
  struct Entry {
    TypeId type;
    std::shared_ptr<const void> value;
  };

  std::map<std::string, Entry, std::less<>> values_;
};

/// When a sender tells the receiver of a channel of its messages; comm/notify.hpp says what each
/// means.
enum class NotifyRule : std::uint8_t { edge, per_message, first_then_trailing, on_done };

struct Config {
  /// Worker threads of this process, at least 1. `-w`.
  std::size_t workers = 1;

  /// How long an idle worker polls before it sleeps, and five times as long where some of its peers
  /// are in other processes; 0 sleeps at once. `--idle-spin`, microseconds.
  /// More suits rounds of a few microseconds with a core for each worker; the barrier benchmark
  /// shows the effect.
  Nanos idle_spin = std::chrono::microseconds(10);

  /// When workers tell each other of messages. `--notify`. There is no program that should change
  /// it: the others are for the benchmarks `notify` and `exchange`, which show why.
  NotifyRule notify = NotifyRule::edge;

  /// `--progress-mode`.
  ProgressMode progress_mode = ProgressMode::demand;

  /// How many records an operator takes in and puts out in one activation before others get their
  /// turn; at least one batch, whatever it holds. Fewer suit operators that spend long on a record.
  std::size_t records_per_activation = 131'072;

  /// How many records a dataflow of weight 1 handles before the other dataflows of its worker get
  /// their turn; one of weight w handles w times as many. Fewer let small dataflows wait less beside
  /// a large one, and cost the large one a look around each time.
  std::size_t records_per_turn = 524'288;

  /// Check after each run of an operator that what it sent and the capabilities it made are justified
  /// by what it had. For operators that account for themselves: a wrong one is named at once, at
  /// some cost per run.
  bool validate_progress = false;

  /// Say on standard error how connecting goes. `--report`; one process has nothing to connect.
  bool report = false;

  /// Carry messages between workers of this process as bytes. `--zerocopy`. For programs whose
  /// messages may have to be put away from memory, and to try without a network what a network does
  /// with records; typed messages are never slower.
  bool zerocopy = false;

  /// Several processes.
  Network network{};

  /// Keep, for each count of progress, which worker it is of, so that
  /// `Worker::where_is_it_stuck` can name the worker. `--name-holders`. Makes a round of progress a
  /// few times dearer; for a program that is stuck.
  bool name_holders = false;

  /// Whatever else the program's own operators want to know.
  Parameters parameters{};

  template <class T>
  void set(std::string_view key, T&& value) {
    parameters.set(key, std::forward<T>(value));
  }
  template <class T>
  [[nodiscard]] const T* get(std::string_view key) const noexcept {
    return parameters.get<T>(key);
  }
};

}  // namespace leat::core
