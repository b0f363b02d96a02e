#include <leat/base/check.hpp>

#include <gtest/gtest.h>

namespace {

TEST(CheckDeathTest, AbortsWithThePlaceTheReasonAndTheCondition) {
  const int count = -1;
  EXPECT_DEATH(LEAT_CHECK(count >= 0, "a count went below zero"),
               "check_test\\.cpp:[0-9]+: check failed: a count went below zero "
               "\\(count >= 0\\)");
}

TEST(Check, EvaluatesItsConditionOnceAndGoesOn) {
  int calls = 0;
  LEAT_CHECK(++calls == 1, "evaluated twice");
  EXPECT_EQ(calls, 1);
}

TEST(Check, IsAnExpressionAndStandsInABranchWithoutBraces) {
  bool reached = false;
  if (!reached)
    LEAT_CHECK(true, "never");
  else
    reached = true;
  EXPECT_FALSE(reached);
}

#ifdef NDEBUG
TEST(Dcheck, DoesNotEvaluateItsConditionInARelease) {
  int calls = 0;
  LEAT_DCHECK(++calls == 100, "not looked at");
  EXPECT_EQ(calls, 0);
}
#else
TEST(DcheckDeathTest, AbortsInADebugBuild) {
  EXPECT_DEATH(LEAT_DCHECK(1 + 1 == 3, "arithmetic broke"), "arithmetic broke");
}
#endif

}  // namespace
