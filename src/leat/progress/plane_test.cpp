#include <leat/progress/plane.hpp>

#include <leat/comm/channel.hpp>
#include <leat/progress/ledger.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leat::progress {
namespace {

using Time = std::uint64_t;

/// A scope that only notes which batches it gets, by the time of their first change.
struct Inbox final : ScopeInbox {
  void absorb(const queue::EntryHeader& entry) override {
    got.push_back(batch_of<Time>(entry).front().time);
  }
  void absorb_bytes(const WireBatch&) override { ADD_FAILURE() << "there is one process"; }
  std::vector<Time> got;
};

/// Workers that are stepped by hand.
struct World {
  explicit World(std::size_t workers) : fabric(workers) {
    for (std::size_t i = 0; i < workers; ++i) {
      planes.push_back(std::make_unique<ProgressPlane>(fabric.seat(i), core::ProgressMode::eager));
    }
  }
  void publish(std::size_t worker, ScopeId scope, Time time) {
    Ledger<Time>::Changes changes;
    changes.update({3, time}, +1);
    changes.update({4, time}, -1);
    planes[worker]->publish<Time>(scope, changes);
  }

  comm::Fabric fabric;
  std::vector<std::unique_ptr<ProgressPlane>> planes;
};

TEST(ProgressPlane, HandsEachPeersBatchesToTheScopeTheyNameInOrder) {
  World world(3);
  Inbox first;
  Inbox second;
  ProgressPlane& plane = *world.planes[2];
  for (const ScopeId scope : {4U, 9U}) plane.announce(scope);
  plane.attach(4, first);
  plane.attach(9, second);
  world.publish(0, 4, 1);
  world.publish(0, 9, 2);
  world.publish(1, 4, 11);
  world.publish(0, 4, 3);
  plane.poll();
  EXPECT_EQ(first.got, (std::vector<Time>{1, 3, 11}));
  EXPECT_EQ(second.got, (std::vector<Time>{2}));
  plane.poll();
  EXPECT_EQ(first.got.size(), 3U);  // once each
}

TEST(ProgressPlane, ABatchIsWholeAndKeepsPortsTimesAndCounts) {
  struct Whole final : ScopeInbox {
    void absorb(const queue::EntryHeader& entry) override {
      for (const auto& change : batch_of<Time>(entry)) {
        text += std::to_string(change.port) + "@" + std::to_string(change.time) + ":" +
                std::to_string(change.delta) + " ";
      }
      text += "| ";
    }
    void absorb_bytes(const WireBatch&) override { ADD_FAILURE() << "there is one process"; }
    std::string text;
  };
  World world(2);
  Whole scope;
  world.planes[1]->announce(0);
  world.planes[1]->attach(0, scope);
  Ledger<Time>::Changes changes;
  changes.update({2, 7}, -5);
  changes.update({1, 9}, +1);
  changes.update({2, 7}, +2);
  world.planes[0]->publish<Time>(0, changes);
  world.publish(0, 0, 8);
  world.planes[1]->poll();
  EXPECT_EQ(scope.text, "1@9:1 2@7:-3 | 3@8:1 4@8:-1 | ");
}

TEST(ProgressPlane, DoesNotHandAWorkerItsOwnBatches) {
  World world(2);
  Inbox own;
  world.planes[0]->announce(0);
  world.planes[0]->attach(0, own);
  world.publish(0, 0, 1);
  world.planes[0]->poll();
  EXPECT_TRUE(own.got.empty());
}

TEST(ProgressPlane, KeepsBatchesForAScopeUntilItIsBuiltAndHandsThemOverFirst) {
  World world(2);
  Inbox late;
  ProgressPlane& plane = *world.planes[1];
  world.publish(0, 5, 1);
  plane.poll();  // nobody has heard of scope 5
  plane.announce(5);
  world.publish(0, 5, 2);
  plane.poll();  // it is being built
  EXPECT_TRUE(late.got.empty());
  plane.attach(5, late);
  EXPECT_EQ(late.got, (std::vector<Time>{1, 2}));
  world.publish(0, 5, 3);
  plane.poll();
  EXPECT_EQ(late.got, (std::vector<Time>{1, 2, 3}));
}

TEST(ProgressPlane, DropsBatchesForAScopeThatEndedAlsoWhileItWasBuilt) {
  World world(2);
  Inbox scope;
  ProgressPlane& plane = *world.planes[1];
  plane.announce(5);
  plane.attach(5, scope);
  plane.detach(5);
  plane.announce(6);
  world.publish(0, 6, 1);
  plane.poll();
  plane.detach(6);  // an exception ended its building
  world.publish(0, 5, 1);
  world.publish(0, 6, 2);
  plane.poll();
  EXPECT_TRUE(scope.got.empty());
}

TEST(ProgressPlane, ActivatesTheReceiversOfMessages) {
  World world(2);
  core::ActivationSet active;
  auto peer = world.fabric.channel<int>(world.fabric.seat(0), 0, {}, {});
  auto own = world.fabric.channel<int>(world.fabric.seat(1), 0, {}, core::Activation(active, 3));
  int message = 1;
  peer.sender.send(1, message);
  EXPECT_FALSE(active.is_set(3));
  world.planes[1]->poll();
  EXPECT_TRUE(active.is_set(3));
}

TEST(ProgressPlane, DoesNotSleepOverABatch) {
  World world(2);
  world.fabric.seat(1).enter();
  world.publish(0, 0, 1);
  world.planes[1]->park(std::nullopt);
  world.fabric.seat(1).leave();
}

TEST(ProgressPlane, KeepsWhoThrewFirst) {
  World world(1);
  EXPECT_EQ(world.planes[0]->thrower(), "");
  world.planes[0]->note_thrower("operator \"inner\" (a.cpp:1)");
  world.planes[0]->note_thrower("operator \"scope\" (a.cpp:2)");
  EXPECT_EQ(world.planes[0]->thrower(), "operator \"inner\" (a.cpp:1)");
}

TEST(ProgressPlaneDeathTest, AnIdIsOneScopesForEver) {
  World world(1);
  world.planes[0]->announce(2);
  EXPECT_DEATH(world.planes[0]->announce(2), "a scope's id was used twice");
}

}  // namespace
}  // namespace leat::progress
