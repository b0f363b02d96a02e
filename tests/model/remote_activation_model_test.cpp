// RemoteActivation: a thread that is no worker wakes one that goes to sleep at that moment, what it
// wrote before is seen, and it may come as late as it likes: also when the worker and the fabric are
// gone.
#include <leat/base/atomic.hpp>
#include <leat/base/plain.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/comm/remote_activation.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>

namespace leat::comm {
namespace {

using model::expect_catches;
using model::expect_holds;
using model::expect_needs_edges;

/// One worker and what stands at its door.
struct House {
  Fabric fabric{1};
  core::ActivationSet set;
  RemotePlace place{fabric.seat(0), core::Activation(set, 0)};
  RemotePlace other{fabric.seat(0), core::Activation(set, 1)};

  /// As a worker's loop does, until `whom` is activated.
  void hear(std::uint32_t whom) {
    Seat& seat = fabric.seat(0);
    while (!set.is_set(whom)) {
      seat.ready().surface(
          [](core::Doorbell& bell) { static_cast<core::Bell&>(bell).activate_listener(); });
      if (!set.is_set(whom)) seat.park(std::nullopt);
    }
    set.clear(whom);
  }
};

const model::Body kOne = [](model::Run& run) {
  auto house = std::make_shared<House>();
  auto word = std::make_shared<Plain<int>>(0);
  run.thread([activator = house->place.activator(), word] {
    word->set(7);
    model::require(activator.activate(), "somebody is there");
  });
  run.thread([house, word] {
    house->hear(0);
    model::require(word->read() == 7, "what was written before is seen");
  });
  run.join();
};

/// What an activation that finds the bell marked was for is seen as well.
const model::Body kTwice = [](model::Run& run) {
  auto house = std::make_shared<House>();
  auto count = std::make_shared<Atomic<int>>(0);
  run.thread([activator = house->place.activator(), count] {
    for (int i = 1; i <= 2; ++i) {
      count->store_relaxed(i);  // the activation orders it
      model::require(activator.activate(), "somebody is there");
    }
  });
  run.thread([house, count] {
    while (count->load_relaxed() < 2) house->hear(0);
  });
  run.join();
};

const model::Body kMany = [](model::Run& run) {
  auto house = std::make_shared<House>();
  run.thread([house] {
    const std::array<RemoteActivator, 2> both{house->place.activator(), house->other.activator()};
    model::require(activate_all(both) == 2, "both are there");
  });
  run.thread([house] {
    house->hear(0);
    house->hear(1);
  });
  run.join();
};

/// The worker hears of one activation and goes, its place, its seat's list and the fabric with it;
/// the threads outside do not wait for that.
const model::Body kLate = [](model::Run& run) {
  auto house = std::make_unique<House>();
  const RemoteActivator activator = house->place.activator();
  const auto activate = [activator] { return activator.activate(); };
  run.thread([activate] { static_cast<void>(activate()); });
  run.thread([activate] { static_cast<void>(activate()); });
  run.thread([house = std::shared_ptr<House>(std::move(house))]() mutable {
    house->hear(0);
    house.reset();
  });
  run.join();
  model::require(!activate(), "nobody is there any more");
};

TEST(RemoteActivationModel, WakesAWorkerThatGoesToSleep) { expect_holds(kOne, {.preemptions = 3}); }

TEST(RemoteActivationModel, TheSecondOfABurstIsNotLost) {
  expect_holds(kTwice, {.preemptions = 3});
}

TEST(RemoteActivationModel, ManyInOneGoAllArrive) { expect_holds(kMany, {.preemptions = 2}); }

TEST(RemoteActivationModel, MayComeWhenWorkerAndFabricAreGone) {
  expect_holds(kLate, {.preemptions = 2});
}

TEST(RemoteActivationModel, NeedsTheOrderOnBothSides) {
  expect_needs_edges(kOne, {"ReadyList::doze", "Parker::doze"}, model::kStuck);
  expect_needs_edges(kOne, {"ReadyList::listed"}, model::kRace);
  expect_needs_edges(kTwice, {"Doorbell::notice"}, model::kStuck);
}

TEST(RemoteActivationModel, WhoRingsFirstMissesAWorkerThatGoesToSleep) {
  expect_catches(kOne, {"remote_activation.ring_first"}, model::kStuck);
}

}  // namespace
}  // namespace leat::comm
