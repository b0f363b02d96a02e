#include <leat/base/exceptions.hpp>

#include <gtest/gtest.h>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

namespace leat {
namespace {

/// Notes the count when it is destroyed, both ways, and throws again within.
struct Noting {
  explicit Noting(std::vector<int>& counts_in, int depth_in) : counts(counts_in), depth(depth_in) {}
  Noting(const Noting&) = delete;
  Noting& operator=(const Noting&) = delete;
  ~Noting() {
    EXPECT_EQ(exceptions_under_way(), std::uncaught_exceptions());
    counts.push_back(exceptions_under_way());
    if (depth == 0) return;
    try {
      const Noting inner(counts, depth - 1);
      throw std::runtime_error("inner");
    } catch (const std::runtime_error&) {
      EXPECT_EQ(exceptions_under_way(), std::uncaught_exceptions());
    }
  }
  std::vector<int>& counts;
  int depth;
};

std::vector<int> counts_while_unwinding() {
  std::vector<int> counts;
  try {
    const Noting outer(counts, 2);
    throw std::runtime_error("outer");
  } catch (const std::runtime_error&) {
    counts.push_back(exceptions_under_way());
  }
  return counts;
}

TEST(Exceptions, UnderWayAreThoseThatWereThrownAndNotCaught) {
  EXPECT_EQ(exceptions_under_way(), 0);
  EXPECT_EQ(counts_while_unwinding(), (std::vector<int>{1, 2, 3, 0}));
  EXPECT_EQ(exceptions_under_way(), 0);
}

TEST(Exceptions, AreCountedForEachThreadByItself) {
  std::vector<int> here;
  std::vector<int> there;
  try {
    struct Asks {
      std::vector<int>& here;
      std::vector<int>& there;
      ~Asks() {
        here.push_back(exceptions_under_way());
        std::thread([this] {
          there.push_back(exceptions_under_way());
          for (const int count : counts_while_unwinding()) there.push_back(count);
        }).join();
      }
    };
    const Asks asks{here, there};
    throw std::runtime_error("here");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(here, std::vector<int>{1});
  EXPECT_EQ(there, (std::vector<int>{0, 1, 2, 3, 0}));
}

}  // namespace
}  // namespace leat
