#include "launch/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leat::tool {
namespace {

using Words = std::vector<std::string_view>;

RunLaunch launch_of(const Words& words) {
  const auto parsed = parse_launch(words);
  const auto* const run = std::get_if<RunLaunch>(&parsed);
  EXPECT_NE(run, nullptr);
  return run != nullptr ? *run : RunLaunch{};
}
std::string refusal_of(const Words& words) {
  const auto parsed = parse_launch(words);
  const auto* const failure = std::get_if<Failure>(&parsed);
  EXPECT_NE(failure, nullptr);
  return failure != nullptr ? failure->message : "";
}

TEST(Launch, StartsTwoProcessesInSharedMemoryUnlessToldOtherwise) {
  const RunLaunch run = launch_of({"prog", "-n", "7"});
  EXPECT_EQ(run.processes, 2U);
  EXPECT_EQ(run.workers, 0U);
  EXPECT_EQ(run.fabric, "shm");
  EXPECT_EQ(run.program, (std::vector<std::string>{"prog", "-n", "7"}));
}

TEST(Launch, TakesItsOptionsInManySpellings) {
  for (const Words& words :
       {Words{"-n4", "-w", "2", "--fabric=tcp", "--plain", "--", "p", "--"},
        Words{"--processes=4", "--workers", "2", "--fabric", "tcp", "--plain", "p", "--"}}) {
    const RunLaunch run = launch_of(words);
    EXPECT_EQ(run.processes, 4U);
    EXPECT_EQ(run.workers, 2U);
    EXPECT_EQ(run.fabric, "tcp");
    EXPECT_TRUE(run.is_plain);
    EXPECT_EQ(run.program, (std::vector<std::string>{"p", "--"}));
  }
  EXPECT_TRUE(std::holds_alternative<ShowLaunchHelp>(parse_launch(Words{"-n", "3", "--help"})));
}

TEST(Launch, SaysWhatItDoesNotUnderstand) {
  EXPECT_EQ(refusal_of({}), "expected a program to start, found nothing. Try: leat launch --help");
  EXPECT_NE(refusal_of({"-n", "0", "p"}).find("whole number from 1"), std::string::npos);
  EXPECT_NE(refusal_of({"-n"}).find("expects a value"), std::string::npos);
  EXPECT_NE(refusal_of({"--fabric", "mpi", "p"}).find("shm or tcp"), std::string::npos);
  EXPECT_NE(refusal_of({"--grace", "p"}).find("unknown option"), std::string::npos);
}

}  // namespace
}  // namespace leat::tool
