#include <leat/comm/notify.hpp>

#include <leat/comm/fabric.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace leat::comm {
namespace {

using core::NotifyRule;

/// A sender, worker 0, and a receiver, worker 1, both stepped by hand.
struct Pair {
  explicit Pair(NotifyRule rule) : fabric(2, rule) {}

  void send(int count) {
    for (int message = 0; message < count; ++message) {
      int out = message;
      first.sender.send(1, out);
    }
  }
  void done() { first.sender.done(); }
  /// Looks at what was announced and takes all that is there. Returns: how many messages.
  int look() {
    int taken = 0;
    fabric.seat(1).ready().surface([&](core::Doorbell&) {
      int message = 0;
      while (second.receiver.receive(message)) ++taken;
    });
    return taken;
  }
  bool announced() { return fabric.seat(1).has_announcements(); }
  std::uint64_t notices() { return fabric.seat(0).counters().notices; }

  Fabric fabric;
  Fabric::Ends<int> first = fabric.channel<int>(fabric.seat(0), 0, {}, {});
  Fabric::Ends<int> second = fabric.channel<int>(fabric.seat(1), 0, {}, {});
};

std::uint64_t notices_of_a_burst(NotifyRule rule, int messages) {
  Pair pair(rule);
  pair.send(messages);
  pair.done();
  EXPECT_EQ(pair.look(), messages);
  EXPECT_FALSE(pair.announced()) << "nothing is left";
  return pair.notices();
}

TEST(Notify, OfABurstToWhoDoesNotLookEachRuleMakesItsNumberOfNotices) {
  EXPECT_EQ(notices_of_a_burst(NotifyRule::edge, 64), 1u);
  EXPECT_EQ(notices_of_a_burst(NotifyRule::per_message, 64), 64u);
  EXPECT_EQ(notices_of_a_burst(NotifyRule::first_then_trailing, 64), 2u);
  EXPECT_EQ(notices_of_a_burst(NotifyRule::on_done, 64), 1u);
}

TEST(Notify, OfOneMessageEveryRuleMakesOneNotice) {
  for (const auto rule : {NotifyRule::edge, NotifyRule::per_message,
                          NotifyRule::first_then_trailing, NotifyRule::on_done}) {
    EXPECT_EQ(notices_of_a_burst(rule, 1), 1u);
  }
}

TEST(Notify, AnEmptyBurstMakesNoNotice) {
  for (const auto rule : {NotifyRule::edge, NotifyRule::per_message,
                          NotifyRule::first_then_trailing, NotifyRule::on_done}) {
    EXPECT_EQ(notices_of_a_burst(rule, 0), 0u);
  }
}

TEST(Notify, ATailAfterTheReceiverDrainedIsAnnouncedAtOnceOrWithTheEndOfTheBurst) {
  for (const auto& [rule, waits] :
       {std::pair{NotifyRule::edge, false}, std::pair{NotifyRule::per_message, false},
        std::pair{NotifyRule::first_then_trailing, true}, std::pair{NotifyRule::on_done, true}}) {
    Pair pair(rule);
    pair.send(1);
    EXPECT_EQ(pair.look(), rule == NotifyRule::on_done ? 0 : 1);
    pair.send(1);
    EXPECT_EQ(pair.announced(), !waits);
    pair.done();
    EXPECT_TRUE(pair.announced());
    EXPECT_EQ(pair.look(), rule == NotifyRule::on_done ? 2 : 1);
  }
}

TEST(Notify, TheNextBurstBeginsAnew) {
  Pair pair(NotifyRule::first_then_trailing);
  pair.send(3);
  pair.done();
  EXPECT_EQ(pair.look(), 3);
  pair.send(1);
  EXPECT_TRUE(pair.announced());
  pair.done();
  EXPECT_EQ(pair.notices(), 3u);
}

TEST(Notify, MessagesToOneselfNeedNoRule) {
  for (const auto rule : {NotifyRule::edge, NotifyRule::on_done}) {
    Pair pair(rule);
    int message = 7;
    pair.first.sender.send(0, message);
    int received = 0;
    EXPECT_TRUE(pair.first.receiver.receive(received));
    EXPECT_EQ(received, 7);
    EXPECT_EQ(pair.notices(), 0u);
  }
}

}  // namespace
}  // namespace leat::comm
