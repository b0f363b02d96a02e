#include <leat/comm/remote_activation.hpp>

#include <leat/comm/fabric.hpp>
#include <leat/core/activation.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>

namespace leat::comm {
namespace {

void surface(Seat& seat) {
  seat.ready().surface(
      [](core::Doorbell& bell) { static_cast<core::Bell&>(bell).activate_listener(); });
}

TEST(RemoteActivation, ActivatesWhomItIsForOnceHoweverOftenItIsCalled) {
  Fabric fabric(1);
  core::ActivationSet set;
  const RemotePlace place(fabric.seat(0), core::Activation(set, 3));
  const RemoteActivator activator = place.activator();
  EXPECT_TRUE(activator.activate());
  EXPECT_TRUE(activator.activate());
  EXPECT_FALSE(set.any());  // nobody looked yet
  surface(fabric.seat(0));
  EXPECT_TRUE(set.is_set(3));
  set.clear(3);
  surface(fabric.seat(0));
  EXPECT_FALSE(set.any());
  EXPECT_TRUE(activator.activate());
  surface(fabric.seat(0));
  EXPECT_TRUE(set.is_set(3));
}

TEST(RemoteActivation, SaysWhenNobodyIsThereAnyMore) {
  Fabric fabric(1);
  core::ActivationSet set;
  std::optional<RemotePlace> place(std::in_place, fabric.seat(0), core::Activation(set, 0));
  const RemoteActivator activator = place->activator();
  place.reset();
  EXPECT_FALSE(activator.activate());
  EXPECT_FALSE(RemoteActivator().activate());
  surface(fabric.seat(0));
  EXPECT_FALSE(set.any());
}

TEST(RemoteActivation, OfAPlaceThatEndsBeforeItIsSurfacedIsDropped) {
  Fabric fabric(1);
  core::ActivationSet set;
  std::optional<RemotePlace> place(std::in_place, fabric.seat(0), core::Activation(set, 0));
  const RemoteActivator activator = place->activator();
  EXPECT_TRUE(activator.activate());
  place.reset();
  surface(fabric.seat(0));
  EXPECT_FALSE(set.any());
}

TEST(RemoteActivation, OutlivesTheFabric) {
  RemoteActivator early;
  RemoteActivator late;
  {
    Fabric fabric(2);
    core::ActivationSet set;
    const RemotePlace left(fabric.seat(0), core::Activation(set, 0));
    const RemotePlace right(fabric.seat(1), core::Activation(set, 1));
    early = left.activator();
    late = right.activator();
    EXPECT_TRUE(late.activate());
  }
  EXPECT_FALSE(early.activate());
  EXPECT_FALSE(late.activate());
}

TEST(RemoteActivation, OfManyCountsThoseThatAreThere) {
  Fabric fabric(2);
  core::ActivationSet set;
  const RemotePlace a(fabric.seat(0), core::Activation(set, 0));
  std::optional<RemotePlace> b(std::in_place, fabric.seat(0), core::Activation(set, 1));
  const RemotePlace c(fabric.seat(1), core::Activation(set, 2));
  const std::array<RemoteActivator, 4> all{a.activator(), b->activator(), RemoteActivator(),
                                           c.activator()};
  b.reset();
  EXPECT_EQ(activate_all(all), 2U);
  surface(fabric.seat(0));
  surface(fabric.seat(1));
  EXPECT_TRUE(set.is_set(0));
  EXPECT_FALSE(set.is_set(1));
  EXPECT_TRUE(set.is_set(2));
}

TEST(RemoteActivation, WakesAWorkerThatSleepsOnceForMany) {
  Fabric fabric(1);
  Seat& seat = fabric.seat(0);
  core::ActivationSet set;
  const RemotePlace a(seat, core::Activation(set, 0));
  const RemotePlace b(seat, core::Activation(set, 1));
  const std::array<RemoteActivator, 2> both{a.activator(), b.activator()};
  std::thread outside([&] {
    while (!seat.parker().was_parked()) std::this_thread::yield();
    EXPECT_EQ(activate_all(both), 2U);
  });
  seat.enter();
  while (!set.is_set(0) || !set.is_set(1)) {
    seat.park(std::nullopt);
    surface(seat);
  }
  seat.leave();
  outside.join();
  EXPECT_LE(seat.parker().waits(), 2U);  // one, unless the kernel ended a wait early
}

}  // namespace
}  // namespace leat::comm
