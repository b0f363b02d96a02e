#include <leat/actor/stack/stack_pool.hpp>

#include <leat/actor/stack/stack_region.hpp>
#include <leat/base/os/address_space.hpp>
#include <leat/base/os/memory.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<StackRegion> small_region(GuardKind guard = GuardKind::best,
                                          std::size_t slots_max = 0) {
  return std::move(
             StackRegion::reserve(
                 {.class_bytes = std::size_t{1} << 30, .guard = guard, .slots_max = slots_max}))
      .value();
}

TEST(StackRegion, GivesSlotsOfTheirSizeAlignedToIt) {
  const auto region = small_region();
  for (const StackClass c :
       {StackClass::k16KiB, StackClass::k64KiB, StackClass::k256KiB, StackClass::k1MiB}) {
    std::set<std::byte*> seen;
    for (int i = 0; i < 20; ++i) {
      const Stack stack = region->take_slot(c);
      ASSERT_TRUE(stack);
      EXPECT_EQ(stack.stack_class(), c);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack.slot()) % stack.slot_bytes(), 0U);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack.top()) % 16, 0U);
      EXPECT_GT(stack.top(), stack.slot() + stack.slot_bytes() - 4096);
      EXPECT_LE(stack.top() + sizeof(StackRecord), stack.slot() + stack.slot_bytes());
      EXPECT_TRUE(seen.insert(stack.slot()).second);
      // All but the guard may be written.
      std::memset(stack.slot() + region->guard_bytes(c), 1,
                  stack.slot_bytes() - region->guard_bytes(c));
    }
  }
}

TEST(StackRegion, FindsAStackByAnyAddressInIt) {
  const Stack stack = StackRegion::process().take_slot(StackClass::k256KiB);
  EXPECT_EQ(Stack::of(stack.slot()), stack);
  EXPECT_EQ(Stack::of(stack.slot() + stack.slot_bytes() - 1), stack);
  EXPECT_NE(Stack::of(stack.slot() + stack.slot_bytes()), stack);
  int here = 0;
  EXPECT_FALSE(Stack::of(&here));
  EXPECT_FALSE(Stack::of(nullptr));
  StackRegion::process().give_slot(stack);
}

TEST(StackRegion, SpreadsTheTopsOfStacksOverTheCache) {
  const auto region = small_region();
  std::set<std::uintptr_t> lines;
  for (int i = 0; i < 16; ++i) {
    const Stack stack = region->take_slot(StackClass::k64KiB);
    lines.insert(reinterpret_cast<std::uintptr_t>(stack.top()) % 4096);
  }
  EXPECT_EQ(lines.size(), 16U);
}

TEST(StackRegion, TenThousandGuardsAreFewMappings) {
  const auto region = small_region();
  if (region->guard_kind() != GuardKind::light) {
    GTEST_SKIP() << "this kernel has no light guards (Linux 6.13 has)";
  }
  const std::size_t before = os::mappings_now();
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(region->take_slot(StackClass::k16KiB));
  EXPECT_LT(os::mappings_now(), before + 100);
}

TEST(StackRegion, StopsInTimeWhereGuardsAreMappingsAndSaysWhy) {
  const auto region = small_region(GuardKind::mprotect, 100);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(region->take_slot(StackClass::k16KiB));
  EXPECT_FALSE(region->take_slot(StackClass::k16KiB));
  EXPECT_EQ(region->shortage(StackClass::k16KiB).message,
            "no more stacks of 16 KiB: 100 stacks are in use or waiting, and this kernel needs two "
            "mappings for each; raise vm.max_map_count, or use Linux 6.13 or later, whose guards "
            "need none");
}

TEST(StackRegion, AsksTheKernelOfTheBoundWhereGuardsAreMappings) {
  const auto region = small_region(GuardKind::mprotect);
  EXPECT_LT(region->slots_max() * 2, os::mappings_max());
  EXPECT_GT(region->slots_max(), 100U);
}

TEST(StackRegion, ReleasesWhatStacksHeld) {
  const auto region = small_region();
  std::vector<Stack> stacks;
  for (int i = 0; i < 8; ++i) {
    stacks.push_back(region->take_slot(StackClass::k64KiB));
    stacks.back().top()[-1] = std::byte{1};
  }
  region->release(stacks);
  for (const Stack stack : stacks) EXPECT_EQ(stack.top()[-1], std::byte{0});
}

