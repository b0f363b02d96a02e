#include <leat/base/local_ptr.hpp>

#include <gtest/gtest.h>
#include <utility>

namespace leat {
namespace {

struct Node : LocalCounted<Node> {
  explicit Node(int* live) : live_(live) { ++*live_; }
  virtual ~Node() { --*live_; }
  Node(const Node&) = default;
  int* live_;
};

struct Leaf final : Node {
  using Node::Node;
};

TEST(LocalPtr, DestroysTheObjectWithItsLastOwner) {
  int live = 0;
  LocalPtr<Node> first = make_local<Node>(&live);
  EXPECT_EQ(first->local_owners(), 1U);
  {
    const LocalPtr<Node> second = first;
    EXPECT_EQ(first->local_owners(), 2U);
    first.reset();
    EXPECT_EQ(live, 1);
  }
  EXPECT_EQ(live, 0);
}

TEST(LocalPtr, MovesWithoutCounting) {
  int live = 0;
  LocalPtr<Node> first = make_local<Node>(&live);
  const LocalPtr<Node> second = std::move(first);
  EXPECT_EQ(second->local_owners(), 1U);
}

TEST(LocalPtr, ToASubclassBecomesOneToItsBase) {
  int live = 0;
  {
    const LocalPtr<Node> node = make_local<Leaf>(&live);
  }
  EXPECT_EQ(live, 0);
}

TEST(LocalPtr, ACopyOfTheObjectStartsWithoutOwners) {
  int live = 0;
  const LocalPtr<Node> node = make_local<Node>(&live);
  const Node copy = *node;
  EXPECT_EQ(copy.local_owners(), 0U);
  ++live;  // the copy did not count itself
}

}  // namespace
}  // namespace leat
