#include "progress.hpp"

#include <gtest/gtest.h>
#include <string>

namespace leat::tool {
namespace {

using namespace std::chrono_literals;

struct Display {
  explicit Display(Progress::Style style)
      : progress(style, [this](std::string_view bytes) { shown += bytes; }, clock) {}

  /// What was written since the last look.
  std::string look() { return std::exchange(shown, {}); }

  std::string shown;
  SettableClock clock;
  Progress progress;
};

TEST(ProgressText, ShowsWhatIsKnown) {
  EXPECT_EQ(progress_text("read", {}, 370ms), "read 0.4 s");
  EXPECT_EQ(progress_text("compute", {3120445, 27, "28"}, 1400ms),
            "compute 1.4 s · 3 120 445 records in · iteration 27 · frontier 28 · 2.2 M records/s");
}

TEST(ProgressText, PutsNumbersForPeople) {
  EXPECT_EQ(duration_text(4130ns), "4.13 µs");
  EXPECT_EQ(duration_text(870us), "870 µs");
  EXPECT_EQ(duration_text(12345us), "12.3 ms");
  EXPECT_EQ(duration_text(370ms), "0.37 s");
  EXPECT_EQ(duration_text(41234ms), "41.2 s");
  EXPECT_EQ(scaled_text(950), "950");
  EXPECT_EQ(scaled_text(12345), "12.3 k");
  EXPECT_EQ(scaled_text(999999), "1.0 M");
  EXPECT_EQ(scaled_text(4.1e6), "4.1 M");
  EXPECT_EQ(scaled_text(2e9), "2.0 G");
}

TEST(Progress, RedrawsOneLineAndWipesTheRest) {
  Display display({.redraw = true, .columns = 80});
  display.progress.enter("compute");
  EXPECT_EQ(display.look(), "\rcompute 0.0 s");
  display.progress.tell({1000, 1, ""});
  EXPECT_EQ(display.look(), "");  // telling draws nothing
  display.clock.advance(50ms);
  display.progress.tick();
  EXPECT_EQ(display.look(), "");  // not due
  display.clock.advance(950ms);
  display.progress.tick();
  EXPECT_EQ(display.look(), "\rcompute 1.0 s · 1 000 records in · iteration 1 · 1.0 k records/s");
  display.progress.enter("write");
  const std::string shorter = display.look();
  EXPECT_TRUE(shorter.starts_with("\rwrite 0.0 s ")) << shorter;
  EXPECT_TRUE(shorter.ends_with(" \b") || shorter.ends_with("\b\b"));
  display.progress.stop();
  EXPECT_EQ(display.look(), "\r" + std::string(11, ' ') + "\r");
}

TEST(Progress, NeverWrapsTheLine) {
  Display display({.redraw = true, .columns = 12});
  display.progress.enter("a phase with a long name");
  EXPECT_EQ(display.look(), "\ra phase wit");
}

TEST(Progress, WritesALineEveryFiveSecondsWhereNothingCanBeRedrawn) {
  Display display({.redraw = false});
  display.progress.enter("read");
  display.clock.advance(4s);
  display.progress.tick();
  display.progress.enter("graph");
  EXPECT_EQ(display.look(), "");
  display.clock.advance(1s);
  display.progress.tick();
  EXPECT_EQ(display.look(), "graph 1.0 s\n");
  display.clock.advance(4999ms);
  display.progress.tick();
  EXPECT_EQ(display.look(), "");
  display.clock.advance(1ms);
  display.progress.tick();
  EXPECT_EQ(display.look(), "graph 6.0 s\n");
  display.progress.stop();
  EXPECT_EQ(display.look(), "");
}

TEST(Progress, IsSilentAfterStop) {
  Display display({.redraw = true});
  display.progress.enter("compute");
  display.progress.stop();
  (void)display.look();
  display.progress.tell({1, 1, "1"});
  display.clock.advance(1s);
  display.progress.tick();
  display.progress.stop();
  EXPECT_EQ(display.look(), "");
}

TEST(Progress, RemembersWhatEachPhaseTook) {
  Display display({.redraw = false});
  display.progress.enter("read");
  display.clock.advance(370ms);
  display.progress.enter("graph");
  display.clock.advance(40ms);
  display.progress.stop();
  display.clock.advance(9s);
  EXPECT_EQ(display.progress.timings(), "read 0.37 s · graph 40.0 ms");
}

TEST(Progress, SpeaksAsciiWhereThatIsAllThereIs) {
  Display display({.redraw = true, .columns = 80, .utf8 = false});
  display.progress.enter("read");
  display.progress.tell({5, 2, ""});
  display.clock.advance(1s);
  display.progress.tick();
  EXPECT_EQ(display.look(), "\rread 0.0 s\rread 1.0 s | 5 records in | iteration 2 | 5 records/s");
  display.clock.set(display.clock.now() + 1us);
  display.progress.enter("x");
  display.clock.advance(5us);
  display.progress.stop();
  EXPECT_EQ(display.progress.timings(), "read 1.00 s | x 5.00 us");
}

TEST(ProgressTicker, EndsAtOnce) {
  Display display({.redraw = true});
  display.progress.enter("read");
  {
    const ProgressTicker ticker(display.progress);
  }
  display.progress.stop();
}

}  // namespace
}  // namespace leat::tool
