#include <leat/base/atomic.hpp>

#include <cstdint>
#include <thread>
#include <type_traits>

#include <gtest/gtest.h>

#include <leat/base/mutant.hpp>
#include <leat/base/plain.hpp>
#include <leat/base/sanitizers.hpp>
#include <leat/base/spin_pause.hpp>

namespace leat {
namespace {

struct publish : Edge {};  // writer -> reader: the payload is whole before it is read
struct recycle : Edge {};  // reader -> writer: the payload has been read before it is overwritten

TEST(Atomic, StartsAtZeroOrAtTheValueGiven) {
  const Atomic<int> zero;
  const Atomic<int> seven(7);
  EXPECT_EQ(zero.load_relaxed(), 0);
  EXPECT_EQ(seven.load_relaxed(), 7);
}

TEST(Atomic, IsTheSizeOfItsValue) {
  EXPECT_EQ(sizeof(Atomic<std::uint32_t>), sizeof(std::uint32_t));
  EXPECT_EQ(sizeof(Atomic<void*>), sizeof(void*));
  EXPECT_TRUE(std::is_standard_layout_v<Atomic<std::uint64_t>>);
}

TEST(Atomic, LoadsWhatWasStoredInEveryOrder) {
  Atomic<std::uint64_t> word;
  word.store_relaxed(1);
  EXPECT_EQ(word.load_relaxed(), 1U);
  word.store_release(2, publish{});
  EXPECT_EQ(word.load_acquire(publish{}), 2U);
  word.store_seq_cst(3, publish{});
  EXPECT_EQ(word.load_seq_cst(publish{}), 3U);
}

TEST(Atomic, ExchangeReturnsTheValueBefore) {
  Atomic<int> word(1);
  EXPECT_EQ(word.exchange_relaxed(2), 1);
  EXPECT_EQ(word.exchange_acquire(3, publish{}), 2);
  EXPECT_EQ(word.exchange_release(4, publish{}), 3);
  EXPECT_EQ(word.exchange_acq_rel(5, publish{}, recycle{}), 4);
  EXPECT_EQ(word.exchange_seq_cst(6, publish{}, publish{}), 5);
  EXPECT_EQ(word.load_relaxed(), 6);
}

TEST(Atomic, FetchOperationsReturnTheValueBefore) {
  Atomic<std::uint32_t> word(8);
  EXPECT_EQ(word.fetch_add_relaxed(1), 8U);
  EXPECT_EQ(word.fetch_add_acquire(1, publish{}), 9U);
  EXPECT_EQ(word.fetch_add_release(1, publish{}), 10U);
  EXPECT_EQ(word.fetch_add_acq_rel(1, publish{}, recycle{}), 11U);
  EXPECT_EQ(word.fetch_add_seq_cst(1, publish{}, recycle{}), 12U);
  EXPECT_EQ(word.fetch_sub_relaxed(1), 13U);
  EXPECT_EQ(word.fetch_sub_acquire(1, publish{}), 12U);
  EXPECT_EQ(word.fetch_sub_release(1, publish{}), 11U);
  EXPECT_EQ(word.fetch_sub_acq_rel(1, publish{}, recycle{}), 10U);
  EXPECT_EQ(word.fetch_sub_seq_cst(1, publish{}, recycle{}), 9U);
  EXPECT_EQ(word.fetch_or_relaxed(1), 8U);
  EXPECT_EQ(word.fetch_or_acquire(2, publish{}), 9U);
  EXPECT_EQ(word.fetch_or_release(4, publish{}), 11U);
  EXPECT_EQ(word.fetch_or_acq_rel(16, publish{}, recycle{}), 15U);
  EXPECT_EQ(word.fetch_or_seq_cst(32, publish{}, recycle{}), 31U);
  EXPECT_EQ(word.fetch_and_relaxed(62), 63U);
  EXPECT_EQ(word.fetch_and_acquire(60, publish{}), 62U);
  EXPECT_EQ(word.fetch_and_release(56, publish{}), 60U);
  EXPECT_EQ(word.fetch_and_acq_rel(48, publish{}, recycle{}), 56U);
  EXPECT_EQ(word.fetch_and_seq_cst(32, publish{}, recycle{}), 48U);
  EXPECT_EQ(word.load_relaxed(), 32U);
}

TEST(Atomic, CompareExchangeSwapsOnlyWhatWasExpected) {
  Atomic<int> word(1);
  int expected = 0;
  EXPECT_FALSE(word.compare_exchange_strong_relaxed(expected, 2));
  EXPECT_EQ(expected, 1);
  EXPECT_TRUE(word.compare_exchange_strong_acquire(expected, 2, publish{}));
  expected = 2;
  EXPECT_TRUE(word.compare_exchange_strong_release(expected, 3, publish{}));
  expected = 3;
  EXPECT_TRUE(word.compare_exchange_strong_acq_rel(expected, 4, publish{}, recycle{}));
  expected = 4;
  EXPECT_TRUE(word.compare_exchange_strong_seq_cst(expected, 5, publish{}, recycle{}));
  EXPECT_EQ(word.load_relaxed(), 5);
}

TEST(Atomic, WeakCompareExchangeSucceedsInALoop) {
  Atomic<int> word(1);
  int expected = 1;
  while (!word.compare_exchange_weak_relaxed(expected, 2)) expected = 1;
  expected = 2;
  while (!word.compare_exchange_weak_acquire(expected, 3, publish{})) expected = 2;
  expected = 3;
  while (!word.compare_exchange_weak_release(expected, 4, publish{})) expected = 3;
  expected = 4;
  while (!word.compare_exchange_weak_acq_rel(expected, 5, publish{}, recycle{})) expected = 4;
  expected = 5;
  while (!word.compare_exchange_weak_seq_cst(expected, 6, publish{}, recycle{})) expected = 5;
  EXPECT_EQ(word.load_relaxed(), 6);
}

TEST(Atomic, CarriesAPayloadBetweenThreads) {
  Plain<int> payload(0);
  Atomic<bool> ready(false);
  std::thread writer([&] {
    payload.set(42);
    ready.store_release(true, publish{});
  });
  while (!ready.load_acquire(publish{})) spin_pause();
  EXPECT_EQ(payload.read(), 42);
  writer.join();
}

#if !LEAT_TSAN  // which does not know fences
TEST(Atomic, CarriesAPayloadBetweenFences) {
  Atomic<int> payload(0);
  Atomic<bool> ready(false);
  std::thread writer([&] {
    payload.store_relaxed(42);
    fence_release(publish{});
    ready.store_relaxed(true);
  });
  while (!ready.load_relaxed()) spin_pause();
  fence_acquire(publish{});
  EXPECT_EQ(payload.load_relaxed(), 42);
  writer.join();
}

TEST(Atomic, OneOfTwoSeesTheOtherAcrossSeqCstFences) {
  for (int round = 0; round < 200; ++round) {
    Atomic<int> mine(0);
    Atomic<int> yours(0);
    int seen = 0;
    std::thread other([&] {
      yours.store_relaxed(1);
      fence_seq_cst(publish{}, recycle{});
      seen += mine.load_relaxed();
    });
    mine.store_relaxed(1);
    fence_seq_cst(recycle{}, publish{});
    const int met = yours.load_relaxed();
    other.join();
    ASSERT_GE(seen + met, 1) << round;
  }
  fence_acq_rel(publish{}, recycle{});
}
#endif

template <class E>
concept Accepted = requires(Atomic<int>& word, E edge) { word.load_acquire(edge); };

TEST(Atomic, TakesOnlyNamedEdges) {
  EXPECT_TRUE(Accepted<publish>);
  EXPECT_FALSE(Accepted<Edge>);  // the base names nothing
  EXPECT_FALSE(Accepted<int>);
}

TEST(Mutant, IsOffUnlessAModelTestAsksForIt) { EXPECT_FALSE(LEAT_MUTANT("atomic_test.none")); }

}  // namespace
}  // namespace leat
