#include <leat/base/os/child.hpp>

#include <leat/base/os/descriptor_wait.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace leat::os {
namespace {

std::string read_to_the_end(PipeEnd& from) {
  DescriptorWait poller;
  poller.add(from.descriptor());
  std::string all;
  std::array<std::byte, 64> room;
  for (;;) {
    const Io io = from.read(room);
    if (io.state == IoState::none) {
      poller.wait(std::nullopt);
    } else if (io.state == IoState::some) {
      all.append(reinterpret_cast<const char*>(room.data()), io.bytes);
    } else {
      return all;
    }
  }
}
ChildEnd end_of(Child& child) {
  DescriptorWait poller;
  poller.add(child.descriptor());
  poller.wait(std::nullopt);
  const auto end = child.look();
  EXPECT_TRUE(end.has_value());
  return end.value_or(ChildEnd{});
}
Child shell(const std::string& script, ChildSpec spec = {}) {
  spec.words = {"sh", "-c", script};
  auto child = Child::start(spec);
  EXPECT_TRUE(child.has_value());
  return std::move(*child);
}

TEST(Child, IsReadFromAndEndsWithItsCode) {
  Child child = shell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(read_to_the_end(child.out()), "out\n");
  EXPECT_EQ(read_to_the_end(child.err()), "err\n");
  const ChildEnd end = end_of(child);
  EXPECT_EQ(end.code, 7);
  EXPECT_EQ(end.exit_code(), 7);
}

TEST(Child, GetsVariablesInPlaceOfOurs) {
  ::setenv("LEAT_CHILD_TEST", "ours", 1);
  Child child =
      shell("echo $LEAT_CHILD_TEST $LEAT_CHILD_OTHER",
            {.environment = {{"LEAT_CHILD_TEST", "theirs"}, {"LEAT_CHILD_OTHER", "too"}}});
  EXPECT_EQ(read_to_the_end(child.out()), "theirs too\n");
  ::unsetenv("LEAT_CHILD_TEST");
}

TEST(Child, GetsTheDescriptorsThatItIsToHave) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor read(ends[0]);
  Descriptor write(ends[1]);
  Child child =
      shell("echo by hand >&" + std::to_string(write.number()), {.inherits = {write.number()}});
  write.close();
  char text[32] = "";
  EXPECT_EQ(::read(read.number(), text, sizeof text), 8);
  EXPECT_EQ(std::string(text, 7), "by hand");
}

TEST(Child, EndsBySignalOrWithItsOwner) {
  Child child = shell("echo there; exec sleep 1000");
  std::array<std::byte, 16> room;
  DescriptorWait poller;
  poller.add(child.out().descriptor());
  poller.wait(std::nullopt);
  EXPECT_EQ(child.out().read(room).state, IoState::some);
  EXPECT_FALSE(child.look().has_value());
  child.send(SIGTERM);
  const ChildEnd end = end_of(child);
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(end.exit_code(), 128 + SIGTERM);
  int pid = 0;
  {
    const Child left = shell("exec sleep 1000");
    pid = left.pid();
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(Child, SaysWhatCannotBeRun) {
  const auto child = Child::start({.words = {"/no/such/program"}});
  ASSERT_FALSE(child.has_value());
  EXPECT_NE(child.error().message.find("/no/such/program"), std::string::npos);
  EXPECT_FALSE(Child::start({}).has_value());
}

}  // namespace
}  // namespace leat::os
