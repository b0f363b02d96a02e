// What      What a program links to have its actors preempted by allocation: `operator new` in all its
//           forms, which counts; and the locks of the operating system, `pthread_once` and the
//           initialisers of function-local statics, which hold. The target leat::actor_preempt.
// Protocol  A count comes after the allocation, outside the allocator: nothing of the allocator's is
//           held when another actor goes on. What holds counts up after it was taken and down
//           before it is let go.
// Limits    `malloc` is not counted. ThreadSanitizer's own versions of these functions cannot be
//           replaced: there this is empty, and actors are preempted at checkpoints and safepoints.
//           All in one file, so that a linker which wants one of them takes them all.
// Cost      An allocation: the count of turn.hpp. A lock and unlock: two additions to a word of the
//           thread, and a call each.
#include <leat/actor/fiber/sanitizers.hpp>
#include <leat/actor/preempt/turn.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/mutant.hpp>

#include <dlfcn.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

using leat::actor::turn;

extern "C" {
extern const char leat_actor_preempt_hooked;
const char leat_actor_preempt_hooked = 1;
}

#if !LEAT_TSAN

// -- allocation -------------------------------------------------------------------------------------

namespace {

// As [new.delete.single] has it: ask the handler, as long as there is one.
template <class Try>
void* allocate_or(Try try_once, bool throws) {
  for (;;) {
    if (void* const memory = try_once()) [[likely]] {
      if (!turn().count_allocation()) [[likely]]
        return memory;
      std::free(memory);  // as if there had been none, and no handler
      if (throws) throw std::bad_alloc();
      return nullptr;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) {
      if (throws) throw std::bad_alloc();
      return nullptr;
    }
    handler();
  }
}

void* allocate(std::size_t bytes, bool throws) {
  return allocate_or([bytes] { return std::malloc(bytes != 0 ? bytes : 1); }, throws);
}

void* allocate(std::size_t bytes, std::align_val_t align, bool throws) {
  const auto alignment = static_cast<std::size_t>(align);
  // aligned_alloc wants a multiple of the alignment.
  const std::size_t rounded = bytes == 0 ? alignment : (bytes + alignment - 1) & ~(alignment - 1);
  return allocate_or(
      [=]() -> void* {
        return rounded >= bytes ? std::aligned_alloc(alignment, rounded) : nullptr;
      },
      throws);
}

template <class... A>
void* allocate_nothrow(A... what) noexcept {
  try {
    return allocate(what..., true);
  } catch (...) {  // a new_handler may throw
    return nullptr;
  }
}

}  // namespace

void* operator new(std::size_t n) { return allocate(n, true); }
void* operator new[](std::size_t n) { return allocate(n, true); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate(n, a, true); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate(n, a, true); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate_nothrow(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate_nothrow(n); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_nothrow(n, a);
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_nothrow(n, a);
}

void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }

// -- locks --------------------------------------------------------------------------------------------

namespace {

// The function of that name which would be called if ours were not there. Relaxed: whoever finds
// nothing looks it up again and gets the same.
template <class Function>
class Original {
 public:
  constexpr Original(const char* name, Function intercepted) noexcept
      : name_(name), intercepted_(intercepted) {}

  [[nodiscard]] Function get() noexcept {
    const Function known = known_.load_relaxed();
    return known != nullptr ? known : look_up();
  }

 private:
  [[gnu::noinline, gnu::cold]] Function look_up() noexcept {
    Function found = intercepted_;
    if (found == nullptr) found = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name_));
    if (found == nullptr) {
      std::fprintf(stderr,
                   "leat::actor_preempt: there is no %s behind ours; link the C and C++ libraries "
                   "dynamically\n",
                   name_);
      std::abort();
    }
    known_.store_relaxed(found);
    return found;
  }

  const char* name_;
  Function intercepted_;  // a sanitizer's, which stands where ours does
  leat::Atomic<Function> known_{nullptr};
};

}  // namespace

// The real headers declare these with their own types and attributes, so they go by other names here.
#if LEAT_ASAN
#define LEAT_INTERCEPTED(name, result, ...) \
  extern "C" [[gnu::weak]] result __interceptor_##name(__VA_ARGS__);
#define LEAT_INTERCEPTED_NAME(name) &__interceptor_##name
#else
#define LEAT_INTERCEPTED(name, result, ...)
#define LEAT_INTERCEPTED_NAME(name) nullptr
#endif

