#include <leat/queue/mpsc.hpp>

#include <gtest/gtest.h>

namespace leat::queue {
namespace {

struct Number : MpscNode {
  explicit Number(int number) : value(number) {}
  int value;
};

TEST(Mpsc, StartsEmpty) {
  Mpsc<Number> queue;
  EXPECT_TRUE(queue.was_empty());
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(Mpsc, GivesNodesInTheOrderTheyWerePushed) {
  Mpsc<Number> queue;
  Number one{1};
  Number two{2};
  Number three{3};
  queue.push(&one);
  queue.push(&two);
  EXPECT_FALSE(queue.was_empty());
  EXPECT_EQ(queue.pop(), &one);
  queue.push(&three);
  EXPECT_EQ(queue.pop(), &two);
  EXPECT_EQ(queue.pop(), &three);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_TRUE(queue.was_empty());
}

TEST(Mpsc, ANodeMayBePushedAgainOnceItIsPopped) {
  Mpsc<Number> queue;
  Number node{0};
  for (int i = 0; i < 5; ++i) {
    node.value = i;
    queue.push(&node);
    Number* popped = queue.pop();
    ASSERT_EQ(popped, &node);
    EXPECT_EQ(popped->value, i);
    EXPECT_EQ(queue.pop(), nullptr);
    EXPECT_TRUE(queue.was_empty());
  }
}

TEST(Mpsc, RunsEmptyAndFillsAgain) {
  Mpsc<Number> queue;
  Number nodes[3] = {Number{0}, Number{1}, Number{2}};
  for (int round = 0; round < 3; ++round) {
    for (Number& node : nodes) queue.push(&node);
    for (int i = 0; i < 3; ++i) {
      Number* popped = queue.pop();
      ASSERT_NE(popped, nullptr);
      EXPECT_EQ(popped->value, i);
    }
    EXPECT_EQ(queue.pop(), nullptr);
  }
}

}  // namespace
}  // namespace leat::queue
