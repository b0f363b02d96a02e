#include <leat/base/os/process.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cstdint>

namespace leat::os {
namespace {

TEST(Process, KnowsItselfAsAlive) {
  const ProcessIdentity self = this_process();
  EXPECT_EQ(self.pid, static_cast<std::uint64_t>(::getpid()));
  EXPECT_EQ(self, this_process());
  EXPECT_NE(life_of(self), Life::dead);
  EXPECT_NE(program_name(), "?");
}

TEST(Process, KnowsAChildAliveAndThenDead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const ProcessIdentity self = this_process();
    static_cast<void>(!::write(ends[1], &self, sizeof self));
    while (true) ::pause();
  }
  ProcessIdentity other;
  ASSERT_EQ(::read(ends[0], &other, sizeof other), static_cast<ssize_t>(sizeof other));
  EXPECT_EQ(other.pid, static_cast<std::uint64_t>(child));
  EXPECT_NE(other, this_process());
  EXPECT_NE(life_of(other), Life::dead);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(life_of(other), Life::dead);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Process, IsNotTakenForAnEarlierOneOfItsPid) {
  ProcessIdentity earlier = this_process();
  if (earlier.start_time == 0) GTEST_SKIP() << "no /proc to read start times from";
  --earlier.start_time;
  EXPECT_EQ(life_of(earlier), Life::dead);
}

TEST(Process, OfAnEarlierBootIsDead) {
  ProcessIdentity earlier = this_process();
  if (earlier.boot == std::array<std::uint64_t, 2>{}) GTEST_SKIP() << "no boot id to read";
  ++earlier.boot[0];
  EXPECT_EQ(life_of(earlier), Life::dead);
}

TEST(Process, OfAnotherPidNamespaceIsUnknown) {
  ProcessIdentity other = this_process();
  ++other.pid_namespace;
  EXPECT_EQ(life_of(other), Life::unknown);
  EXPECT_EQ(life_of(ProcessIdentity{}), Life::dead);
}

}  // namespace
}  // namespace leat::os
