#include <leat/base/os/cpu_time.hpp>

#include <gtest/gtest.h>
#include <thread>

namespace leat::os {
namespace {

TEST(CpuTime, GrowsWithWorkAndCountsEndedThreadsForTheProcess) {
  const Nanos process_before = process_cpu();
  const Nanos mine_before = thread_cpu();
  Nanos theirs{0};
  std::thread([&theirs] {
    while ((theirs = thread_cpu()) < std::chrono::microseconds(500)) {
    }
  }).join();
  EXPECT_GE(process_cpu() - process_before, theirs);
  EXPECT_GE(thread_cpu(), mine_before);
}

}  // namespace
}  // namespace leat::os
