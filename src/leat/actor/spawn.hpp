// What      `spawn`: starts an actor. `JoinHandle`: waits for its end, and gets its value or what it
//           threw. `spawn_under`: the same for a child whose end its parent is told.
// Protocol  JoinHandle<int> h = spawn([] { return 6 * 7; });  ...  int n = h.join();
//           A handle that is dropped lets the actor go on alone; if it then fails, the runtime's
//           `on_lost_failure` hears of it.
// Limits    A closure and a result must be movable. A handle may not outlive its runtime.
// Cost      No allocation for closures and results of up to 64 bytes; no system call while there
//           are idle stacks.
// Source    smarm's spawn_under; std::thread and Tokio for the handle.
#pragma once

#include <leat/actor/config.hpp>
#include <leat/actor/exit.hpp>
#include <leat/actor/pid.hpp>
#include <leat/actor/scheduler/worker.hpp>
#include <leat/base/clock.hpp>

#include <concepts>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace leat::actor {

struct SpawnOptions {
  std::string_view name = {};  ///< for messages; copied
  Pid parent = Pid::root();    ///< who is told how it ends
  bool follows = false;        ///< is told to end when its parent ends, however that is
  bool daemon = false;         ///< nobody waits for it when the runtime's run ends
  bool pinned = false;         ///< runs on the worker that starts it, always
  /// Its stack may be put away while it waits for long, so that it takes some hundred bytes: nobody
  /// else refers to what lies on it then, be it by a capture or a pointer. See Config::stow_after.
  bool stows = false;
  std::optional<Group> group = std::nullopt;  ///< none: that of who starts it
};

/// How an actor ended: its value, if it ended well.
template <class T>
struct [[nodiscard]] Joined {
  std::optional<T> value;
  Exit exit;
  [[nodiscard]] bool ok() const noexcept { return exit.ok(); }
};
template <>
struct [[nodiscard]] Joined<void> {
  Exit exit;
  [[nodiscard]] bool ok() const noexcept { return exit.ok(); }
};

namespace internal {

/// What an actor's function gives to its joiner. An Exit becomes the exit itself.
template <class F>
using ReturnOf = std::invoke_result_t<std::decay_t<F>&>;
template <class F>
using ValueOf = std::conditional_t<std::is_same_v<ReturnOf<F>, Exit>, void, ReturnOf<F>>;

template <class T>
inline constexpr bool kLiesInActor =
    sizeof(T) <= Actor::kStorageBytes && alignof(T) <= alignof(std::max_align_t) &&
    std::is_nothrow_move_constructible_v<T>;

template <class T>
T& stored(Actor& actor) noexcept {
  if constexpr (kLiesInActor<T>) {
    return *std::launder(reinterpret_cast<T*>(actor.storage));
  } else {
    return **std::launder(reinterpret_cast<T**>(actor.storage));
  }
}
template <class T>
void drop_stored(Actor& actor) noexcept {
  if constexpr (kLiesInActor<T>) {
    stored<T>(actor).~T();
  } else {
    delete &stored<T>(actor);
  }
}
template <class T, class From>
void store(Actor& actor, From&& from) {
  if constexpr (kLiesInActor<T>) {
    ::new (static_cast<void*>(actor.storage)) T(std::forward<From>(from));
  } else {
    ::new (static_cast<void*>(actor.storage)) T*(new T(std::forward<From>(from)));
  }
}

template <class F>
struct TypeOf {
  using Return = ReturnOf<F>;

