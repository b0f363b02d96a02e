#include <leat/base/os/ready_watch.hpp>

#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <string>

namespace leat::os {
namespace {

/// Counts calls, and lets a test wait for them.
class Calls {
 public:
  void note() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  int wait_for(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

void send(Socket& socket, const std::string& text) {
  ASSERT_EQ(socket.write(std::as_bytes(std::span(text))).bytes, text.size());
}

TEST(ReadyWatch, CallsOncePerReadThatFoundNothing) {
  auto pair = socket_pair();
  ASSERT_TRUE(pair) << pair.error().message;
  Calls calls;
  WatchedSocket reader(std::move(pair->first), std::make_shared<ReadyWatch>());
  std::array<std::byte, 2> into{};
  EXPECT_EQ(reader.read(into).state, IoState::none);  // nobody to be woken yet
  reader.wake_by([&] { calls.note(); });
  EXPECT_EQ(reader.read(into).state, IoState::none);
  send(pair->second, "abc");
  EXPECT_EQ(calls.wait_for(1), 1);
  send(pair->second, "d");
  EXPECT_EQ(reader.read(into).bytes, 2U);
  EXPECT_EQ(reader.read(into).bytes, 2U);
  EXPECT_EQ(reader.read(into).state, IoState::none);
  {
    const Socket gone = std::move(pair->second);
  }
  EXPECT_EQ(calls.wait_for(2), 2);
  EXPECT_EQ(reader.read(into).state, IoState::over);
}

TEST(ReadyWatch, SeesWhatCameBeforeItWasArmed) {
  auto pair = socket_pair();
  ASSERT_TRUE(pair) << pair.error().message;
  Calls calls;
  ReadyWatch watch;
  watch.add(pair->first.descriptor(), [&] { calls.note(); });
  send(pair->second, "abc");
  watch.arm(pair->first.descriptor());
  EXPECT_EQ(calls.wait_for(1), 1);
  watch.remove(pair->first.descriptor());
}

TEST(ReadyWatch, WatchesManyAtOnceAndForgetsWhomItIsToldTo) {
  ReadyWatch watch;
  Calls calls;
  std::vector<std::pair<Socket, Socket>> pairs;
  for (int i = 0; i < 40; ++i) {
    auto pair = socket_pair();
    ASSERT_TRUE(pair) << pair.error().message;
    watch.add(pair->first.descriptor(), [&] { calls.note(); });
    watch.arm(pair->first.descriptor());
    pairs.push_back(std::move(*pair));
  }
  for (std::size_t i = 0; i < 20; ++i) watch.remove(pairs[i].first.descriptor());
  for (auto& pair : pairs) send(pair.second, "x");
  EXPECT_EQ(calls.wait_for(20), 20);
  for (std::size_t i = 20; i < 40; ++i) watch.remove(pairs[i].first.descriptor());
}

TEST(ReadyWatch, ArmsOnlyWhatWasAdded) { EXPECT_DEATH(ReadyWatch().arm(0), "was not added"); }

}  // namespace
}  // namespace leat::os
