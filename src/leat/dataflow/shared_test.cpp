#include <leat/dataflow/shared.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::World;

using Box = std::unique_ptr<std::uint64_t>;
using Boxes = std::vector<Box>;

static_assert(CopyableContainer<Shared<Boxes>> && Drainable<Shared<Boxes>>);
static_assert(!PushInto<Shared<Boxes>, Box>);
static_assert(!Sendable<Shared<std::vector<int>>>);
static_assert(Sendable<Boxes>);

TEST(Shared, ShowsAllConsumersOneBatchAtOneAddress) {
  World world;
  Input<Box> input;
  std::vector<const Boxes*> first;
  std::vector<const Boxes*> second;
  std::uint64_t sum = 0;
  world[0].dataflow([&](auto& scope) {
    auto boxes = scope.input(input) | shared();
    boxes |
        inspect_batch([&](std::uint64_t, const Shared<Boxes>& batch) { first.push_back(&*batch); });
    boxes | inspect_batch(
                [&](std::uint64_t, const Shared<Boxes>& batch) { second.push_back(&*batch); });
    boxes | inspect([&](const Box& box) { sum += *box; });
  });
  for (std::uint64_t batch = 0; batch < 3; ++batch) {
    input.send(std::make_unique<std::uint64_t>(batch));
    input.send(std::make_unique<std::uint64_t>(10));
    input.flush();
    world.steps();
  }
  EXPECT_EQ(first.size(), 3u);
  EXPECT_EQ(first, second);
  EXPECT_EQ(sum, 33u);
  input.close();
  EXPECT_TRUE(world.ends());
}

TEST(Shared, BatchGoesWithTheLastConsumer) {
  World world;
  Input<std::shared_ptr<int>> input;
  std::weak_ptr<int> watched;
  int seen = 0;
  world[0].dataflow([&](auto& scope) {
    auto batches = scope.input(input) | shared();
    for (int consumer = 0; consumer < 2; ++consumer) {
      batches | inspect([&](const std::shared_ptr<int>&) {
        EXPECT_FALSE(watched.expired());
        ++seen;
      });
    }
  });
  auto record = std::make_shared<int>(1);
  watched = record;
  input.send(std::move(record));
  input.flush();
  world.steps();
  EXPECT_EQ(seen, 2);
  EXPECT_TRUE(watched.expired());
  input.close();
  EXPECT_TRUE(world.ends());
}

TEST(Shared, RecordsAreCopiedOutByWhoeverWantsTheirOwn) {
  World world;
  Input<std::string> input;
  std::vector<std::string> owned;
  world[0].dataflow([&](auto& scope) {
    auto words = scope.input(input) | shared();
    words | map([](const std::string& word) { return word + "!"; }) |
        inspect([&](const std::string& word) { owned.push_back(word); });
    words | map([](std::string word) { return word; }) |
        inspect([&](const std::string& word) { owned.push_back(word); });
  });
  input.send("a");
  input.close();
  EXPECT_TRUE(world.ends());
  std::sort(owned.begin(), owned.end());
  EXPECT_EQ(owned, (std::vector<std::string>{"a", "a!"}));
}

TEST(Shared, EmptyIsWithoutRecords) {
  Shared<Boxes> none;
  EXPECT_EQ(record_count(none), 0u);
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(none.begin(), none.end());
  Shared<Boxes> some(Boxes(2));
  Shared<Boxes> copy = some;
  some.clear();
  EXPECT_EQ(record_count(some), 0u);
  EXPECT_EQ(record_count(copy), 2u);
}

// --- records that cannot be copied, or must stay

struct Node final : LocalCounted<Node> {
  std::uint64_t value = 0;
};

TEST(Records, ThatMustStayOnTheirWorkerGoThroughPipelines) {
  World world(2);
  std::vector<Input<LocalPtr<Node>>> inputs(2);
  std::vector<std::vector<const Node*>> seen(2);
  std::vector<LocalPtr<Node>> nodes;
  for (std::size_t i = 0; i < 2; ++i) {
    nodes.push_back(make_local<Node>());
    world[i].dataflow([&](auto& scope) {
      scope.input(inputs[i]) |
          inspect([&seen, i](const LocalPtr<Node>& node) { seen[i].push_back(node.get()); });
    });
    inputs[i].send(nodes[i]);
    inputs[i].close();
  }
  EXPECT_TRUE(world.ends());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(seen[i], std::vector<const Node*>{nodes[i].get()});
  }
}

TEST(Records, ThatCannotBeCopiedAreMovedToTheirWorker) {
  World world(2);
  std::vector<Input<Box>> inputs(2);
  std::vector<std::vector<const std::uint64_t*>> seen(2);
  const std::uint64_t* sent = nullptr;
  for (std::size_t i = 0; i < 2; ++i) {
    world[i].dataflow([&](auto& scope) {
      scope.input(inputs[i]) | exchange([](const Box& box) { return *box; }) |
          inspect([&seen, i](const Box& box) { seen[i].push_back(box.get()); });
    });
  }
  auto box = std::make_unique<std::uint64_t>(1);
  sent = box.get();
  inputs[0].send(std::move(box));
  for (auto& input : inputs) input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_TRUE(seen[0].empty());
  EXPECT_EQ(seen[1], std::vector<const std::uint64_t*>{sent});  // the very same
}

}  // namespace
}  // namespace leat::dataflow
