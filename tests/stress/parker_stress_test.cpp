// Two threads hand a ball to each other and sleep in between. A lost wake-up leaves both asleep;
// the test runner's limit on time then says so. Nothing here depends on how long anything takes.
#include <leat/core/park_mask.hpp>
#include <leat/core/parker.hpp>

#include "payload.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace leat::stress {
namespace {

constexpr auto kNothing = [] { return false; };
constexpr std::uint64_t kRounds = 20'000;

struct Side {
  struct turn : Edge {};  // the other side's move -> this side's look: seq_cst, since it may sleep

  core::Parker parker;
  Payload ball;                    // the other side's until it moves `turns`
  Atomic<std::uint64_t> turns{0};  // how often the ball came to this side
};

void send(Side& to, std::uint64_t round, bool ring) {
  to.ball = Payload::make(1, round);
  to.turns.store_seq_cst(round, Side::turn{});
  if (ring) {
    to.parker.ring();
  } else {
    to.parker.unpark();
  }
}

/// Sleeps until `turns` reaches `round`, and checks the ball.
void receive(Side& at, std::uint64_t round) {
  const auto arrived = [&] { return at.turns.load_seq_cst(Side::turn{}) >= round; };
  while (!arrived()) at.parker.park(arrived);
  EXPECT_TRUE(at.ball.is_whole());
  EXPECT_EQ(at.ball.sequence, round);
}

void play(bool ring) {
  Side left;
  Side right;
  std::thread other([&] {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      receive(right, round);
      send(left, round, ring);
    }
  });
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    send(right, round, ring);
    receive(left, round);
  }
  other.join();
}

TEST(ParkerStress, ScaffoldOnOneThread) {
  Side side;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    send(side, round, round % 2 == 0);
    receive(side, round);
  }
  EXPECT_EQ(side.parker.waits(), 0u);
}

TEST(ParkerStress, ABallThatIsRungForNeverStrands) { play(true); }

TEST(ParkerStress, ABallThatIsUnparkedForNeverStrands) { play(false); }

TEST(ParkerStress, TokensAloneAreNeverLost) {
  // No recheck: a park may end only by a token, so a token lost is a game stopped.
  core::Parker left;
  core::Parker right;
  std::uint64_t seen = 0;  // handed over by the tokens
  std::thread other([&] {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      right.park(kNothing);
      EXPECT_EQ(seen, 2 * round - 1);
      ++seen;
      left.unpark();
    }
  });
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    ++seen;
    right.unpark();
    left.park(kNothing);
    EXPECT_EQ(seen, 2 * round);
  }
  other.join();
}

TEST(ParkerStress, APublisherThatAsksTheMaskWakesEverySleeper) {
  struct publish : Edge {};  // publisher -> readers: seq_cst, against the mask
  constexpr std::size_t kReaders = 3;
  constexpr std::uint64_t kNews = 5'000;
  core::ParkMask mask(kReaders);
  core::Parker parkers[kReaders];
  Atomic<std::uint64_t> news{0};
  Atomic<std::uint64_t> answers{0};
  core::Parker publisher;
  std::vector<std::thread> readers;
  for (std::size_t reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      for (std::uint64_t round = 1; round <= kNews; ++round) {
        const auto came = [&] { return news.load_seq_cst(publish{}) >= round; };
        while (!came()) {
          mask.set(reader);
          parkers[reader].park(came);
          mask.clear(reader);
        }
        answers.fetch_add_seq_cst(1, publish{}, publish{});
        publisher.ring();
      }
    });
  }
  for (std::uint64_t round = 1; round <= kNews; ++round) {
    news.store_seq_cst(round, publish{});
    mask.for_each_parked([&](std::size_t reader) { parkers[reader].ring(); });
    const auto answered = [&] { return answers.load_seq_cst(publish{}) == kReaders * round; };
    while (!answered()) publisher.park(answered);
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace leat::stress
