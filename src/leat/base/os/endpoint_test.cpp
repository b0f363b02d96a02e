#include <leat/base/os/endpoint.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

namespace leat::os {
namespace {

Endpoint only(const std::string& text) {
  auto found = Endpoint::look_up(text);
  EXPECT_TRUE(found.has_value()) << text;
  return found->front();
}
std::string refused_address(const std::string& text) {
  const auto found = Endpoint::look_up(text);
  EXPECT_FALSE(found.has_value()) << text;
  return found ? "" : found.error().message;
}

TEST(Endpoint, ReadsAddressesOfEveryKind) {
  EXPECT_EQ(only("127.0.0.1:2101").text(), "127.0.0.1:2101");
  EXPECT_EQ(only("[::1]:80").text(), "[::1]:80");
  EXPECT_EQ(only("unix:/tmp/some where").text(), "unix:/tmp/some where");
  EXPECT_EQ(only("unix:@name").text(), "unix:@name");
  EXPECT_EQ(only("localhost:7").with_port(9).text(), "127.0.0.1:9");
  EXPECT_TRUE(only("unix:@name").is_unix());
}

TEST(Endpoint, KnowsWhatOnlyThisHostReaches) {
  for (const char* const text : {"127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "unix:/x"}) {
    EXPECT_TRUE(only(text).is_local()) << text;
  }
  for (const char* const text : {"0.0.0.0:1", "10.0.0.1:1", "[::]:1"}) {
    EXPECT_FALSE(only(text).is_local()) << text;
  }
}

TEST(Endpoint, SaysWhatIsNoAddress) {
  EXPECT_NE(refused_address("localhost").find("no port"), std::string::npos);
  EXPECT_NE(refused_address(":80").find("no name"), std::string::npos);
  EXPECT_NE(refused_address("localhost:http").find("the port \"http\""), std::string::npos);
  EXPECT_NE(refused_address("localhost:65536").find("the port"), std::string::npos);
  EXPECT_NE(refused_address("::1:80").find("brackets"), std::string::npos);
  EXPECT_NE(refused_address("unix:").find("no path"), std::string::npos);
}

// Connects without waiting, as an event loop does.
std::optional<Socket> call(const Endpoint& to) {
  auto calling = Connecting::begin(to);
  while (calling) {
    auto socket = calling->look();
    if (!socket) return std::nullopt;
    if (*socket) return std::move(*socket);
    std::this_thread::yield();
  }
  return std::nullopt;
}
std::optional<Socket> answer(Doorway& door) {
  for (;;) {
    auto socket = door.accept();
    if (!socket) return std::nullopt;
    if (*socket) return std::move(*socket);
    std::this_thread::yield();
  }
}

TEST(Doorway, LetsInWhoConnectsWhateverTheAddress) {
  const std::string file = "unix:" + testing::TempDir() + "leat_door_" + std::to_string(::getpid());
  for (const std::string& text :
       {std::string("127.0.0.1:0"), file, "unix:@leat_door_" + std::to_string(::getpid())}) {
    auto door = Doorway::open(only(text));
    ASSERT_TRUE(door.has_value()) << door.error().message;
    EXPECT_TRUE(door->is_local());
    auto near = call(only(door->text()));
    auto far = answer(*door);
    ASSERT_TRUE(near.has_value() && far.has_value()) << text;
    const std::byte byte{7};
    ASSERT_EQ(near->write(std::span(&byte, 1)).bytes, 1U);
    std::array<std::byte, 4> got{};
    while (far->read(got).state == IoState::none) std::this_thread::yield();
    EXPECT_EQ(got[0], byte);
    if (text.starts_with("unix:")) {
      EXPECT_TRUE(far->is_of_same_user());
    }
  }
  // The name of a door that nobody keeps any more is no obstacle.
  EXPECT_TRUE(Doorway::open(only(file)).has_value());
  std::filesystem::remove(file.substr(5));
}

TEST(Doorway, SaysThatSomebodyElseListensThere) {
  auto door = Doorway::open(only("127.0.0.1:0"));
  ASSERT_TRUE(door.has_value());
  const auto again = Doorway::open(only(door->text()));
  ASSERT_FALSE(again.has_value());
  EXPECT_NE(again.error().message.find("asked to listen at " + door->text()), std::string::npos);
}

TEST(Connecting, SaysThatNobodyListens) {
  std::string free;
  {
    auto door = Doorway::open(only("127.0.0.1:0"));
    ASSERT_TRUE(door.has_value());
    free = door->text();
  }
  EXPECT_FALSE(call(only(free)).has_value());
}

TEST(Doorway, AdoptsASocketThatListensAndNoOther) {
  auto door = Doorway::open(only("127.0.0.1:0"));
  ASSERT_TRUE(door.has_value());
  const std::string where = door->text();
  auto adopted = Doorway::adopt(std::move(*door).release());
  ASSERT_TRUE(adopted.has_value());
  EXPECT_EQ(adopted->text(), where);
  EXPECT_FALSE(Doorway::adopt(Descriptor(::dup(STDIN_FILENO))).has_value());
}

}  // namespace
}  // namespace leat::os
