#include <leat/actor/preempt/turn.hpp>

#include <leat/actor/fiber/test_carousel.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <exception>
#include <string>

namespace leat::actor {
namespace {

constexpr PreemptKnobs kEachLook{.alloc_interval = 10, .timeslice_cycles = 0};

// Two bodies that write their letter before each of `passes` checkpoints.
std::string letters(const PreemptKnobs& knobs, int passes) {
  Carousel carousel;
  carousel.preempt_by(knobs);
  std::string written;
  written.reserve(1000);
  for (const char letter : {'a', 'b'}) {
    carousel.add([&written, letter, passes] {
      for (int i = 0; i < passes; ++i) {
        written += letter;
        checkpoint();
      }
    });
  }
  carousel.run();
  return written;
}

TEST(Turn, IsCutShortAtEachLookIfSlicesHaveNoLength) {
  EXPECT_EQ(letters({.alloc_interval = 3, .timeslice_cycles = 0}, 6), "aaabbbaaabbb");
}

TEST(Turn, IsNeverCutShortWithoutAnInterval) {
  EXPECT_EQ(letters({.alloc_interval = 0, .timeslice_cycles = 0}, 4), "aaaabbbb");
}

TEST(Turn, LastsAsLongAsItsSlice) {
  EXPECT_EQ(letters({.alloc_interval = 1, .timeslice_cycles = std::uint64_t{1} << 62}, 4),
            "aaaabbbb");
}

TEST(Turn, EndsWhenTheTickHasMoved) {
  Ticks ticks{7};
  Carousel carousel;
  carousel.preempt_by({.alloc_interval = 1, .ticks = &ticks});
  std::string written;
  for (const char letter : {'a', 'b'}) {
    carousel.add([&, letter] {
      for (int i = 0; i < 6; ++i) {
        written += letter;
        if (i % 3 == 2) ticks.fetch_add_relaxed(1);
        checkpoint();
      }
    });
  }
  carousel.run();
  EXPECT_EQ(written, "aaabbbaaabbb");
}

TEST(Turn, LooksEachIntervalOfEdges) {
  Carousel carousel;
  carousel.preempt_by({.alloc_interval = 0, .edge_interval = 64, .timeslice_cycles = 0});
  std::string written;
  for (const char letter : {'a', 'b'}) {
    carousel.add([&, letter] {
      for (int i = 0; i < 128; ++i) {
        if (i % 64 == 0) written += letter;
        turn().count_edge();
      }
    });
  }
  carousel.run();
  EXPECT_EQ(written, "abab");
}

TEST(Turn, GoesOnWhileSomethingHolds) {
  Carousel carousel;
  carousel.preempt_by(kEachLook);
  std::string written;
  for (const char letter : {'a', 'b'}) {
    carousel.add([&, letter] {
      const NoPreempt outer;
      {
        const NoPreempt inner;  // scopes nest
        EXPECT_EQ(turn().held(), 2U);
      }
      for (int i = 0; i < 50; ++i) checkpoint();
      written += letter;
    });
  }
  carousel.run();
  EXPECT_EQ(written, "ab");
}

TEST(Turn, GoesOnWhileAnExceptionIsInFlight) {
  Carousel carousel;
  carousel.preempt_by(kEachLook);
  std::string written;
  struct Allocates {
    std::string& to;
    char letter;
    ~Allocates() {
      for (int i = 0; i < 50; ++i) checkpoint();
      to += letter;
    }
  };
  for (const char letter : {'a', 'b'}) {
    carousel.add([&, letter] {
      try {
        const Allocates allocates{written, letter};
        throw 1;
      } catch (int) {
        written += letter;
      }
    });
  }
  carousel.run();
  EXPECT_EQ(written, "aabb");
}

TEST(Turn, GoesOnInASignalHandler) {
  struct sigaction before{};
  struct sigaction action{};
  action.sa_handler = [](int) {
    for (int i = 0; i < 50; ++i) checkpoint();
  };
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  Carousel carousel;
  carousel.preempt_by(kEachLook);
  std::string written;
  for (const char letter : {'a', 'b'}) {
    carousel.add([&, letter] {
      std::raise(SIGUSR1);
      written += letter;
    });
  }
  carousel.run();
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(written, "ab");
}

TEST(Turn, GoesOnInTheChildOfAFork) {
  Carousel carousel;
  carousel.preempt_by(kEachLook);
  bool second_ran = false;
  carousel.add([&] {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0; i < 50; ++i) checkpoint();
      ::_exit(second_ran ? 1 : 0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
  carousel.add([&] { second_ran = true; });
  carousel.run();
}

TEST(Turn, GoesOnOnAPlainThread) {
  // Counts, and wraps; there is nobody to yield to.
  for (int i = 0; i < 1000; ++i) checkpoint();
  const NoPreempt held;
  EXPECT_GT(turn().held(), Turn::kScheduler);
}

TEST(Turn, CountsWhatWasDone) {
  Carousel carousel;
  carousel.preempt_by({.alloc_interval = 10, .timeslice_cycles = std::uint64_t{1} << 62});
  carousel.add([&] {
    for (int i = 0; i < 37; ++i) checkpoint();
    carousel.yield();
    for (int i = 0; i < 5; ++i) checkpoint();
  });
  carousel.run();
  EXPECT_EQ(carousel.reductions(), 42U);
}

TEST(Turn, GoesByTheKnobsOfItsRuntimeAlsoInside) {
  // A runtime that is run by an actor of another one: the outer's knobs come back.
  Carousel outer;
  outer.preempt_by({.alloc_interval = 4, .timeslice_cycles = 0});
  std::string written;
  outer.add([&] {
    const std::uint32_t held = turn().held();
    {
      const NoPreempt here;
      written += letters({.alloc_interval = 2, .timeslice_cycles = 0}, 4);
    }
    EXPECT_EQ(turn().held(), held);
    for (int i = 0; i < 8; ++i) {
      written += '1';
      checkpoint();
    }
  });
  outer.add([&] { written += '2'; });
  outer.run();
  EXPECT_EQ(written.substr(0, 8), "aabbaabb");
  EXPECT_EQ(written.substr(8), "111121111");
}

}  // namespace
}  // namespace leat::actor