  struct EndsClosure {
    Actor& actor;
    ~EndsClosure() { drop_stored<F>(actor); }
  };
  static Return call(Actor& actor) {
    const EndsClosure ends{actor};
    return stored<F>(actor)();
  }
  static void run(Actor& actor) {
    if constexpr (std::is_void_v<Return>) {
      call(actor);
    } else if constexpr (std::is_same_v<Return, Exit>) {
      actor.exit = call(actor);
    } else {
      store<Return>(actor, call(actor));
      actor.has_result = true;
    }
  }
  static void drop_closure(Actor& actor) noexcept { drop_stored<F>(actor); }
  static void drop_result(Actor& actor) noexcept {
    if constexpr (!std::is_void_v<ValueOf<F>>) drop_stored<Return>(actor);
  }
  static const std::type_info& kind() noexcept { return typeid(F); }
  static constexpr ActorType kType{&run, &drop_closure, &drop_result, &kind};
};

/// Makes a tenant of a vacant slot, which has its closure and its type, with a handle. `spawner`: null
/// if it is a plain thread. If it throws, the closure has ended, and the slot is vacant.
void move_in(Actor& actor, const Actor* spawner, const SpawnOptions& options);
/// The same as without options, in a line of stores.
inline void move_in_plainly(Actor& actor, const Actor& spawner) noexcept {
  actor.daemon = false;
  actor.kept = false;
  actor.stows.store_relaxed(false);
  actor.group = spawner.group;
  actor.deadline = spawner.deadline;
  actor.parent = Pid::root();
  const ObjectLock::Guard guard(actor.lock, spawner.here->mark);
  actor.live = true;
  actor.handle = true;
}
/// Lets go of the handle.
void drop_handle(Actor& actor) noexcept;
/// Waits for the end. Returns: false if `deadline` came first.
bool await_end(Actor& actor, Nanos deadline);
[[nodiscard]] bool has_ended(Actor& actor) noexcept;
bool cancel_actor(Actor& actor) noexcept;
[[noreturn]] void joined_twice();
/// The worker on which a spawn happens. Throws: UsageError on a plain thread.
[[nodiscard]] Worker& spawning_worker();
void start_from_outside(Scheduler& scheduler, Actor& actor) noexcept;
[[nodiscard]] Actor& vacant_from_outside(Scheduler& scheduler);

template <class F>
void check_closure() {
  static_assert(std::is_move_constructible_v<F>, "an actor's function must be movable");
  static_assert(std::is_invocable_v<F&>, "an actor's function takes no arguments: capture them");
  if constexpr (std::is_invocable_v<F&>) {
    using R = ReturnOf<F>;
    static_assert(std::is_void_v<R> || !std::is_reference_v<R>,
                  "an actor's function may not return a reference: its stack is gone at join");
    static_assert(std::is_void_v<R> || std::is_move_constructible_v<R>,
                  "what an actor's function returns must be movable");
  }
}

}  // namespace internal

/// Holds an actor for its end. Dropped, it detaches.
template <class T>
class [[nodiscard]] JoinHandle {
 public:
  /// No actor.
  JoinHandle() noexcept = default;
  explicit JoinHandle(Actor& actor) noexcept : actor_(&actor) {}
  JoinHandle(JoinHandle&& other) noexcept : actor_(std::exchange(other.actor_, nullptr)) {}
  JoinHandle& operator=(JoinHandle&& other) noexcept {
    if (this != &other) {
      detach();
      actor_ = std::exchange(other.actor_, nullptr);
    }
    return *this;
  }
  ~JoinHandle() { detach(); }

  /// Whether it holds an actor: it does until it is joined or detached.
  explicit operator bool() const noexcept { return actor_ != nullptr; }
  /// Whose it is; none if it holds nobody.
  [[nodiscard]] Pid pid() const noexcept { return actor_ == nullptr ? Pid() : actor_->pid(); }

  /// Waits for the actor's end. Threads: actors and plain threads.
  ///
  /// Returns:  its value.
  /// Throws:   what it threw, as it threw it; Failure if it ended badly otherwise; UsageError if it
  ///           was joined before; Cancelled if the caller is to end.
  /// Ordering: what the actor did is visible.
  T join() {
    if (actor_ == nullptr) internal::joined_twice();
    (void)internal::await_end(*actor_, kNever);
    Actor& actor = *std::exchange(actor_, nullptr);
    const Leaves leaves{actor};
    if (!actor.exit.ok()) [[unlikely]]
      take_exit(actor).raise();
    if constexpr (!std::is_void_v<T>) return std::move(internal::stored<T>(actor));
  }

