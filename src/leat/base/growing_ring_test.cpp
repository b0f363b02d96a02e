#include <leat/base/growing_ring.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace leat {
namespace {

/// Counts the values that are alive, whether moved from or not.
class Counted {
 public:
  Counted(int number, int* alive) : number_(number), alive_(alive) { ++*alive_; }
  Counted(Counted&& other) noexcept : number_(other.number_), alive_(other.alive_) { ++*alive_; }
  Counted& operator=(Counted&& other) noexcept = default;
  ~Counted() { --*alive_; }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
  int* alive_;
};

TEST(GrowingRing, IsEmptyAtFirst) {
  const GrowingRing<int> ring;
  EXPECT_TRUE(ring.empty());
  EXPECT_EQ(ring.size(), 0U);
}

TEST(GrowingRing, GivesValuesBackInTheirOrder) {
  GrowingRing<std::string> ring;
  for (int i = 0; i < 100; ++i) ring.push_back("value " + std::to_string(i));
  EXPECT_EQ(ring.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(ring.front(), "value " + std::to_string(i));
    EXPECT_EQ(ring.pop_front(), "value " + std::to_string(i));
  }
  EXPECT_TRUE(ring.empty());
}

TEST(GrowingRing, KeepsTheOrderWhereverItStandsWhenItGrows) {
  for (int start = 0; start < 9; ++start) {
    GrowingRing<int> ring;
    for (int i = 0; i < start; ++i) {
      ring.push_back(-1);
      ring.drop_front();
    }
    for (int i = 0; i < 20; ++i) ring.push_back(int{i});
    for (int i = 0; i < 20; ++i) EXPECT_EQ(ring.pop_front(), i) << "it grew " << start << " in";
  }
}

TEST(GrowingRing, CarriesWhatCanOnlyBeMoved) {
  GrowingRing<std::unique_ptr<int>> ring;
  for (int i = 0; i < 5; ++i) ring.push_back(std::make_unique<int>(i));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*ring.pop_front(), i);
}

TEST(GrowingRing, UsesTheSamePlacesInASteadyStream) {
  GrowingRing<int> ring;
  ring.push_back(0);
  std::set<const int*> places;
  for (int i = 1; i < 1000; ++i) {
    ring.push_back(int{i});
    places.insert(&ring.front());
    ring.drop_front();
  }
  EXPECT_LE(places.size(), 4U);
}

TEST(GrowingRing, EndsTheLifeOfEachValueOnce) {
  int alive = 0;
  {
    GrowingRing<Counted> ring;
    for (int i = 0; i < 11; ++i) ring.push_back(Counted(i, &alive));
    EXPECT_EQ(alive, 11);
    ring.drop_front();
    EXPECT_EQ(alive, 10);
    EXPECT_EQ(ring.pop_front().number(), 1);
    EXPECT_EQ(alive, 9);
  }
  EXPECT_EQ(alive, 0);
}

TEST(GrowingRing, IsUsableAfterClear) {
  int alive = 0;
  GrowingRing<Counted> ring;
  for (int i = 0; i < 6; ++i) ring.push_back(Counted(i, &alive));
  ring.clear();
  EXPECT_TRUE(ring.empty());
  EXPECT_EQ(alive, 0);
  ring.push_back(Counted(7, &alive));
  EXPECT_EQ(ring.front().number(), 7);
  EXPECT_EQ(ring.size(), 1U);
}

#ifndef NDEBUG
TEST(GrowingRingDeathTest, HasNoFrontWhenEmpty) {
  GrowingRing<int> ring;
  EXPECT_DEATH(static_cast<void>(ring.front()), "front of an empty ring");
}
#endif

}  // namespace
}  // namespace leat
