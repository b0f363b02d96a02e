#include <leat/base/os/socket.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace leat::os {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string read_all(Socket& socket) {
  std::string all;
  std::array<std::byte, 7> into{};
  for (;;) {
    const Io io = socket.read(into);
    if (io.state == IoState::over) return all;
    EXPECT_NE(io.state, IoState::broken) << socket.error().message;
    if (io.state == IoState::broken) return all;
    all.append(reinterpret_cast<const char*>(into.data()), io.bytes);
  }
}

TEST(Socket, CarriesBytesToWhoeverListensAndEnds) {
  auto listener = Listener::open("127.0.0.1", 0);
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_NE(listener->port(), 0);
  auto client = connect_to("127.0.0.1", listener->port());
  ASSERT_TRUE(client) << client.error().message;
  auto server = listener->accept();
  ASSERT_TRUE(server) << server.error().message;

  std::array<std::byte, 4> into{};
  EXPECT_EQ(server->read(into).state, IoState::none);  // does not wait
  const auto io = client->write(bytes_of("hello, world"));
  EXPECT_EQ(io.state, IoState::some);
  EXPECT_EQ(io.bytes, 12U);
  {
    const Socket gone = std::move(*client);
  }
  EXPECT_EQ(read_all(*server), "hello, world");
}

TEST(Socket, TakesNoMoreThanThereIsRoomForAndBreaksWithItsPeer) {
  auto pair = socket_pair();
  ASSERT_TRUE(pair) << pair.error().message;
  const std::string much(1 << 20, 'x');
  Io io;
  do {
    io = pair->first.write(bytes_of(much));
  } while (io.state == IoState::some);
  EXPECT_EQ(io.state, IoState::none);
  {
    const Socket gone = std::move(pair->second);
  }
  EXPECT_EQ(pair->first.write(bytes_of(much)).state, IoState::broken);
  EXPECT_NE(pair->first.error().message.find("writing failed"), std::string::npos);
}

TEST(Socket, SaysWhyItCannotBeSetUp) {
  EXPECT_NE(Listener::open("nowhere", 0).error().message.find("\"nowhere\""), std::string::npos);
  auto listener = Listener::open("127.0.0.1", 0);
  ASSERT_TRUE(listener);
  const std::uint16_t port = listener->port();
  const auto again = Listener::open("127.0.0.1", port);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("127.0.0.1:" + std::to_string(port)), std::string::npos);
  {
    const Listener gone = std::move(*listener);
  }
  const auto nobody = connect_to("127.0.0.1", port);
  ASSERT_FALSE(nobody);
  EXPECT_NE(nobody.error().message.find("start whoever listens"), std::string::npos);
}

TEST(Socket, ConnectsOnceSomebodyListens) {
  std::uint16_t port = 0;
  {
    auto listener = Listener::open("127.0.0.1", 0);
    ASSERT_TRUE(listener);
    port = listener->port();
  }
  std::thread late([port] {
    auto listener = Listener::open("127.0.0.1", port);
    ASSERT_TRUE(listener) << listener.error().message;
    EXPECT_TRUE(listener->accept());
  });
  EXPECT_TRUE(connect_to("127.0.0.1", port, std::chrono::seconds(60)));
  late.join();
}

}  // namespace
}  // namespace leat::os
