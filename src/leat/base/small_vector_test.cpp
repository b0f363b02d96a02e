#include <leat/base/small_vector.hpp>

#include <gtest/gtest.h>

namespace {

TEST(SmallVector, KeepsItsFirstElementsInside) {
  leat::SmallVector<int, 4> values = {1, 2, 3, 4};
  const char* data = reinterpret_cast<const char*>(values.data());
  const char* begin = reinterpret_cast<const char*>(&values);
  EXPECT_GE(data, begin);
  EXPECT_LT(data, begin + sizeof values);
  values.push_back(5);
  EXPECT_EQ(values.back(), 5);
  EXPECT_EQ(values.size(), 5U);
}

}  // namespace
