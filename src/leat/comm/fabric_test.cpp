#include <leat/comm/fabric.hpp>

#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace leat::comm {
namespace {

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(nothing was refused)";
}

void make_channel(Fabric& fabric, std::size_t worker, std::uint64_t id,
                  const Signature& signature) {
  static_cast<void>(fabric.channel<int>(fabric.seat(worker), id, signature, {}));
}

TEST(Fabric, HasASeatPerWorker) {
  Fabric fabric(3);
  EXPECT_EQ(fabric.workers(), 3U);
  EXPECT_EQ(fabric.park_mask().workers(), 3U);
  EXPECT_GE(fabric.crowd().cpus(), 1U);
}

TEST(Fabric, TheSameIdWithAnotherSignatureIsRefusedAndTheErrorShowsBoth) {
  Fabric fabric(3);
  make_channel(fabric, 2, 17, {1, "exchange of \"count\" at [0, 2]"});
  const std::string words =
      refusal([&] { make_channel(fabric, 1, 17, {2, "exchange of \"split\" at [0, 3]"}); });
  for (const char* part : {"id 17", "worker 2 built exchange of \"count\" at [0, 2]",
                           "worker 1 built exchange of \"split\" at [0, 3]",
                           "same dataflow on all workers", "same order and shape"}) {
    EXPECT_NE(words.find(part), std::string::npos) << part << "\nis not in\n" << words;
  }
  make_channel(fabric, 0, 17, {1, "exchange of \"count\" at [0, 2]"});  // the others go on
}

TEST(Fabric, SignaturesAreComparedByHash) {
  Fabric fabric(2);
  make_channel(fabric, 0, 1, {5, "one text"});
  EXPECT_NO_THROW(make_channel(fabric, 1, 1, {5, "another text"}));
}

TEST(Fabric, DifferentIdsAreDifferentThings) {
  Fabric fabric(2);
  make_channel(fabric, 0, 1, {1, "a"});
  make_channel(fabric, 0, 2, {2, "b"});
  make_channel(fabric, 1, 2, {2, "b"});
  make_channel(fabric, 1, 1, {1, "a"});
}

TEST(Fabric, WorkersAgreeWithoutAChannelToo) {
  Fabric fabric(2);
  fabric.agree(fabric.seat(1), 3, {1, "dataflow \"rank\" with 5 operators"});
  const std::string words =
      refusal([&] { fabric.agree(fabric.seat(0), 3, {2, "dataflow \"rank\" with 6 operators"}); });
  EXPECT_NE(words.find("5 operators"), std::string::npos) << words;
  EXPECT_NE(words.find("6 operators"), std::string::npos) << words;
}

TEST(Fabric, OneWorkerAgreesWithItself) {
  Fabric fabric(1);
  fabric.agree(fabric.seat(0), 3, {1, "this"});
  fabric.agree(fabric.seat(0), 3, {2, "that"});
}

TEST(Fabric, KeepsTheFirstFailureOnly) {
  Fabric fabric(2);
  EXPECT_EQ(fabric.stop().reason(), nullptr);
  fabric.fail({"worker 1", "first", std::make_exception_ptr(std::runtime_error("first"))});
  fabric.fail({"worker 0", "second", nullptr});
  ASSERT_NE(fabric.stop().reason(), nullptr);
  EXPECT_EQ(fabric.stop().reason()->who, "worker 1");
  EXPECT_EQ(fabric.stop().reason()->why, "first");
  EXPECT_NE(fabric.stop().reason()->exception, nullptr);
}

// A token that lies in a parker ends the next park although nothing was announced.
bool has_token(Fabric& fabric, std::size_t worker) {
  return fabric.seat(worker).parker().park([] { return false; }, Nanos{0});
}

TEST(Fabric, AFailureAStopAndADepartureWakeEveryWorker) {
  {
    Fabric fabric(3);
    fabric.fail({"worker 1", "it failed", nullptr});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(has_token(fabric, i));
  }
  {
    Fabric fabric(3);
    fabric.stop().request({"a caller", "enough", nullptr});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(has_token(fabric, i));
  }
  {
    Fabric fabric(3);
    fabric.left(5);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(has_token(fabric, i));
    EXPECT_FALSE(has_token(fabric, 0));
  }
}

// One worker failed to build a dataflow, and nobody knows until another one builds it. Whoever does is
// stopped before it goes on, also if a third one has seen the failure and is about to stop them all.
TEST(Fabric, WhoBuildsWhatAPeerFailedToBuildIsStoppedWhoeverSawItFirst) {
  struct Slow final : std::exception {  // who asks first is held up
    struct Gate {
      std::atomic<int> asked{0};
      std::atomic<bool> open{false};
    };
    explicit Slow(Gate& gate_in) : gate(&gate_in) {}
    const char* what() const noexcept override {
      if (gate->asked.fetch_add(1) == 0) gate->open.wait(false);
      return "it failed";
    }
    Gate* gate;
  };
  Slow::Gate gate;
  Fabric fabric(3);
  fabric.built(0, 1, "the builder", std::make_exception_ptr(Slow(gate)));
  EXPECT_FALSE(fabric.stop().requested());  // perhaps all fail alike
  std::thread second([&] { fabric.built(1, 1, {}, nullptr); });
  while (gate.asked.load() == 0) std::this_thread::yield();
  fabric.built(2, 1, {}, nullptr);
  EXPECT_TRUE(fabric.stop().requested());
  gate.open.store(true);
  gate.open.notify_all();
  second.join();
  EXPECT_EQ(fabric.stop().reason()->why, "it failed");
}

TEST(Fabric, RemembersTheLowestIdThatAWorkerLeftAt) {
  Fabric fabric(3);
  EXPECT_GT(fabric.lowest_id_left_at(), 1'000'000U);
  fabric.left(12);
  EXPECT_EQ(fabric.lowest_id_left_at(), 12U);
  fabric.left(30);
  EXPECT_EQ(fabric.lowest_id_left_at(), 12U);
  fabric.left(7);
  EXPECT_EQ(fabric.lowest_id_left_at(), 7U);
}

}  // namespace
}  // namespace leat::comm
