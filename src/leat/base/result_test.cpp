#include <leat/base/result.hpp>

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>

namespace leat {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{"half: expected an even number, found " + std::to_string(n)};
  return n / 2;
}

Result<void> must_be_even(int n) {
  if (n % 2 != 0) return Error{std::to_string(n) + " is odd"};
  return {};
}

TEST(Result, HoldsTheValue) {
  const Result<int> result = half(8);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, 4);
  EXPECT_EQ(result.value(), 4);
}

TEST(Result, HoldsTheErrorAndItsMessage) {
  const Result<int> result = half(7);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "half: expected an even number, found 7");
}

TEST(Result, MovesAValueThatCannotBeCopiedInAndOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  const std::unique_ptr<int> out = std::move(result).value();
  EXPECT_EQ(*out, 3);
}

TEST(Result, ReachesTheMembersOfItsValue) {
  const Result<std::string> result = std::string("four");
  EXPECT_EQ(result->size(), 4U);
}

TEST(Result, TakesWhatConvertsToItsValue) {
  const Result<std::string> result = "text";
  EXPECT_EQ(*result, "text");
}

TEST(Result, GivesTheOtherValueInstead) {
  EXPECT_EQ(half(7).value_or(-1), -1);
  EXPECT_EQ(half(6).value_or(-1), 3);
}

TEST(Result, OfNothingIsDoneOrAnError) {
  EXPECT_TRUE(must_be_even(2).has_value());
  must_be_even(2).value();
  EXPECT_EQ(must_be_even(3).error().message, "3 is odd");
}

TEST(ResultDeathTest, TheValueThatIsNotThereAbortsWithTheErrorOverlooked) {
  EXPECT_DEATH(static_cast<void>(half(7).value()), "expected an even number, found 7");
  EXPECT_DEATH(must_be_even(5).value(), "5 is odd");
}

TEST(ResultDeathTest, TheErrorThatIsNotThereAborts) {
  EXPECT_DEATH(static_cast<void>(half(8).error()), "error of a Result that has a value");
  EXPECT_DEATH(static_cast<void>(must_be_even(8).error()), "error of a Result that has a value");
}

}  // namespace
}  // namespace leat
