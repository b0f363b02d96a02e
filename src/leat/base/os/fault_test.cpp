#include <leat/base/os/fault.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace leat::os {
namespace {

alignas(16) std::byte fresh_stack[64 * 1024];

[[noreturn]] void go_on(void* argument) { std::_Exit(*static_cast<int*>(argument)); }

int exit_code = 7;

bool go_on_elsewhere(Fault& fault) noexcept {
  if (fault.address() > 4096) return false;
  fault.go_on_at(&go_on, &exit_code,
                 reinterpret_cast<std::uintptr_t>(fresh_stack) + sizeof fresh_stack);
  return true;
}

volatile bool deep_enough = false;
int deeper(int n) {
  volatile char room[4096];
  room[0] = static_cast<char>(n);
  return deep_enough ? n : deeper(n + 1) + room[0];
}

void touch(std::uintptr_t address) { *reinterpret_cast<volatile int*>(address) = 1; }

TEST(FaultDeathTest, AThreadGoesOnWhereTheHandlerSays) {
  const auto fault_and_go_on = [] {
    handle_faults(&go_on_elsewhere);
    touch(8);
  };
  EXPECT_EXIT(fault_and_go_on(), testing::ExitedWithCode(7), "");
}

TEST(FaultDeathTest, WhatIsNotAnsweredEndsTheProcessAsEver) {
  const auto fault_for_good = [] {
    ::signal(SIGSEGV, SIG_DFL);
    handle_faults([](Fault&) noexcept { return false; });
    touch(8);
  };
  EXPECT_EXIT(fault_for_good(), testing::KilledBySignal(SIGSEGV), "");
}

TEST(FaultDeathTest, WhatIsNotAnsweredGoesToWhoeverHandledItBefore) {
  const auto fault_handled_before = [] {
    ::signal(SIGSEGV, [](int) { std::_Exit(9); });
    handle_faults([](Fault&) noexcept { return false; });
    touch(8);
  };
  EXPECT_EXIT(fault_handled_before(), testing::ExitedWithCode(9), "");
}

TEST(FaultDeathTest, AHandlerRunsWhenTheStackIsFull) {
  const auto overflow = [] {
    const SignalStack stack;
    handle_faults([](Fault&) noexcept -> bool { std::_Exit(11); });
    std::exit(deeper(0));
  };
  EXPECT_EXIT(overflow(), testing::ExitedWithCode(11), "");
}

}  // namespace
}  // namespace leat::os
