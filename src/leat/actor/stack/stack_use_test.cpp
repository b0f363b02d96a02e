#include <leat/actor/stack/stack_use.hpp>

#include <leat/actor/fiber/test_carousel.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace leat::actor {
namespace {

TEST(ParkedStack, GoesOnWithItsLocalsAtTheirAddresses) {
  Carousel carousel;
  std::vector<int> sums;
  for (int body = 0; body < 20; ++body) {
    carousel.add([&, body] {
      int numbers[10] = {};
      int* const where = numbers;
      const std::string text(100, static_cast<char>('a' + body));
      for (int i = 0; i < 10; ++i) {
        numbers[i] = body * i;
        carousel.yield();
      }
      EXPECT_EQ(where, numbers);
      EXPECT_EQ(text, std::string(100, static_cast<char>('a' + body)));
      int sum = 0;
      for (const int number : numbers) sum += number;
      sums.push_back(sum);
    });
  }
  for (int round = 0; round < 10; ++round) {
    carousel.run_round();
    std::vector<ParkedStack> parked;
    std::vector<Stack> stacks;
    for (std::size_t i = 0; i < 20; ++i) {
      parked.emplace_back(carousel.stack(i), carousel.fiber(i));
      stacks.push_back(carousel.stack(i));
      EXPECT_LT(parked.back().bytes(), 4096U);
    }
    StackRegion::process().release(stacks);
    for (const Stack stack : stacks) EXPECT_EQ(stack.record().owner, nullptr);
    for (ParkedStack& each : parked) each.unpark();
  }
  carousel.run();
  ASSERT_EQ(sums.size(), 20U);
  for (int body = 0; body < 20; ++body) EXPECT_EQ(sums[static_cast<std::size_t>(body)], body * 45);
}

#if !LEAT_ASAN && !LEAT_TSAN  // whose frames are larger

void use(std::size_t bytes) {
  volatile char room[1024];
  std::memset(const_cast<char*>(room), 1, sizeof room);
  if (bytes > sizeof room) use(bytes - sizeof room);
  asm volatile("" : : "r"(room) : "memory");
}

TEST(StackUse, IsAsDeepAsItWentAndCanBeForgotten) {
  Carousel carousel;
  carousel.add([&] {
    carousel.yield();
    use(20'000);
    carousel.yield();
    use(3'000);
    carousel.yield();
  });
  EXPECT_EQ(stack_used_bytes(carousel.stack(0)), 0U);
  carousel.run_round();
  const std::size_t shallow = stack_used_bytes(carousel.stack(0));
  EXPECT_GT(shallow, 0U);
  EXPECT_LT(shallow, 4096U);
  carousel.run_round();
  const std::size_t deep = stack_used_bytes(carousel.stack(0));
  EXPECT_GT(deep, 20'000U);
  EXPECT_LT(deep, 40'000U);
  forget_stack_use(carousel.stack(0), &carousel.fiber(0));
  EXPECT_LT(stack_used_bytes(carousel.stack(0)), 4096U);
  carousel.run_round();
  EXPECT_GT(stack_used_bytes(carousel.stack(0)), 3'000U);
  EXPECT_LT(stack_used_bytes(carousel.stack(0)), 10'000U);
  carousel.run();
}

#endif

}  // namespace
}  // namespace leat::actor
