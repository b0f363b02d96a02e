#include <leat/base/thread_tag.hpp>

#include <gtest/gtest.h>
#include <thread>

namespace leat {
namespace {

TEST(ThreadTag, IsTheSameInsideAThreadAndAnotherInAnother) {
  const ThreadTag mine = this_thread_tag();
  EXPECT_EQ(mine, this_thread_tag());
  ThreadTag theirs;
  std::thread([&] { theirs = this_thread_tag(); }).join();
  EXPECT_NE(theirs, mine);
}

TEST(ThreadTag, OfNoThreadIsNobodys) { EXPECT_NE(ThreadTag{}, this_thread_tag()); }

}  // namespace
}  // namespace leat
