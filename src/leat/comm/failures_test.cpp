#include <leat/comm/failures.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include <leat/comm/fabric.hpp>
#include <leat/comm/spawn.hpp>

namespace leat::comm {

struct Fragile {};

// A pool that cannot be made while `fails`.
template <>
class EnvelopePool<Fragile> {
 public:
  static inline bool fails = false;
  EnvelopePool() {
    if (fails) throw std::runtime_error("no pool");
  }
};

namespace {

std::exception_ptr error(const char* text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

TEST(Failures, KeepTheFirstOfEachWorker) {
  Failures failures(2);
  EXPECT_FALSE(failures.of(0).has_value());
  EXPECT_TRUE(failures.note({1, "operator \"a\"", error("first")}));
  EXPECT_FALSE(failures.note({1, "operator \"b\"", error("second")}));
  EXPECT_TRUE(failures.note({0, "", error("another")}));
  EXPECT_EQ(failures.of(1)->where, "operator \"a\"");
  EXPECT_EQ(message_of(failures.of(1)->error), "first");
}

TEST(Failures, ToBuildCountWhenSomeBuiltAndOneFailed) {
  Failures failures(3);
  EXPECT_FALSE(failures.built(7, Failure{2, "", error("not here")}).has_value());
  const auto found = failures.built(7, std::nullopt);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->worker, 2U);
  EXPECT_TRUE(failures.built(7, std::nullopt).has_value());
  for (std::size_t worker = 0; worker < 3; ++worker) {  // all alike: the program's affair
    EXPECT_FALSE(failures.built(8, Failure{worker, "", error("nowhere")}).has_value());
    EXPECT_FALSE(failures.built(9, std::nullopt).has_value());
  }
}

TEST(Fabric, AFailureStopsThePeersAndIsKept) {
  Fabric alone(1);
  alone.failed(0, "", error("mine"));
  EXPECT_FALSE(alone.stop().requested());
  EXPECT_TRUE(alone.failures().of(0).has_value());
  Fabric fabric(2);
  fabric.failed(1, "operator \"a\"", error("mine"));
  ASSERT_TRUE(fabric.stop().requested());
  EXPECT_EQ(fabric.stop().reason()->who, "worker 1, operator \"a\"");
  EXPECT_EQ(fabric.stop().reason()->why, "mine");
}

TEST(Fabric, AChannelThatCouldNotBeMadeIsMadeByWhoeverComesNext) {
  Fabric fabric(2);
  const Signature signature{1, "exchange"};
  EnvelopePool<Fragile>::fails = true;
  EXPECT_THROW((void)fabric.channel<Fragile>(fabric.seat(0), 3, signature, {}), std::runtime_error);
  EnvelopePool<Fragile>::fails = false;
  EXPECT_NO_THROW((void)fabric.channel<Fragile>(fabric.seat(1), 3, signature, {}));
  EXPECT_NO_THROW((void)fabric.channel<Fragile>(fabric.seat(0), 3, signature, {}));
}

TEST(RunWorkers, AFailureThatTheBodyCaughtIsItsEnding) {
  Fabric fabric(2);
  const auto endings = run_workers(fabric, [&](Seat& seat, std::string&) {
    if (seat.index() == 1) fabric.failed(1, "operator \"a\"", error("mine"));
  });
  EXPECT_EQ(endings[0].error, nullptr);
  ASSERT_NE(endings[1].error, nullptr);
  EXPECT_FALSE(endings[1].stopped);
  EXPECT_EQ(endings[1].where, "operator \"a\"");
}

}  // namespace
}  // namespace leat::comm
