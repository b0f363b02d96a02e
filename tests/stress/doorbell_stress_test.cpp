// Senders put nodes into several channels of one receiver and ring; the receiver sleeps whenever
// nothing is announced. A notice that is lost strands messages and leaves the receiver asleep.
#include <leat/core/doorbell.hpp>
#include <leat/core/parker.hpp>
#include <leat/queue/mpsc.hpp>

#include "payload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace leat::stress {
namespace {

constexpr std::uint64_t kSenders = 3;
constexpr std::uint64_t kChannels = 3;
constexpr std::uint64_t kMessagesEach = 10'000;  // per sender, over all channels

struct Node : queue::MpscNode {
  Payload payload;
};

/// A channel as comm has them: bell and queue in one block, counted by its endpoints.
struct Channel : core::Doorbell {
  struct owners : Edge {};  // an owner's last use -> the block's end

  Channel() : Doorbell(&Channel::release) {}
  static void release(core::Doorbell* bell) noexcept { static_cast<Channel*>(bell)->unref(); }
  void unref() noexcept {
    if (count.fetch_sub_acq_rel(1, owners{}, owners{}) == 1) delete this;
  }
  ~Channel() {
    while (queue.pop() != nullptr) {
    }
    if (gone != nullptr) gone->fetch_add_relaxed(1);
  }

  queue::Mpsc<Node> queue;
  Atomic<std::uint32_t> count{1 + kSenders};
  Atomic<std::uint64_t>* gone = nullptr;
};

class Receiver {
 public:
  explicit Receiver(const std::array<Channel*, kChannels>& channels) : channels_(channels) {}

  void send(Node* nodes, std::uint64_t sender, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) {
      Channel& channel = *channels_[mix64(sender ^ i) % kChannels];
      nodes[i].payload = Payload::make(sender, i);
      channel.queue.push(&nodes[i]);
      const core::Announced announced = core::announce(ready, parker, channel);
      EXPECT_NE(announced.mark, core::Mark::closed);
    }
  }

  void drain() {
    ready.surface([this](core::Doorbell& bell) {
      while (const Node* node = static_cast<Channel&>(bell).queue.pop()) {
        EXPECT_TRUE(node->payload.is_whole());
        seen_[node->payload.writer].push_back(node->payload.sequence);
        ++total;
      }
    });
  }

  /// Each sender's messages came once each.
  void check() {
    for (auto& sequences : seen_) {
      std::sort(sequences.begin(), sequences.end());
      ASSERT_EQ(sequences.size(), kMessagesEach);
      for (std::uint64_t i = 0; i < kMessagesEach; ++i) ASSERT_EQ(sequences[i], i);
    }
  }

  core::ReadyList ready;
  core::Parker parker;
  std::uint64_t total = 0;

 private:
  std::array<Channel*, kChannels> channels_;
  std::array<std::vector<std::uint64_t>, kSenders> seen_;
};

std::array<Channel*, kChannels> make_channels(Atomic<std::uint64_t>* gone = nullptr) {
  std::array<Channel*, kChannels> channels;
  for (Channel*& channel : channels) {
    channel = new Channel;
    channel->gone = gone;
  }
  return channels;
}

/// All senders' and the receiver's references at once.
void drop_all(const std::array<Channel*, kChannels>& channels) {
  for (Channel* channel : channels) {
    for (std::uint64_t i = 0; i < kSenders; ++i) channel->unref();
    if (!channel->close()) channel->unref();
  }
}

TEST(DoorbellStress, ScaffoldOnOneThread) {
  auto channels = make_channels();
  {
    Receiver receiver(channels);
    auto nodes = std::make_unique<Node[]>(kSenders * kMessagesEach);
    constexpr std::uint64_t kBurst = 10;
    for (std::uint64_t from = 0; from < kMessagesEach; from += kBurst) {
      for (std::uint64_t sender = 0; sender < kSenders; ++sender) {
        receiver.send(&nodes[sender * kMessagesEach], sender, from,
                      std::min(from + kBurst, kMessagesEach));
      }
      receiver.drain();
    }
    receiver.check();
    EXPECT_LT(receiver.ready.surfaced(), kSenders * kMessagesEach) << "edges, not messages";
  }
  drop_all(channels);
}

TEST(DoorbellStress, EveryMessageIsAnnouncedToASleeper) {
  auto channels = make_channels();
  auto nodes = std::make_unique<Node[]>(kSenders * kMessagesEach);
  {
    Receiver receiver(channels);
    std::vector<std::thread> senders;
    for (std::uint64_t sender = 0; sender < kSenders; ++sender) {
      senders.emplace_back(
          [&, sender] { receiver.send(&nodes[sender * kMessagesEach], sender, 0, kMessagesEach); });
    }
    while (receiver.total < kSenders * kMessagesEach) {
      receiver.drain();
      if (receiver.total < kSenders * kMessagesEach) {
        receiver.parker.park([&] { return receiver.ready.has_ready(); });
      }
    }
    for (std::thread& sender : senders) sender.join();
    receiver.check();
  }
  drop_all(channels);
}

TEST(DoorbellStress, ChannelsClosedUnderWayAreFreedOnceByTheLastOwner) {
  constexpr int kRuns = 200;
  Atomic<std::uint64_t> gone{0};
  for (int run = 0; run < kRuns; ++run) {
    auto channels = make_channels(&gone);
    auto nodes = std::make_unique<Node[]>(kSenders * kChannels);
    {
      core::ReadyList ready;
      core::Parker parker;
      std::vector<std::thread> senders;
      for (std::uint64_t sender = 0; sender < kSenders; ++sender) {
        senders.emplace_back([&, sender] {
          for (std::uint64_t i = 0; i < kChannels; ++i) {
            Channel& channel = *channels[i];
            channel.queue.push(&nodes[sender * kChannels + i]);
            static_cast<void>(core::announce(ready, parker, channel));
            channel.unref();
          }
        });
      }
      ready.surface([](core::Doorbell&) {});
      for (Channel* channel : channels) {
        if (!channel->close()) channel->unref();
      }
      ready.surface([](core::Doorbell&) { ADD_FAILURE() << "a closed bell was surfaced"; });
      for (std::thread& sender : senders) sender.join();
    }
    ASSERT_EQ(gone.load_relaxed(), (static_cast<std::uint64_t>(run) + 1) * kChannels);
  }
}

}  // namespace
}  // namespace leat::stress
