#include <leat/base/os/signal_mask.hpp>

#include <gtest/gtest.h>

#include <csignal>

namespace leat::os {
namespace {

std::uint64_t seen_in_handler = 0;

TEST(SignalMask, ShowsThatAHandlerRuns) {
  const std::uint64_t outside = signal_mask();
  struct sigaction before{};
  struct sigaction action{};
  action.sa_handler = [](int) { seen_in_handler = signal_mask(); };
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  std::raise(SIGUSR1);
  ::sigaction(SIGUSR1, &before, nullptr);
  // A sanitizer's runtime may block more of them.
  const std::uint64_t wanted = outside | (std::uint64_t{1} << (SIGUSR1 - 1));
  EXPECT_NE(wanted, outside);
  EXPECT_EQ(seen_in_handler & wanted, wanted);
  EXPECT_EQ(signal_mask(), outside);
}

}  // namespace
}  // namespace leat::os
