// Workers send each other batches of records that prove themselves, to themselves too, and sleep whenever
// they know of nothing to do. A notice that is lost leaves one asleep; a batch that is used again too
// early is torn. In some runs receiving ends go while others still send, or a worker fails.
#include <leat/base/atomic.hpp>
#include <leat/base/rng.hpp>
#include <leat/comm/channel.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/comm/spawn.hpp>
#include <leat/core/worker.hpp>

#include "payload.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leat::stress {
namespace {

constexpr std::size_t kWorkers = 3;

/// A batch that counts how many of its kind there are.
struct Batch {
  Batch() { alive.fetch_add_relaxed(1); }
  Batch(Batch&& other) noexcept : records(std::move(other.records)) { alive.fetch_add_relaxed(1); }
  Batch& operator=(Batch&&) = default;
  ~Batch() { alive.fetch_sub_relaxed(1); }

  std::vector<Payload> records;
  static inline Atomic<std::int64_t> alive{0};
};

struct Failure {
  std::size_t worker;
};

/// One worker: has `batches` to send to each worker, and expects as many from each.
class Party {
 public:
  Party(comm::Fabric& fabric, std::size_t index, std::uint64_t batches)
      : seat_(fabric.seat(index)),
        rng_(index + 1),
        batches_(batches),
        ends_(std::make_unique<comm::Fabric::Ends<Batch>>(
            fabric.channel<Batch>(seat_, 0, {1, "a channel"}, core::Activation(active_, 0)))) {}

  /// Sends a few batches and takes in what has come. Returns: false if there was nothing to do.
  bool step() {
    bool busy = false;
    for (std::uint64_t n = rng_.below(4); n > 0 && unsent() > 0; --n) busy = send_one() || busy;
    seat_.ready().surface(
        [](core::Doorbell& bell) { static_cast<core::Bell&>(bell).activate_listener(); });
    if (active_.is_set(0)) {
      active_.clear(0);
      busy = receive() || busy;
    }
    return busy || unsent() > 0;
  }
  void stop_receiving() { receiver_.reset(); }

  [[nodiscard]] bool done() const { return unsent() == 0 && received_ == batches_ * kWorkers; }
  [[nodiscard]] bool has_sent_all() const { return unsent() == 0; }
  [[nodiscard]] std::uint64_t received() const { return received_; }
  [[nodiscard]] comm::Seat& seat() { return seat_; }

 private:
  [[nodiscard]] std::uint64_t unsent() const { return batches_ * kWorkers - sent_total_; }

  bool send_one() {
    std::size_t to = rng_.below(kWorkers);
    while (sent_[to] == batches_) to = (to + 1) % kWorkers;
    const std::uint64_t number = sent_[to]++;
    ++sent_total_;
    out_.records.clear();
    for (std::uint64_t n = 0; n <= number % 5; ++n) {
      out_.records.push_back(Payload::make(seat_.index(), number));
    }
    ends_->sender.send(to, out_);
    EXPECT_TRUE(out_.records.empty());
    return true;
  }

  bool receive() {
    if (!receiver_) return false;
    const std::uint64_t before = received_;
    while (receiver_->receive(in_)) {
      EXPECT_FALSE(in_.records.empty());
      if (in_.records.empty()) continue;
      const std::uint64_t writer = in_.records.front().writer;
      EXPECT_LT(writer, kWorkers);
      if (writer >= kWorkers) continue;
      const std::uint64_t expected = next_[writer]++;
      EXPECT_EQ(in_.records.size(), expected % 5 + 1);
      for (const Payload& record : in_.records) {
        EXPECT_TRUE(record.is_whole());
        EXPECT_EQ(record.writer, writer);
        EXPECT_EQ(record.sequence, expected);
      }
      in_.records.clear();
      ++received_;
    }
    return received_ != before;
  }

  comm::Seat& seat_;
  Rng rng_;
  std::uint64_t batches_;
  core::ActivationSet active_{};
  std::unique_ptr<comm::Fabric::Ends<Batch>> ends_;
  std::optional<comm::Receiver<Batch>> receiver_{std::move(ends_->receiver)};
  Batch out_;
  Batch in_;
  std::array<std::uint64_t, kWorkers> sent_{};
  std::array<std::uint64_t, kWorkers> next_{};
  std::uint64_t sent_total_ = 0;
  std::uint64_t received_ = 0;
};

void step_or_park(Party& party) {
  if (const auto* reason = party.seat().fabric().stop().reason()) throw core::Stopped(*reason);
  if (!party.step()) party.seat().park(std::nullopt);
}

TEST(ChannelStress, ScaffoldOnOneThread) {
  {
    comm::Fabric fabric(kWorkers);
    std::vector<std::unique_ptr<Party>> parties;
    for (std::size_t i = 0; i < kWorkers; ++i) {
      parties.push_back(std::make_unique<Party>(fabric, i, 500));
    }
    Rng rng(7);
    bool done = false;
    for (int steps = 0; !done && steps < 100'000; ++steps) {
      parties[rng.below(kWorkers)]->step();
      done = true;
      for (const auto& party : parties) done = done && party->done();
    }
    EXPECT_TRUE(done);
  }
  EXPECT_EQ(Batch::alive.load_relaxed(), 0);
}

TEST(ChannelStress, EveryBatchComesOnceWholeAndInItsSendersOrder) {
  {
    comm::Fabric fabric(kWorkers);
    const auto endings = comm::run_workers(fabric, [&](comm::Seat& seat, std::string&) {
      Party party(fabric, seat.index(), 5'000);
      while (!party.done()) step_or_park(party);
    });
    for (const auto& ending : endings) EXPECT_EQ(ending.error, nullptr);
  }
  EXPECT_EQ(Batch::alive.load_relaxed(), 0);
}

TEST(ChannelStress, ReceiversMayGoWhileOthersSend) {
  for (std::uint64_t round = 0; round < 100; ++round) {
    comm::Fabric fabric(kWorkers);
    const auto endings = comm::run_workers(fabric, [&](comm::Seat& seat, std::string&) {
      Party party(fabric, seat.index(), 60);
      const std::uint64_t enough = Rng(round * kWorkers + seat.index()).below(100);
      while (!party.has_sent_all()) {
        party.step();
        if (party.received() >= enough) party.stop_receiving();
      }
    });
    for (const auto& ending : endings) EXPECT_EQ(ending.error, nullptr);
  }
  EXPECT_EQ(Batch::alive.load_relaxed(), 0);
}

TEST(ChannelStress, AFailureAtAnyMomentStopsEverybodyElse) {
  for (std::uint64_t round = 0; round < 100; ++round) {
    comm::Fabric fabric(kWorkers);
    const std::size_t victim = round % kWorkers;
    const auto endings = comm::run_workers(fabric, [&](comm::Seat& seat, std::string&) {
      std::uint64_t steps = Rng(round).below(60);
      if (seat.index() == victim && steps == 0) throw Failure{victim};  // it never built anything
      Party party(fabric, seat.index(), 1'000'000);
      for (;;) {
        step_or_park(party);
        if (seat.index() == victim && steps-- == 0) throw Failure{victim};
      }
    });
    for (std::size_t i = 0; i < kWorkers; ++i) {
      ASSERT_NE(endings[i].error, nullptr);
      EXPECT_EQ(endings[i].stopped, i != victim);
    }
    try {
      std::rethrow_exception(endings[victim].error);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.worker, victim);
    }
  }
  EXPECT_EQ(Batch::alive.load_relaxed(), 0);
}

}  // namespace
}  // namespace leat::stress