  /// The same, without throwing what the actor threw.
  Joined<T> join_result() { return *join_until(kNever); }

  /// The same, but not longer than `deadline` (of `now_here()`). Nothing: it goes on, and so does the
  /// handle.
  std::optional<Joined<T>> join_until(Nanos deadline) {
    if (actor_ == nullptr) internal::joined_twice();
    if (!internal::await_end(*actor_, deadline)) return std::nullopt;
    Actor& actor = *std::exchange(actor_, nullptr);
    const Leaves leaves{actor};
    if constexpr (std::is_void_v<T>) {
      return Joined<T>{take_exit(actor)};
    } else {
      Joined<T> joined{std::nullopt, take_exit(actor)};
      if (actor.has_result) joined.value.emplace(std::move(internal::stored<T>(actor)));
      return joined;
    }
  }

  /// Lets the actor go on alone.
  void detach() noexcept {
    if (actor_ != nullptr) internal::drop_handle(*std::exchange(actor_, nullptr));
  }

  /// Has the actor end at its next call that may wait. Returns: false if it has ended, or is nobody.
  bool cancel() noexcept { return actor_ != nullptr && internal::cancel_actor(*actor_); }

  [[nodiscard]] bool is_done() const noexcept {
    return actor_ == nullptr || internal::has_ended(*actor_);
  }

 private:
  struct Leaves {
    Actor& actor;
    ~Leaves() { internal::drop_handle(actor); }
  };
  static Exit take_exit(Actor& actor) noexcept {
    return actor.exit.ok() ? Exit() : std::exchange(actor.exit, Exit());
  }

  Actor* actor_ = nullptr;
};

/// Starts an actor that runs `f` on this runtime.
///
/// Requires: the caller is an actor (from a plain thread use `Runtime::spawn`), or UsageError.
/// Returns:  its handle. It starts later: at the earliest when the caller waits or yields.
template <class F>
JoinHandle<internal::ValueOf<F>> spawn(const SpawnOptions& options, F&& f) {
  using Closure = std::decay_t<F>;
  internal::check_closure<Closure>();
  Actor* const self = this_actor();
  Worker& worker = self != nullptr ? worker_of(*self) : internal::spawning_worker();
  Actor& actor = worker.vacant();
  try {
    internal::store<Closure>(actor, std::forward<F>(f));
    actor.type = &internal::TypeOf<Closure>::kType;
    internal::move_in(actor, self, options);
  } catch (...) {
    worker.give_back(actor);
    throw;
  }
  worker.start(actor);
  return JoinHandle<internal::ValueOf<F>>(actor);
}

template <class F>
JoinHandle<internal::ValueOf<F>> spawn(F&& f) {
  Actor* const self = this_actor();
  if (self == nullptr) return spawn(SpawnOptions{}, std::forward<F>(f));
  using Closure = std::decay_t<F>;
  internal::check_closure<Closure>();
  Worker& worker = worker_of(*self);
  Actor& actor = worker.vacant();
  try {
    internal::store<Closure>(actor, std::forward<F>(f));
  } catch (...) {
    worker.give_back(actor);
    throw;
  }
  actor.type = &internal::TypeOf<Closure>::kType;
  internal::move_in_plainly(actor, *self);
  worker.start(actor);
  return JoinHandle<internal::ValueOf<F>>(actor);
}

/// The same for a child of `parent`, which gets a signal when the child ends; see signals.hpp.
template <class F>
JoinHandle<internal::ValueOf<F>> spawn_under(Pid parent, F&& f) {
  return spawn(SpawnOptions{.parent = parent}, std::forward<F>(f));
}

}  // namespace leat::actor
