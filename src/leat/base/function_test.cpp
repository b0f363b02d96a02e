#include <leat/base/function.hpp>

#include <gtest/gtest.h>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace leat {
namespace {

int doubled(int n) { return 2 * n; }

TEST(Function, CallsAFunctionALambdaAndAMember) {
  Function<int(int)> function = doubled;
  EXPECT_EQ(function(4), 8);
  function = [](int n) { return n + 1; };
  EXPECT_EQ(function(4), 5);
  struct Adder {
    virtual ~Adder() = default;
    virtual int add(int n) { return base + n; }
    int base = 10;
  };
  Function<int(Adder&, int)> member = &Adder::add;
  Adder adder;
  EXPECT_EQ(member(adder, 4), 14);
}

TEST(Function, OwnsWhatCannotBeCopied) {
  Function<int()> function = [p = std::make_unique<int>(7)] { return *p; };
  Function<int()> moved = std::move(function);
  EXPECT_EQ(moved(), 7);
  EXPECT_FALSE(function);  // NOLINT(bugprone-use-after-move): moved from is empty
}

TEST(Function, KeepsStateBetweenCalls) {
  Function<int()> next = [n = 0]() mutable { return ++n; };
  next();
  EXPECT_EQ(next(), 2);
}

TEST(Function, PassesArgumentsThroughWithoutCopies) {
  Function<std::unique_ptr<int>(std::unique_ptr<int>)> same = [](std::unique_ptr<int> p) {
    return p;
  };
  EXPECT_EQ(*same(std::make_unique<int>(3)), 3);
  Function<void(std::string&)> append = [](std::string& text) { text += "!"; };
  std::string text = "hello";
  append(text);
  EXPECT_EQ(text, "hello!");
}

TEST(Function, DropsAResultNobodyWants) {
  Function<void(int)> function = doubled;
  function(4);
}

template <std::size_t Bytes>
struct Counted {
  explicit Counted(int* live) : live_(live) { ++*live_; }
  Counted(Counted&& other) noexcept : live_(other.live_) { ++*live_; }
  ~Counted() { --*live_; }
  int operator()() const { return *live_; }
  int* live_;
  std::array<char, Bytes> ballast_{};
};

template <class Callable>
void expect_one_alive_until_the_end() {
  int live = 0;
  {
    Function<int()> function = Callable(&live);
    EXPECT_EQ(live, 1);
    Function<int()> other = std::move(function);
    EXPECT_EQ(live, 1);
    EXPECT_EQ(other(), 1);
    function = std::move(other);
    EXPECT_EQ(live, 1);
    function = [] { return 0; };
    EXPECT_EQ(live, 0);
  }
  EXPECT_EQ(live, 0);
}

TEST(Function, DestroysASmallCallableExactlyOnce) { expect_one_alive_until_the_end<Counted<8>>(); }

TEST(Function, DestroysALargeCallableExactlyOnce) {
  expect_one_alive_until_the_end<Counted<100>>();
}

TEST(Function, KeepsACallableOfThirtyTwoBytesInside) {
  struct Fits {
    std::array<char, Function<void()>::kInlineBytes> bytes{};
    const void* operator()() const { return this; }
  };
  Function<const void*()> function = Fits{};
  const char* at = static_cast<const char*>(function());
  const char* begin = reinterpret_cast<const char*>(&function);
  EXPECT_GE(at, begin);
  EXPECT_LT(at, begin + sizeof function);
}

TEST(Function, LetsExceptionsThrough) {
  Function<void()> function = [] { throw std::runtime_error("from inside"); };
  EXPECT_THROW(function(), std::runtime_error);
}

TEST(Function, IsEmptyFromNothingFromNullAndAfterReset) {
  Function<void()> nothing;
  EXPECT_FALSE(nothing);
  int (*null_pointer)(int) = nullptr;
  Function<int(int)> null = null_pointer;
  EXPECT_FALSE(null);
  Function<void()> function = [] {};
  EXPECT_TRUE(function);
  function.reset();
  EXPECT_FALSE(function);
  function = nullptr;
  EXPECT_FALSE(function);
}

TEST(FunctionDeathTest, AnEmptyOneThatIsCalledAborts) {
  Function<void()> function;
  EXPECT_DEATH(function(), "an empty Function was called");
}

}  // namespace
}  // namespace leat