TEST(StackPool, AWarmStackCostsNoSystemCallAndKeepsItsMemory) {
  const auto region = small_region();
  StackPool pool({.cap = 4}, *region);
  const Stack first = pool.take();
  first.top()[-1] = std::byte{7};
  const std::uint64_t calls = region->system_calls();
  for (int i = 0; i < 1000; ++i) {
    pool.give(first);
    EXPECT_EQ(pool.take(), first);
  }
  EXPECT_EQ(region->system_calls(), calls);
  EXPECT_EQ(first.top()[-1], std::byte{7});
  pool.give(first);
}

TEST(StackPool, GivesTheStackThatWasUsedLast) {
  const auto region = small_region();
  StackPool pool({}, *region);
  const Stack a = pool.take();
  const Stack b = pool.take();
  pool.give(a);
  pool.give(b);
  EXPECT_EQ(pool.take(), b);
  EXPECT_EQ(pool.take(), a);
  pool.give(a);
  pool.give(b);
}

TEST(StackPool, GivesBackWhatABurstLeftDownToItsCapOnceItLayUnused) {
  const auto region = small_region();
  StackPool pool({.cap = 3, .decay = milliseconds(500)}, *region);
  std::vector<Stack> burst;
  for (int i = 0; i < 100; ++i) burst.push_back(pool.take());
  pool.trim(milliseconds(0));
  for (const Stack stack : burst) {
    stack.top()[-1] = std::byte{1};
    pool.give(stack);
  }
  pool.trim(milliseconds(500));  // within this time they were needed
  EXPECT_EQ(pool.idle(), 100U);
  pool.trim(milliseconds(900));  // too early
  EXPECT_EQ(pool.idle(), 100U);
  pool.trim(milliseconds(1000));
  EXPECT_EQ(pool.idle(), 3U);
  std::size_t warm = 0;
  for (const Stack stack : burst) warm += stack.top()[-1] == std::byte{1} ? 1 : 0;
  EXPECT_EQ(warm, 3U);
}

TEST(StackPool, KeepsWhatIsNeededNowAndThen) {
  const auto region = small_region();
  StackPool pool({.cap = 1, .decay = milliseconds(500)}, *region);
  for (int round = 0; round < 10; ++round) {
    std::vector<Stack> used;
    for (int i = 0; i < 20; ++i) used.push_back(pool.take());
    for (const Stack stack : used) pool.give(stack);
    pool.trim(milliseconds(500) * round);
    EXPECT_EQ(pool.idle(), 20U);
  }
}

TEST(StackPool, TakesAgainWhatItGaveBack) {
  const auto region = small_region();
  {
    StackPool pool({}, *region);
    const Stack stack = pool.take();
    pool.give(stack);
  }
  StackPool other({}, *region);
  const std::size_t made = region->slots_made();
  const Stack stack = other.take();
  EXPECT_EQ(region->slots_made(), made);
  other.give(stack);
}

TEST(StackCache, TakesFromThePoolByTheDozenAndGivesBackWhatIsTooMuch) {
  const auto region = small_region();
  StackPool pool({}, *region);
  StackCache cache(pool);
  std::vector<Stack> taken;
  for (int i = 0; i < 100; ++i) taken.push_back(cache.take());
  EXPECT_EQ(pool.idle(), 0U);
  for (const Stack stack : taken) cache.give(stack);
  EXPECT_LE(cache.idle(), 32U);
  EXPECT_EQ(cache.idle() + pool.idle(), 100U);
  const std::set<std::byte*> all = [&] {
    std::set<std::byte*> slots;
    for (const Stack stack : taken) slots.insert(stack.slot());
    return slots;
  }();
  std::set<std::byte*> again;
  for (int i = 0; i < 100; ++i) again.insert(cache.take().slot());
  EXPECT_EQ(again, all);
  for (const Stack stack : taken) cache.give(stack);
  cache.flush(2);
  EXPECT_EQ(cache.idle(), 2U);
  cache.flush(0);
  EXPECT_EQ(cache.idle(), 0U);
  EXPECT_EQ(pool.idle(), 100U);
}

}  // namespace
}  // namespace leat::actor
