#include <leat/core/doorbell.hpp>

#include <gtest/gtest.h>
#include <vector>

namespace leat::core {
namespace {

struct Channel : Doorbell {
  Channel() : Doorbell(&Channel::give_back) {}
  static void give_back(Doorbell* bell) noexcept { ++static_cast<Channel*>(bell)->released; }
  int released = 0;
};

std::vector<Doorbell*> surfaced(ReadyList& list) {
  std::vector<Doorbell*> bells;
  list.surface([&](Doorbell& bell) { bells.push_back(&bell); });
  return bells;
}

TEST(Doorbell, OnlyTheFirstMarkIsAnEdge) {
  Channel channel;
  ReadyList list;
  EXPECT_FALSE(list.has_ready());
  EXPECT_EQ(list.mark(channel), Mark::edge);
  EXPECT_EQ(list.mark(channel), Mark::quiet);
  EXPECT_EQ(list.mark(channel), Mark::quiet);
  EXPECT_TRUE(list.has_ready());
  EXPECT_EQ(surfaced(list), (std::vector<Doorbell*>{&channel}));
  EXPECT_FALSE(list.has_ready());
}

TEST(Doorbell, AMarkAfterSurfacingIsAnEdgeAgain) {
  Channel channel;
  ReadyList list;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(list.mark(channel), Mark::edge);
    EXPECT_EQ(surfaced(list).size(), 1u);
  }
  EXPECT_EQ(list.surfaced(), 3u);
  EXPECT_EQ(list.taken(), 3u);
}

TEST(Doorbell, ReadyIsClearedBeforeTheReceiverIsTold) {
  Channel channel;
  ReadyList list;
  ASSERT_EQ(list.mark(channel), Mark::edge);
  list.surface([&](Doorbell& bell) { EXPECT_EQ(list.mark(bell), Mark::edge); });
  EXPECT_EQ(surfaced(list).size(), 1u) << "what came while surfacing is on the next list";
}

TEST(Doorbell, SurfacingNothingTakesNoList) {
  ReadyList list;
  EXPECT_TRUE(surfaced(list).empty());
  EXPECT_EQ(list.taken(), 0u);
}

TEST(Doorbell, AllReadyBellsAreSurfacedOnceNewestFirst) {
  Channel one, two, three;
  ReadyList list;
  for (Channel* channel : {&one, &two, &one, &three, &two}) {
    static_cast<void>(list.mark(*channel));
  }
  EXPECT_EQ(surfaced(list), (std::vector<Doorbell*>{&three, &two, &one}));
}

TEST(Doorbell, MarkingAClosedBellSaysSoAndPushesNothing) {
  Channel channel;
  ReadyList list;
  EXPECT_FALSE(channel.was_closed());
  EXPECT_FALSE(channel.close()) << "not on the list";
  EXPECT_TRUE(channel.was_closed());
  EXPECT_EQ(list.mark(channel), Mark::closed);
  EXPECT_EQ(list.mark(channel), Mark::closed);
  EXPECT_FALSE(list.has_ready());
  EXPECT_EQ(channel.released, 0) << "the receiving end gives its reference back itself";
}

TEST(Doorbell, ABellClosedOnTheListIsReleasedWhenSurfaced) {
  Channel channel;
  ReadyList list;
  ASSERT_EQ(list.mark(channel), Mark::edge);
  EXPECT_TRUE(channel.close());
  EXPECT_EQ(list.mark(channel), Mark::closed);
  EXPECT_EQ(channel.released, 0);
  EXPECT_TRUE(surfaced(list).empty());
  EXPECT_EQ(channel.released, 1);
}

TEST(Doorbell, ABellClosedWhileTheListIsSurfacedIsReleasedOnce) {
  Channel one, two;
  ReadyList list;
  ASSERT_EQ(list.mark(one), Mark::edge);
  ASSERT_EQ(list.mark(two), Mark::edge);
  list.surface([&](Doorbell& bell) {
    ASSERT_EQ(&bell, &two);
    EXPECT_TRUE(one.close()) << "taken, but not looked at yet";
    EXPECT_FALSE(two.close()) << "no longer on the list";
  });
  EXPECT_EQ(one.released, 1);
  EXPECT_EQ(two.released, 0);
}

TEST(Doorbell, TheListReleasesClosedBellsWhenItGoes) {
  Channel channel;
  {
    ReadyList list;
    ASSERT_EQ(list.mark(channel), Mark::edge);
    ASSERT_TRUE(channel.close());
  }
  EXPECT_EQ(channel.released, 1);
}

TEST(Doorbell, AnnounceRingsOnEdgesOnlyAndWakesOnlyASleeper) {
  Channel channel;
  ReadyList list;
  Parker parker;
  const Announced first = announce(list, parker, channel);
  EXPECT_EQ(first.mark, Mark::edge);
  EXPECT_FALSE(first.woke) << "the receiver runs";
  EXPECT_EQ(surfaced(list).size(), 1u);
  EXPECT_TRUE(parker.park([&] {
    const Announced asleep = announce(list, parker, channel);
    EXPECT_EQ(asleep.mark, Mark::edge);
    EXPECT_TRUE(asleep.woke);
    EXPECT_FALSE(announce(list, parker, channel).woke);
    return list.has_ready();
  }));
}

}  // namespace
}  // namespace leat::core
