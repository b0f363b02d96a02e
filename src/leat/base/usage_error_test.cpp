#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace {

TEST(UsageError, SaysWhoWhatWasAskedWhatWasFoundAndWhatToDo) {
  const leat::UsageError error("operator \"split\" (flow.cpp:12)", "a session on output 1",
                               "a capability for output 0", "pass the capability of output 1");
  EXPECT_STREQ(error.what(),
               "operator \"split\" (flow.cpp:12): asked a session on output 1; found a capability "
               "for output 0; pass the capability of output 1");
}

TEST(UsageError, IsCaughtAsALogicError) {
  EXPECT_THROW(throw leat::UsageError("x", "a", "b", "c"), std::logic_error);
}

}  // namespace
