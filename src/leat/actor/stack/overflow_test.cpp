#include <leat/actor/stack/overflow.hpp>

#include <leat/actor/fiber/test_carousel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>

namespace leat::actor {
namespace {

#if LEAT_ASAN || LEAT_TSAN
#define LEAT_SKIP_UNDER_SANITIZERS() \
  GTEST_SKIP() << "sanitizers do not follow a thread that goes on elsewhere after a fault"
#else
#define LEAT_SKIP_UNDER_SANITIZERS() static_cast<void>(0)
#endif

std::size_t call_it_parser(const void* /*owner*/, std::span<char> text) noexcept {
  constexpr std::string_view kName = "actor 17 \"parser\"";
  std::copy_n(kName.data(), kName.size(), text.data());
  return kName.size();
}

int ends = 0;
FaultKind last_end{};
void count_end(void* owner, FaultKind why) {
  ++ends;
  last_end = why;
  Carousel::end_now(owner);
}

constexpr OwnerCalls kNamed{.name = &call_it_parser};
constexpr OwnerCalls kEndsAlone{.name = &call_it_parser,
                                .ends_alone = [](const void*, FaultKind) noexcept { return true; },
                                .end = &count_end};

volatile bool deep_enough = false;
int deeper(int n) {
  volatile char room[512];
  room[0] = static_cast<char>(n);
  return deep_enough ? n : deeper(n + 1) + room[0];
}
void overflow() { static_cast<void>(deeper(0)); }

volatile int* volatile nothing = nullptr;
volatile int zero = 0;

void run_one(const OwnerCalls& calls, void (*body)(), StackClass size = StackClass::k64KiB) {
  tell_of_owners(calls);
  Carousel carousel(size);
  carousel.preempt_by({});  // so that a lock's hold is of this actor
  carousel.add(body);
  carousel.run();
}

TEST(OverflowDeathTest, IsSaidByNameSizeAndDepth) {
  EXPECT_DEATH(run_one(kNamed, &overflow),
               "leat: actor 17 \"parser\" overflowed its stack of 64 KiB: it was [0-9]+ bytes deep "
               "at 0x[0-9a-f]+; give it a larger one");
}

TEST(OverflowDeathTest, IsSaidOfStacksOfEverySize) {
  EXPECT_DEATH(run_one(kNamed, &overflow, StackClass::k16KiB), "stack of 16 KiB");
  EXPECT_DEATH(run_one(kNamed, &overflow, StackClass::k256KiB), "stack of 256 KiB");
  EXPECT_DEATH(run_one(kNamed, &overflow, StackClass::k1MiB), "stack of 1024 KiB");
}

TEST(OverflowDeathTest, IsSaidAlsoIfNobodyKnowsNames) {
  EXPECT_DEATH(run_one({}, &overflow), "leat: somebody overflowed its stack");
}

TEST(Overflow, EndsTheActorAloneIfSoAskedAThousandTimesInARow) {
  LEAT_SKIP_UNDER_SANITIZERS();
  testing::internal::CaptureStderr();
  tell_of_owners(kEndsAlone);
  ends = 0;
  int others = 0;
  {
    Carousel carousel;
    carousel.preempt_by({});
    for (int i = 0; i < 1000; ++i) carousel.add(&overflow);
    carousel.add([&] { ++others; });
    carousel.run();
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(ends, 1000);
  EXPECT_EQ(last_end, FaultKind::stack_overflow);
  EXPECT_EQ(others, 1);
  EXPECT_EQ(std::ranges::count(said, '\n'), 1000);
  EXPECT_NE(said.find("it ends, and what it owned leaks"), std::string::npos);
}

TEST(Overflow, EndsTheActorAloneForOtherFaultsOfItsOwn) {
  LEAT_SKIP_UNDER_SANITIZERS();
  testing::internal::CaptureStderr();
  run_one(kEndsAlone, [] { *nothing = 1; });
  EXPECT_EQ(last_end, FaultKind::null_access);
#if defined(__x86_64__)  // elsewhere a division by zero is 0
  run_one(kEndsAlone, [] { zero = 100 / zero; });
  EXPECT_EQ(last_end, FaultKind::arithmetic);
#endif
  EXPECT_NE(testing::internal::GetCapturedStderr().find("used a null pointer"), std::string::npos);
}

TEST(OverflowDeathTest, TheProcessEndsIfTheActorHoldsALock) {
  LEAT_SKIP_UNDER_SANITIZERS();
  const auto body = [] {
    const NoPreempt lock;
    overflow();
  };
  EXPECT_DEATH(run_one(kEndsAlone, body), "it holds 1 locks, so the process ends with it");
}

TEST(OverflowDeathTest, AFaultOfAPlainThreadIsAnybodys) {
  LEAT_SKIP_UNDER_SANITIZERS();
  const auto fault = [] {
    ::signal(SIGSEGV, SIG_DFL);
    tell_of_owners(kEndsAlone);
    const Carrier carrier;
    *nothing = 1;
  };
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGSEGV), "^$");
}

}  // namespace
}  // namespace leat::actor
