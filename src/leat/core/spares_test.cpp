#include <leat/core/spares.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace leat::core {
namespace {

struct Kept final : Keeper {
  explicit Kept(int& r) : released(r) {}
  void use(Spares& all) { used(all); }
  void release_spares() override { ++released; }
  [[nodiscard]] bool is_kept() const { return is_listed(); }

  int& released;
};

TEST(Spares, ASweepReleasesWhoWasNotUsedSinceTheLastOne) {
  Spares all;
  int a = 0;
  int b = 0;
  Kept busy(a);
  Kept idle(b);
  busy.use(all);
  idle.use(all);
  all.sweep();
  EXPECT_EQ(a + b, 0);
  busy.use(all);
  all.sweep();
  EXPECT_EQ(a, 0);
  EXPECT_EQ(b, 1);
  EXPECT_TRUE(busy.is_kept());
  EXPECT_FALSE(idle.is_kept());
  idle.use(all);
  all.sweep();  // nobody was used but idle
  all.sweep();
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 2);
  EXPECT_TRUE(all.empty());
}

TEST(Spares, ReleasesAllAtOnceBeforeASleep) {
  Spares all;
  int released = 0;
  std::vector<std::unique_ptr<Kept>> many;
  for (int i = 0; i < 5; ++i) {
    many.push_back(std::make_unique<Kept>(released));
    many.back()->use(all);
  }
  many.erase(many.begin() + 1);  // whoever ends leaves the list, from any place of it
  many.erase(many.begin());
  all.release_all();
  EXPECT_EQ(released, 3);
  EXPECT_TRUE(all.empty());
}

TEST(Spares, MayEndBeforeThoseWhoKeep) {
  int released = 0;
  Kept kept(released);
  {
    Spares all;
    kept.use(all);
  }
  EXPECT_FALSE(kept.is_kept());
  EXPECT_EQ(released, 0);
}

}  // namespace
}  // namespace leat::core
