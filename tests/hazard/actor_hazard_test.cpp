// Each way in which C++ on green threads goes wrong by itself, as a small program in a process of its own:
// it does the right thing; and with the fix switched off (LEAT_MUTANT) it does not, so that the program is
// known to look at the right thing.
#include <leat/actor.hpp>

#include <leat/actor/stack/stack_region.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/address_space.hpp>
#include <leat/base/sanitizers.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#if defined(LEAT_MUTANTS) && LEAT_MUTANTS

namespace leat::actor {
namespace {

// -- what is looked at ------------------------------------------------------------------------------------

bool alone(bool (*scenario)()) { return Runtime().run(scenario); }

// Runs `body` twice, each in an actor of its own, in turns.
bool in_two(bool (*body)(int who)) {
  return Runtime().run([body] {
    auto other = spawn([body] { return body(1); });
    const bool mine = body(0);
    return other.join() && mine;
  });
}

// Every look ends the turn.
Config impatient(Config config = Config::current_thread()) {
  return config.alloc_interval(1).timeslice_cycles(0);
}

bool catches_at_the_boundary() {
  return alone([] { return spawn([] { throw 7; }).join_result().exit.kind() == ExitKind::failed; });
}

bool contains_forced_unwinding() {
  return alone([] {
    return spawn([] { ::pthread_exit(nullptr); }).join_result().exit.kind() == ExitKind::killed;
  });
}

bool terminate_names_the_actor() {
  return alone([] {
    spawn({.name = "culprit"}, [] { std::terminate(); }).join();
    return false;
  });
}

bool keeps_exceptions_apart() {
  return in_two([](int who) {
    const std::string mine = who == 0 ? "one" : "two";
    try {
      throw std::runtime_error(mine);
    } catch (const std::exception&) {
      yield_now();
      try {
        throw;  // whichever is in hand
      } catch (const std::exception& again) {
        return again.what() == mine;
      }
    }
  });
}

bool counts_exceptions_apart() {
  struct Yields {
    bool& right;
    ~Yields() {
      right = right && std::uncaught_exceptions() == 1;
      yield_now();
      right = right && std::uncaught_exceptions() == 1;
    }
  };
  return in_two([](int who) {
    bool right = std::uncaught_exceptions() == 0;
    try {
      const Yields yields{right};
      if (who == 0) throw 1;
      throw 2;
    } catch (int) {
    }
    return right && std::uncaught_exceptions() == 0;
  });
}

[[gnu::noinline]] int errno_now() { return errno; }
[[gnu::noinline]] void set_errno(int value) { errno = value; }

bool keeps_errno_apart() {
  return in_two([](int who) {
    set_errno(100 + who);
    yield_now();
    return errno_now() == 100 + who;
  });
}

[[gnu::noinline]] pthread_t thread_now() { return ::pthread_self(); }

// Who is made to yield did not choose to: what it holds of its thread stays true.
bool keeps_the_preempted_on_their_thread() {
  Runtime runtime(impatient(Config::exact(2)).migrate_always(true));
  return runtime.run([] {
    std::vector<JoinHandle<bool>> actors;
    for (int i = 0; i < 4; ++i) {
      actors.push_back(spawn([] {
        const pthread_t mine = thread_now();
        bool same = true;
        for (int step = 0; step < 200; ++step) {
          checkpoint();
          same = same && thread_now() == mine;
        }
        return same;
      }));
    }
    bool all = true;
    for (auto& actor : actors) all = actor.join() && all;
    return all;
  });
}

#if !LEAT_TSAN  // which has its own operator new and locks

[[gnu::noinline]] void allocate() { ::operator delete(::operator new(40)); }

bool holds_while_a_lock_is_held() {
  static std::mutex mutex;
  Runtime runtime(impatient());
  return runtime.run([] {
    auto other = spawn([] {
      const std::lock_guard lock(mutex);
      allocate();
    });
    {
      const std::lock_guard lock(mutex);
      for (int i = 0; i < 10; ++i) allocate();  // the other one would wait on our thread
    }
    other.join();
    return true;
  });
}

int slowly() {
  for (int i = 0; i < 10; ++i) allocate();
  return 1;
}
int made_once() {
  static const int made = slowly();
  return made;
}

bool holds_in_initialisers() {
  Runtime runtime(impatient());
  return runtime.run([] {
    auto other = spawn([] { return made_once(); });
    return made_once() + other.join() == 2;
  });
}

#endif

// Whether `f` is cut short.
bool is_preempted_in(void (*f)()) {
  const std::uint64_t before = turn().preemptions();
  f();
  return turn().preemptions() != before;
}

bool is_preempted_at_all() {
  Runtime runtime(impatient());
  return runtime.run([] { return is_preempted_in(+[] { checkpoint(); }); });
}

bool is_whole_while_unwinding() {
  struct Looks {
    bool& preempted;
    ~Looks() {
      preempted = is_preempted_in(+[] { checkpoint(); });
    }
  };
  Runtime runtime(impatient());
  return runtime.run([] {
    bool preempted = true;
    try {
      const Looks looks{preempted};
      throw 1;
    } catch (int) {
    }
    return !preempted;
  });
}

bool preempted_in_handler = false;
void handler(int /*signal*/) {
  preempted_in_handler = is_preempted_in(+[] { checkpoint(); });
}

bool is_whole_in_a_handler_with(int flags) {
  struct sigaction action = {};
  action.sa_handler = &handler;
  action.sa_flags = flags;
  ::sigaction(SIGUSR1, &action, nullptr);
  Runtime runtime(impatient());
  return runtime.run([] {
    ::raise(SIGUSR1);
    return !preempted_in_handler;
  });
}
bool is_whole_in_handlers() { return is_whole_in_a_handler_with(0); }
// Not to be known by what is blocked, only by where it runs.
bool is_whole_off_its_stack() { return is_whole_in_a_handler_with(SA_ONSTACK | SA_NODEFER); }

// Forks, and says what became of the child.
bool in_a_child(const std::function<bool()>& right) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(3);
    ::_exit(right() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_whole_in_the_child_of_a_fork() {
  Runtime runtime(impatient());
  return runtime.run(
      [] { return in_a_child([] { return !is_preempted_in(+[] { checkpoint(); }); }); });
}

bool a_runtime_knows_that_its_threads_are_elsewhere() {
  Runtime runtime(Config::exact(1));
  runtime.run([] {});
  return in_a_child([&] {
    try {
      runtime.run([] {});
    } catch (const UsageError&) {
      return true;
    }
    return false;
  });
}

bool a_slice_ends_though_the_clock_steps_back() {
  const SwitchedOff steady("cycles.step_back");
  Runtime runtime(Config::current_thread().alloc_interval(1).timeslice_cycles(1'000'000));
  return runtime.run([] {
    return is_preempted_in(+[] {
      for (int i = 0; i < 100; ++i) checkpoint();
    });
  });
}

bool an_unsteady_clock_is_not_used() {
  const SwitchedOff steady("ticks.unsteady");
  return Config::current_thread().timeslice_tick() > Nanos{0};
}

[[gnu::noinline]] int rounding_now() { return std::fegetround(); }

bool keeps_rounding_apart() {
  return in_two([](int who) {
    if (who == 0) {
      keep_float_control();
      std::fesetround(FE_UPWARD);
    }
    const int mine = who == 0 ? FE_UPWARD : FE_TONEAREST;
    for (int i = 0; i < 3; ++i) {
      yield_now();
      if (rounding_now() != mine) return false;
    }
    return true;
  });
}

bool refuses_a_shadow_stack() {
  const SwitchedOff plain("context.has_shadow_stack");
  try {
    const Runtime runtime;
  } catch (const UsageError&) {
    return true;
  }
  return false;
}

// Volatile, so that the compiler keeps each frame.
[[gnu::noinline]] int deeper(int depth) {
  volatile char room[512];
  room[depth % 512] = 1;
  return depth < 0 ? 0 : deeper(depth + 1) + room[depth % 512];
}

bool overflow_names_the_actor() {
  return alone([] {
    spawn({.name = "culprit"}, [] { return deeper(1); }).join();
    return false;
  });
}

bool guards_are_no_mappings() {
  const auto region = std::move(StackRegion::reserve({})).value();
  const std::size_t before = os::mappings_now();
  for (int i = 0; i < 2000; ++i) (void)region->take_slot(StackClass::k16KiB);
  return os::mappings_now() - before < 100;
}

bool leaves_mappings_to_others() {
  const auto region = std::move(StackRegion::reserve({.guard = GuardKind::mprotect})).value();
  while (region->take_slot(StackClass::k16KiB)) {
  }
  std::vector<std::unique_ptr<char[]>> blocks;  // each of these wants a mapping
  for (int i = 0; i < 100; ++i) {
    char* const block = new (std::nothrow) char[std::size_t{1} << 20];
    if (block == nullptr) return false;
    blocks.emplace_back(block);
  }
  return true;
}

bool stacks_are_not_of_huge_pages() {
  const auto region = std::move(StackRegion::reserve({})).value();
  const auto slot =
      reinterpret_cast<std::uintptr_t>(region->take_slot(StackClass::k64KiB).slot()) + 8192;
  std::ifstream file("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &low, &high) == 2) here = low <= slot && slot < high;
    if (here && line.starts_with("VmFlags:")) return line.find(" nh") != std::string::npos;
  }
  return false;
}

#if LEAT_ASAN
bool a_large_frame_is_thrown_through() {
  return alone([] {
    return spawn([] {
             volatile char room[4096];
             room[0] = 1;
             throw static_cast<int>(room[0]);
           })
               .join_result()
               .exit.kind() == ExitKind::failed;
  });
}
#endif

// -- how ----------------------------------------------------------------------------------------------------

struct Hazard {
  const char* name;
  const char* fix;  // the mutant that switches it off
  bool (*is_met)();
  const char* says = nullptr;      // what is written to standard error, however it ends
  const char* says_not = nullptr;  // what is not
};

void PrintTo(const Hazard& hazard, std::ostream* out) { *out << hazard.name; }

constexpr Hazard kHazards[] = {
    {"ExceptionsEndAtTheBoundary", "worker.lets_exceptions_through", &catches_at_the_boundary},
    {"TerminateNamesTheActor", "last_words.none", &terminate_names_the_actor,
     "std::terminate was called in actor"},
    {"ExceptionsInHandAreApart", "fiber.shares_exceptions", &keeps_exceptions_apart},
    {"ExceptionsInFlightAreApart", "fiber.shares_exceptions", &counts_exceptions_apart},
    {"ErrnoIsApart", "fiber.shares_errno", &keeps_errno_apart},
    {"ThePreemptedStayOnTheirThread", "worker.moves_the_preempted",
     &keeps_the_preempted_on_their_thread},
    {"WhoUnwindsIsNotPreempted", "turn.yields_in_flight", &is_whole_while_unwinding},
    {"HandlersAreNotPreempted", "turn.yields_in_handlers", &is_whole_in_handlers},
    {"OtherStacksAreNotPreempted", "turn.yields_off_stacks", &is_whole_off_its_stack},
    {"TheChildOfAForkIsNotPreempted", "turn.yields_in_child", &is_whole_in_the_child_of_a_fork},
    {"ARuntimeIsNoneInTheChildOfAFork", "scheduler.forks_unnoticed",
     &a_runtime_knows_that_its_threads_are_elsewhere},
    {"TheClockMayStepBack", "turn.waits_for_the_clock", &a_slice_ends_though_the_clock_steps_back},
    {"TheClockMayBeUnsteady", "config.trusts_the_clock", &an_unsteady_clock_is_not_used},
    {"RoundingIsApart", "fiber.shares_float_control", &keeps_rounding_apart},
    {"AShadowStackIsRefused", "scheduler.ignores_shadow_stack", &refuses_a_shadow_stack},
#if LEAT_ASAN
    {"AddressSanitizerKnowsTheStack", "fiber.unannounced", &a_large_frame_is_thrown_through,
     nullptr, "Sanitizer"},
#endif
#if !LEAT_ASAN && !LEAT_TSAN
    {"ForcedUnwindingEndsAtTheBoundary", "worker.swallows_forced_unwind",
     &contains_forced_unwinding},
    {"OverflowNamesTheActor", "overflow.unwatched", &overflow_names_the_actor,
     "\"culprit\" overflowed its stack of 64 KiB"},
    {"GuardsAreNoMappings", "stack_region.heavy_guards", &guards_are_no_mappings},
    {"MappingsAreLeftToOthers", "stack_region.no_bound", &leaves_mappings_to_others},
    {"StacksAreNotOfHugePages", "stack_region.huge_pages", &stacks_are_not_of_huge_pages},
#endif
#if !LEAT_TSAN
    {"ALockHolds", "hooks.locks_do_not_hold", &holds_while_a_lock_is_held},
    {"AnInitialiserHolds", "hooks.statics_do_not_hold", &holds_in_initialisers},
#endif
};

struct Ending {
  bool well = false;
  std::string text;
};

// In a process of its own, so that what goes wrong there stays there.
Ending ending_of(const Hazard& hazard, bool fixed) {
  std::array<int, 2> ends;
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::alarm(fixed ? 60 : 1);  // a twin may wait for itself for ever
    std::optional<SwitchedOff> off;
    if (!fixed) off.emplace(hazard.fix);
    ::_exit(hazard.is_met() ? 0 : 1);
  }
  ::close(ends[1]);
  Ending ending;
  std::array<char, 4096> part;
  for (ssize_t n = 0; (n = ::read(ends[0], part.data(), part.size())) > 0;) {
    ending.text.append(part.data(), static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  const bool returned = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  ending.well =
      hazard.says != nullptr ? ending.text.find(hazard.says) != std::string::npos : returned;
  if (hazard.says_not != nullptr && ending.text.find(hazard.says_not) != std::string::npos) {
    ending.well = false;
  }
  return ending;
}

class Hazards : public testing::TestWithParam<Hazard> {
 protected:
  void SetUp() override {
    const std::string_view name = GetParam().name;
    if (name == "GuardsAreNoMappings") {
      const auto region = StackRegion::reserve({});
      if (region.value()->guard_kind() != GuardKind::light) {
        GTEST_SKIP() << "SKIPPED: this kernel has no light guards (Linux 6.13)";
      }
    }
    if (name == "MappingsAreLeftToOthers" && os::mappings_max() > 100'000) {
      GTEST_SKIP() << "SKIPPED: vm.max_map_count is so large here that reaching it takes too long";
    }
  }
};

TEST_P(Hazards, IsMet) {
  const Ending ending = ending_of(GetParam(), true);
  EXPECT_TRUE(ending.well) << ending.text;
}

TEST_P(Hazards, ComesBackWithoutItsFix) {
  const Ending ending = ending_of(GetParam(), false);
  EXPECT_FALSE(ending.well) << ending.text;
}

INSTANTIATE_TEST_SUITE_P(Actor, Hazards, testing::ValuesIn(kHazards),
                         [](const auto& which) { return std::string(which.param.name); });

TEST(HazardPrograms, ArePreemptedWhereNothingHolds) { EXPECT_TRUE(is_preempted_at_all()); }

}  // namespace
}  // namespace leat::actor

#else

TEST(HazardPrograms, CanBeShownInBuildsWithChecksOnly) {
  GTEST_SKIP() << "SKIPPED: fixes cannot be switched off in this build; see base/mutant.hpp";
}

#endif
