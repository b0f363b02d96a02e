#include <leat/comm/net/connect.hpp>

#include <leat/base/os/socket.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace leat::comm {
namespace {

core::Network network_of(std::size_t process, std::size_t processes) {
  core::Network network;
  network.process = process;
  network.processes = processes;
  network.cluster = "connect-test-" + std::to_string(::getpid());
  network.connect_timeout = std::chrono::seconds(60);
  return network;
}

// What came of processes that looked for each other, each on a thread.
std::vector<Result<Connected>> meet_all(const std::vector<core::Network>& networks,
                                        const std::vector<std::size_t>& workers) {
  std::vector<std::optional<Result<Connected>>> found(networks.size());
  std::vector<std::thread> threads;
  const RealClock clock;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    threads.emplace_back(
        [&, i] { found[i].emplace(connect_processes(networks[i], workers[i], false, clock)); });
  }
  for (auto& thread : threads) thread.join();
  std::vector<Result<Connected>> all;
  for (auto& each : found) all.push_back(std::move(*each));
  return all;
}

// What one side writes the other one reads.
void expect_connected(Connection& a, Connection& b) {
  const std::byte sent{42};
  const std::span<const std::byte> part(&sent, 1);
  ASSERT_EQ(a.transport->write(std::span(&part, 1)).bytes, 1U);
  std::array<std::byte, 2> got{};
  Io io;
  while ((io = b.transport->read(got)).state == IoState::none) std::this_thread::yield();
  EXPECT_EQ(io.bytes, 1U);
  EXPECT_EQ(got[0], sent);
}

TEST(Connect, BringsAllPairsTogetherOverUnixSocketsAndSharedMemory) {
  for (const bool is_shared : {false, true}) {
    std::vector<core::Network> networks;
    for (std::size_t i = 0; i < 3; ++i) {
      auto& network = networks.emplace_back(network_of(i, 3));
      if (is_shared) {
        network.fabric = core::FabricKind::shm;
      } else {
        for (std::size_t k = 0; k < 3; ++k) {
          network.hosts.push_back("unix:@" + network.cluster + "-" + std::to_string(k));
        }
      }
    }
    auto found = meet_all(networks, {1, 1, 1});
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(found[i].has_value()) << found[i].error().message;
      EXPECT_EQ(found[i]->connections.size(), 2U);
    }
    expect_connected(found[0]->connections[0], found[1]->connections[0]);  // 0 and 1
    expect_connected(found[2]->connections[1], found[1]->connections[1]);  // 2 and 1
    expect_connected(found[2]->connections[0], found[0]->connections[1]);  // 2 and 0
  }
}

TEST(Connect, TakesSocketsThatAreConnectedAlready) {
  auto pair = os::socket_pair();
  ASSERT_TRUE(pair.has_value());
  std::vector<core::Network> networks{network_of(0, 2), network_of(1, 2)};
  networks[0].sockets = {-1, ::dup(pair->first.descriptor())};
  networks[1].sockets = {::dup(pair->second.descriptor()), -1};
  auto found = meet_all(networks, {2, 2});
  ASSERT_TRUE(found[0].has_value()) << found[0].error().message;
  ASSERT_TRUE(found[1].has_value()) << found[1].error().message;
  expect_connected(found[0]->connections[0], found[1]->connections[0]);
}

TEST(Connect, NamesWhatTwoProcessesDisagreeAboutToBoth) {
  std::vector<core::Network> networks{network_of(0, 2), network_of(1, 2)};
  for (auto& network : networks) network.fabric = core::FabricKind::shm;
  auto found = meet_all(networks, {2, 3});
  for (auto& each : found) {
    ASSERT_FALSE(each.has_value());
    EXPECT_NE(each.error().message.find("-w"), std::string::npos) << each.error().message;
  }
}

TEST(Connect, SaysWhoDidNotComeInTime) {
  core::Network network = network_of(0, 2);
  network.fabric = core::FabricKind::shm;
  network.connect_timeout = std::chrono::milliseconds(1);
  const RealClock clock;
  const auto found = connect_processes(network, 1, false, clock);
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().message.find("waits for process 1"), std::string::npos)
      << found.error().message;
}

TEST(Connect, ListensWhereOthersCanReachItOnlyIfItMay) {
  core::Network network = network_of(0, 2);
  network.hosts = {"0.0.0.0:0", "localhost:1"};
  network.connect_timeout = std::chrono::milliseconds(1);
  const RealClock clock;
  EXPECT_NE(connect_processes(network, 1, false, clock).error().message.find("--secret-file"),
            std::string::npos);
  network.insecure = true;
  EXPECT_NE(connect_processes(network, 1, false, clock).error().message.find("waits for"),
            std::string::npos);
}

TEST(Connect, ProcessesListenAtPortsThatFollowEachOtherUnlessToldOtherwise) {
  core::Network network = network_of(0, 3);
  EXPECT_EQ(host_of(network, 0), "localhost:2101");
  EXPECT_EQ(host_of(network, 2), "localhost:2103");
  network.hosts = {"a:1", "b:2", "c:3"};
  EXPECT_EQ(host_of(network, 2), "c:3");
}

}  // namespace
}  // namespace leat::comm
