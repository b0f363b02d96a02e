#include <leat/queue/cache/slab.hpp>

#include <leat/core/segment/test_segments.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace leat::queue {
namespace {

struct Order {
  std::uint64_t id;
  double price;
  friend bool operator==(const Order&, const Order&) = default;
};

Slab<Order> slab_of(SlabKind kind, std::size_t capacity) {
  return Slab<Order>::open({}, kind, capacity).value();
}

Where shared(const core::TestFolder& folder, Opening opening) {
  return {.name = {.name = "orders", .base = folder.path()}, .opening = opening};
}

TEST(Slab, GivesBackWhatAHandleNames) {
  for (const SlabKind kind : {SlabKind::keeping, SlabKind::overwriting}) {
    auto slab = slab_of(kind, 100);
    EXPECT_EQ(slab.capacity(), 128U);
    std::vector<SlabHandle> handles;
    for (std::uint64_t id = 0; id < 128; ++id) handles.push_back(slab.put({id, 0.5}));
    EXPECT_EQ(slab.size_approx(), 128U);
    for (std::uint64_t id = 0; id < 128; ++id) {
      Order order{};
      ASSERT_TRUE(slab.get(handles[id], order));
      EXPECT_EQ(order, (Order{id, 0.5}));
    }
  }
}

TEST(Slab, NoHandleNamesNothing) {
  auto slab = slab_of(SlabKind::keeping, 4);
  Order order{};
  EXPECT_FALSE(SlabHandle{});
  EXPECT_FALSE(slab.get({}, order));
  EXPECT_FALSE(slab.erase({}));
  for (std::uint64_t word = 0; word < 1'000; ++word) EXPECT_FALSE(slab.get({word}, order));
  EXPECT_FALSE(slab.get({~std::uint64_t{0}}, order));
}

TEST(Slab, KeepsUntilErasedAndIsFullThen) {
  auto slab = slab_of(SlabKind::keeping, 2);
  const SlabHandle one = slab.put({1, 0});
  const SlabHandle two = slab.put({2, 0});
  EXPECT_FALSE(slab.put({3, 0}));
  EXPECT_TRUE(slab.erase(one));
  EXPECT_FALSE(slab.erase(one));
  const SlabHandle three = slab.put({3, 0});
  ASSERT_TRUE(three);
  EXPECT_NE(three, one);
  Order order{};
  EXPECT_FALSE(slab.get(one, order));
  ASSERT_TRUE(slab.get(two, order));
  EXPECT_EQ(order.id, 2U);
  ASSERT_TRUE(slab.get(three, order));
  EXPECT_EQ(order.id, 3U);
}

TEST(Slab, OverwritesTheOldestWhichIsNoneThen) {
  auto slab = slab_of(SlabKind::overwriting, 4);
  std::vector<SlabHandle> handles;
  std::set<std::uint64_t> words;
  for (std::uint64_t id = 0; id < 40; ++id) {
    handles.push_back(slab.put({id, 0}));
    EXPECT_TRUE(words.insert(handles.back().word).second) << "a handle came twice";
    for (std::uint64_t other = 0; other <= id; ++other) {
      Order order{};
      const bool there = slab.get(handles[other], order);
      EXPECT_EQ(there, other + 4 > id);
      EXPECT_TRUE(!there || order.id == other);
    }
  }
}

TEST(Slab, ClearedObjectsAreGoneAndNewOnesAreOthers) {
  auto slab = slab_of(SlabKind::keeping, 8);
  std::vector<SlabHandle> old;
  for (std::uint64_t id = 0; id < 8; ++id) old.push_back(slab.put({id, 0}));
  slab.clear();
  EXPECT_EQ(slab.size_approx(), 0U);
  for (std::uint64_t id = 0; id < 8; ++id) ASSERT_TRUE(slab.put({100 + id, 0}));
  Order order{};
  for (const SlabHandle handle : old) EXPECT_FALSE(slab.get(handle, order));
}

TEST(Slab, RefusesACapacityThatCannotBe) {
  const auto none = Slab<Order>::open({}, SlabKind::keeping, 0);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("a capacity of 0"), std::string::npos);
  EXPECT_FALSE(Slab<Order>::open({}, SlabKind::keeping, std::size_t{1} << 41));
}

TEST(Slab, APinnedObjectStaysWhereItLiesWhateverHappensToIt) {
  for (const SlabKind kind : {SlabKind::keeping, SlabKind::overwriting}) {
    auto slab = Slab<Order>::open({}, kind, 2, 2).value();
    const SlabHandle first = slab.put({1, 0.5});
    SlabPin<Order> pin;
    EXPECT_FALSE(pin);
    ASSERT_EQ(slab.pin(first, pin), Pinned::ok);
    EXPECT_EQ(*pin, (Order{1, 0.5}));
    EXPECT_EQ(pin->id, 1U);
    if (kind == SlabKind::keeping) {
      EXPECT_TRUE(slab.erase(first));
    }
    // Everything that is put goes to the other cell.
    for (std::uint64_t id = 2; id < 12; ++id) {
      const SlabHandle handle = slab.put({id, 0});
      ASSERT_TRUE(handle);
      EXPECT_NE(handle.word % 2, first.word % 2);
      EXPECT_EQ(*pin, (Order{1, 0.5}));
      if (kind == SlabKind::keeping) {
        EXPECT_TRUE(slab.erase(handle));
      }
    }
    Order order{};
    EXPECT_FALSE(slab.get(first, order));
    SlabPin<Order> late;
    EXPECT_EQ(slab.pin(first, late), Pinned::gone);
    EXPECT_FALSE(late);
    pin.give_back();
    EXPECT_FALSE(pin);
    std::set<std::uint64_t> cells;
    for (std::uint64_t id = 20; id < 22; ++id) cells.insert(slab.put({id, 0}).word % 2);
    EXPECT_EQ(cells.size(), 2U);
  }
}

TEST(Slab, HasAsManyPinsAsItWasMadeWith) {
  auto slab = Slab<Order>::open({}, SlabKind::keeping, 4, 1).value();
  const SlabHandle one = slab.put({1, 0});
  const SlabHandle two = slab.put({2, 0});
  SlabPin<Order> first;
  SlabPin<Order> second;
  ASSERT_EQ(slab.pin(one, first), Pinned::ok);
  EXPECT_EQ(slab.pin(two, second), Pinned::crowded);
  SlabPin<Order> moved = std::move(first);
  EXPECT_EQ(moved->id, 1U);
  ASSERT_EQ(slab.pin(two, moved), Pinned::ok);  // in the place of what it kept
  EXPECT_EQ(moved->id, 2U);
  EXPECT_EQ(slab.pin({}, second), Pinned::gone);
  auto none = slab_of(SlabKind::keeping, 4);
  EXPECT_EQ(none.pin(none.put({3, 0}), second), Pinned::crowded);
  EXPECT_NE(Slab<Order>::open({}, SlabKind::keeping, 4, 5000).error().message.find("5000 pins"),
            std::string::npos);
}

TEST(Slab, WhatADeadOneHadPinnedIsFreeWhenItIsReaped) {
  const core::TestFolder folder;
  auto slab = Slab<Order>::open(shared(folder, Opening::create), SlabKind::keeping, 1, 2).value();
  const SlabHandle handle = slab.put({7, 0});
  core::ChildProcess child([&](const core::ChildProcess& self) {
    auto joined = Slab<Order>::open(shared(folder, Opening::join), SlabKind::keeping, 0).value();
    SlabPin<Order> pin;
    self.say(joined.pin(handle, pin) == Pinned::ok && pin->id == 7 ? 'p' : 'x');
    core::ChildProcess::wait_for_ever();
  });
  ASSERT_EQ(child.listen(), 'p');
  EXPECT_TRUE(slab.erase(handle));
  EXPECT_FALSE(slab.put({8, 0}));
  child.kill();
  EXPECT_FALSE(slab.put({8, 0}));
  EXPECT_EQ(slab.segment().reap(), 1U);
  EXPECT_TRUE(slab.put({8, 0}));
}

TEST(Slab, HandlesWorkInOtherProcesses) {
  const core::TestFolder folder;
  auto slab = Slab<Order>::open(shared(folder, Opening::create), SlabKind::keeping, 8).value();
  const SlabHandle mine = slab.put({7, 1.5});
  core::ChildProcess child([&](const core::ChildProcess&) {
    auto joined = Slab<Order>::open(shared(folder, Opening::join), SlabKind::keeping, 0).value();
    Order order{};
    if (!joined.get(mine, order) || order != Order{7, 1.5}) return 1;
    return joined.erase(mine) ? 0 : 2;
  });
  EXPECT_EQ(child.wait(), 0);
  Order order{};
  EXPECT_FALSE(slab.get(mine, order));
  EXPECT_FALSE(Slab<Order>::open(shared(folder, Opening::join), SlabKind::overwriting, 0));
}

// Whoever dies at a cell leaves it to the next.
TEST(Slab, ADeadPutIsInNobodysWay) {
  const core::TestFolder folder;
  auto slab = Slab<Order>::open(shared(folder, Opening::create), SlabKind::keeping, 1).value();
  const auto cell = [](Slab<Order>& of) {
    return reinterpret_cast<internal::SlabCell<Order>*>(of.segment().payload().data() +
                                                        internal::slab_head_bytes(0));
  };
  for (int step = 0; step < 3; ++step) {
    core::ChildProcess child([&](const core::ChildProcess& me) {
      auto mine = Slab<Order>::open(shared(folder, Opening::join), SlabKind::keeping, 1).value();
      if (!cell(mine)->take(mine.segment().self().word(), [](std::uint64_t) { return false; })) {
        return 1;
      }
      const std::uint64_t generation = step >= 1 ? cell(mine)->begin() : 0;
      if (step >= 2) cell(mine)->fill({9, 9}, generation);
      me.say('d');
      core::ChildProcess::wait_for_ever();
    });
    ASSERT_EQ(child.listen(), 'd') << step;
    EXPECT_FALSE(slab.put({1, 1})) << step;
    EXPECT_EQ(child.kill(), -1);
    if (step == 2) slab.clear();  // what it put is there, and nobody has its handle
    const SlabHandle handle = slab.put({2, 2});
    ASSERT_TRUE(handle) << step;
    Order order{};
    ASSERT_TRUE(slab.get(handle, order)) << step;
    EXPECT_EQ(order.id, 2U) << step;
    EXPECT_TRUE(slab.erase(handle));
  }
}

}  // namespace
}  // namespace leat::queue