#define LEAT_ORIGINAL(name, result, ...)                                                           \
  LEAT_INTERCEPTED(name, result, __VA_ARGS__)                                                      \
  static constinit Original<result (*)(__VA_ARGS__)> original_##name(#name,                        \
                                                                     LEAT_INTERCEPTED_NAME(name)); \
  extern "C" result leat_hook_##name(__VA_ARGS__) __asm__(#name)

// A function that takes a lock, and says so by 0 (or that the last owner died with it).
#define LEAT_TAKES(name, parameters, arguments)                                             \
  LEAT_ORIGINAL(name, int, LEAT_UNPACK parameters);                                         \
  extern "C" int leat_hook_##name parameters {                                              \
    const int result = original_##name.get() arguments;                                     \
    if ((result == 0 || result == EOWNERDEAD) && !LEAT_MUTANT("hooks.locks_do_not_hold")) { \
      turn().hold();                                                                        \
    }                                                                                       \
    return result;                                                                          \
  }
#define LEAT_LETS_GO(name)                                                        \
  LEAT_ORIGINAL(name, int, void* lock);                                           \
  extern "C" int leat_hook_##name(void* lock) {                                   \
    const int result = original_##name.get()(lock);                               \
    if (result == 0 && !LEAT_MUTANT("hooks.locks_do_not_hold")) turn().release(); \
    return result;                                                                \
  }
#define LEAT_UNPACK(...) __VA_ARGS__

LEAT_TAKES(pthread_mutex_lock, (void* lock), (lock))
LEAT_TAKES(pthread_mutex_trylock, (void* lock), (lock))
LEAT_TAKES(pthread_mutex_timedlock, (void* lock, const void* until), (lock, until))
LEAT_TAKES(pthread_mutex_clocklock, (void* lock, int clock, const void* until),
           (lock, clock, until))
LEAT_LETS_GO(pthread_mutex_unlock)

LEAT_TAKES(pthread_rwlock_rdlock, (void* lock), (lock))
LEAT_TAKES(pthread_rwlock_tryrdlock, (void* lock), (lock))
LEAT_TAKES(pthread_rwlock_timedrdlock, (void* lock, const void* until), (lock, until))
LEAT_TAKES(pthread_rwlock_clockrdlock, (void* lock, int clock, const void* until),
           (lock, clock, until))
LEAT_TAKES(pthread_rwlock_wrlock, (void* lock), (lock))
LEAT_TAKES(pthread_rwlock_trywrlock, (void* lock), (lock))
LEAT_TAKES(pthread_rwlock_timedwrlock, (void* lock, const void* until), (lock, until))
LEAT_TAKES(pthread_rwlock_clockwrlock, (void* lock, int clock, const void* until),
           (lock, clock, until))
LEAT_LETS_GO(pthread_rwlock_unlock)

LEAT_TAKES(pthread_spin_lock, (volatile void* lock), (lock))
LEAT_TAKES(pthread_spin_trylock, (volatile void* lock), (lock))
LEAT_LETS_GO(pthread_spin_unlock)

// -- what is initialised once ---------------------------------------------------------------------

LEAT_ORIGINAL(pthread_once, int, void* once, void (*call)());
extern "C" int leat_hook_pthread_once(void* once, void (*call)()) {
  const leat::actor::NoPreempt held;  // the call may throw
  return original_pthread_once.get()(once, call);
}

LEAT_ORIGINAL(__cxa_guard_acquire, int, void* guard);
extern "C" int leat_hook___cxa_guard_acquire(void* guard) {
  const int mine = original___cxa_guard_acquire.get()(guard);
  if (mine != 0 && !LEAT_MUTANT("hooks.statics_do_not_hold")) turn().hold();
  return mine;
}
LEAT_ORIGINAL(__cxa_guard_release, void, void* guard);
extern "C" void leat_hook___cxa_guard_release(void* guard) {
  original___cxa_guard_release.get()(guard);
  if (!LEAT_MUTANT("hooks.statics_do_not_hold")) turn().release();
}
LEAT_ORIGINAL(__cxa_guard_abort, void, void* guard);
extern "C" void leat_hook___cxa_guard_abort(void* guard) {
  original___cxa_guard_abort.get()(guard);
  if (!LEAT_MUTANT("hooks.statics_do_not_hold")) turn().release();
}

#endif
