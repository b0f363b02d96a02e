#include <leat/base/os/thread_name.hpp>

#include <gtest/gtest.h>
#include <thread>

namespace leat::os {
namespace {

TEST(ThreadName, IsWhatTheThreadCalledItself) {
  std::thread([] {
    set_thread_name("leat:work-3");
    EXPECT_EQ(thread_name(), "leat:work-3");
  }).join();
}

TEST(ThreadName, KeepsTheFirstFifteenBytes) {
  std::thread([] {
    set_thread_name("a name that is far too long");
    EXPECT_EQ(thread_name(), "a name that is ");
  }).join();
}

}  // namespace
}  // namespace leat::os
