#include <leat/base/os/shared_pages.hpp>

#include <leat/base/os/descriptor_wait.hpp>
#include <leat/base/os/program.hpp>
#include <leat/base/os/socket.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace leat::os {
namespace {

TEST(SharedPages, AreTheSameMemoryForWhoGetsTheDescriptor) {
  auto made = SharedPages::make(8192);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->memory().size(), 8192U);
  EXPECT_EQ(made->memory()[8191], std::byte{0});
  auto sockets = socket_pair();
  ASSERT_TRUE(sockets.has_value());
  ASSERT_TRUE(sockets->first.send_descriptor(made->descriptor()));
  Descriptor got;
  ASSERT_EQ(sockets->second.receive_descriptor(got).state, IoState::some);
  auto joined = SharedPages::of(std::move(got), 8192);
  ASSERT_TRUE(joined.has_value()) << joined.error().message;
  made->memory()[5] = std::byte{9};
  EXPECT_EQ(joined->memory()[5], std::byte{9});
  EXPECT_NE(joined->memory().data(), made->memory().data());
}

TEST(SharedPages, AreRefusedIfTheyAreNotWhatWasAgreed) {
  auto made = SharedPages::make(8192);
  ASSERT_TRUE(made.has_value());
  EXPECT_FALSE(SharedPages::of(Descriptor(::dup(made->descriptor())), 4096).has_value());
  EXPECT_FALSE(SharedPages::of(Descriptor(::dup(STDIN_FILENO)), 8192).has_value());
  EXPECT_NE(::ftruncate(made->descriptor(), 10), 0);  // nobody cuts them short
}

TEST(DescriptorWait, WaitsForWhatCanBeReadOrSomebodyWhoWakesIt) {
  auto sockets = socket_pair();
  ASSERT_TRUE(sockets.has_value());
  DescriptorWait poller;
  poller.add(sockets->second.descriptor());
  EXPECT_FALSE(poller.wait(Nanos{0}));
  poller.wake();
  EXPECT_FALSE(poller.wait(std::nullopt));
  const std::byte byte{1};
  ASSERT_EQ(sockets->first.write(std::span(&byte, 1)).bytes, 1U);
  EXPECT_TRUE(poller.wait(std::nullopt));
  poller.remove(sockets->second.descriptor());
  EXPECT_FALSE(poller.wait(Nanos{0}));
  poller.add(sockets->first.descriptor(), true);
  EXPECT_TRUE(poller.wait(std::nullopt));  // there is room to write
  poller.watch_writing(sockets->first.descriptor(), false);
  EXPECT_FALSE(poller.wait(Nanos{0}));
}

TEST(Program, HasABuildThatStaysTheSame) {
  EXPECT_GE(program_build().size(), 16U);
  EXPECT_EQ(program_build(), program_build());
}

TEST(Socket, WritesSeveralPartsInOneCall) {
  auto sockets = socket_pair();
  ASSERT_TRUE(sockets.has_value());
  const std::string one = "one ";
  const std::string two = "two";
  const std::array<std::span<const std::byte>, 2> parts{std::as_bytes(std::span(one)),
                                                        std::as_bytes(std::span(two))};
  ASSERT_EQ(sockets->first.write(parts).bytes, 7U);
  sockets->first.finish_writing();
  std::array<std::byte, 16> got{};
  ASSERT_EQ(sockets->second.read(got).bytes, 7U);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(got.data()), 7), "one two");
  EXPECT_EQ(sockets->second.read(got).state, IoState::over);
}

}  // namespace
}  // namespace leat::os
