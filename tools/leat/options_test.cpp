#include "options.hpp"

#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <vector>

namespace leat::tool {
namespace {

Command parsed(std::initializer_list<std::string_view> words) {
  const std::vector<std::string_view> list(words);
  auto result = parse_command(list);
  if (const auto* failure = std::get_if<Failure>(&result)) {
    ADD_FAILURE() << failure->message;
    return ShowVersion{};
  }
  return std::get<Command>(std::move(result));
}

RunPackages run(std::initializer_list<std::string_view> options) {
  std::vector<std::string_view> list{"run", "packages"};
  list.insert(list.end(), options.begin(), options.end());
  auto result = parse_command(list);
  if (const auto* failure = std::get_if<Failure>(&result)) {
    ADD_FAILURE() << failure->message;
    return {};
  }
  return std::get<RunPackages>(std::get<Command>(std::move(result)));
}

std::string refused(std::initializer_list<std::string_view> words) {
  const std::vector<std::string_view> list(words);
  auto result = parse_command(list);
  const auto* failure = std::get_if<Failure>(&result);
  if (failure == nullptr) return "accepted";
  EXPECT_EQ(failure->code, ExitCode::usage);
  return failure->message;
}

TEST(Options, HaveDefaultsThatWork) { EXPECT_EQ(run({}), RunPackages{}); }

TEST(Options, TakeValuesInBothSpellings) {
  RunPackages expected;
  expected.top = 5;
  expected.format = Format::json;
  expected.workers = 3;
  expected.idle_spin = std::chrono::microseconds(0);
  expected.input = "-";
  expected.graph = "flow.svg";
  EXPECT_EQ(run({"--top", "5", "--format", "json", "--workers", "3", "--idle-spin", "0", "--input",
                 "-", "--graph", "flow.svg"}),
            expected);
  EXPECT_EQ(run({"--top=5", "--format=json", "--workers=3", "--idle-spin=0", "--input=-",
                 "--graph=flow.svg"}),
            expected);
}

TEST(Options, WorkersHaveThreeNames) {
  EXPECT_EQ(run({"-w", "4"}).workers, 4U);
  EXPECT_EQ(run({"-w4"}).workers, 4U);
  EXPECT_EQ(run({"--threads", "4"}).workers, 4U);
  EXPECT_EQ(run({"--workers", "4"}).workers, 4U);
}

TEST(Options, WithoutTakesAllWordsUpToTheNextOption) {
  const RunPackages asked = run({"--without", "libc6", "perl-base", "--top", "3"});
  EXPECT_EQ(asked.without, (std::vector<std::string>{"libc6", "perl-base"}));
  EXPECT_EQ(asked.top, 3U);
  EXPECT_EQ(run({"--without=a", "b", "--without", "c"}).without,
            (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Options, WhyTakesTwoPackages) {
  const RunPackages asked = run({"--why", "git", "libc6"});
  EXPECT_EQ(asked.why, (std::pair<std::string, std::string>("git", "libc6")));
}

TEST(Options, HelpAndVersionAreCommands) {
  EXPECT_EQ(parsed({"--help"}), Command(ShowHelp{false}));
  EXPECT_EQ(parsed({"run", "--help"}), Command(ShowHelp{true}));
  EXPECT_EQ(parsed({"run", "packages", "--help"}), Command(ShowHelp{true}));
  EXPECT_EQ(parsed({"--version"}), Command(ShowVersion{}));
}

TEST(Options, RefuseWhatTheyDoNotKnow) {
  EXPECT_EQ(refused({}),
            "expected a command, found nothing. Try: leat run packages, or leat --help");
  EXPECT_EQ(refused({"walk"}), "unknown command \"walk\". Try: leat run packages, or leat --help");
  EXPECT_EQ(refused({"--fast"}), "unknown option \"--fast\". Try: leat --help");
  EXPECT_EQ(refused({"run"}),
            "run expects the name of a job, found nothing. Try: leat run packages");
  EXPECT_EQ(refused({"run", "words"}), "unknown job \"words\". Try: leat run packages");
  EXPECT_EQ(refused({"run", "packages", "--fast=1"}),
            "unknown option \"--fast\". Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "-h"}), "unknown option \"-h\". Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "libc6"}),
            "unexpected word \"libc6\" after \"leat run packages\". Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "--", "libc6"}),
            "unexpected word \"libc6\" after \"leat run packages\". Try: leat run --help");
}

TEST(Options, RefuseBadValuesByName) {
  EXPECT_EQ(refused({"run", "packages", "--top", "many"}),
            "option --top expects a number from 1 to 4294967295, found \"many\". Try: leat run "
            "--help");
  EXPECT_EQ(
      refused({"run", "packages", "--top=0"}),
      "option --top expects a number from 1 to 4294967295, found \"0\". Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "--workers", "-1"}),
            "option --workers expects a number from 1 to 1024, found \"-1\". Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "-w", "2x"}),
            "option -w expects a number from 1 to 1024, found \"2x\". Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "--top"}),
            "option --top expects a number from 1 to 4294967295, found nothing. Try: leat run "
            "--help");
  EXPECT_EQ(refused({"run", "packages", "--format", "xml"}),
            "option --format expects table, json or csv, found \"xml\". Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "--graph", "flow.png"}),
            "option --graph expects a file name that ends in .dot, .gv or .svg, found "
            "\"flow.png\". Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "--without"}),
            "option --without expects a package, found nothing. Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "--without", "--top", "3"}),
            "option --without expects a package, found \"--top\". Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "--why", "git"}),
            "option --why expects two packages, the one that breaks and the one it breaks without, "
            "found \"git\". Try: leat run --help");
  EXPECT_EQ(refused({"run", "packages", "--why", "a", "b", "--without", "c"}),
            "--why and --without ask different questions: give one of them. Try: leat run --help");
}

}  // namespace
}  // namespace leat::tool
