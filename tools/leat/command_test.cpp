#include "command.hpp"

#include "oracle.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace leat::tool {
namespace {

namespace fs = std::filesystem;

std::uint32_t count_others(const std::vector<Distance>& distance) {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(distance, [](Distance d) { return d != 0 && d != kUnbroken; }));
}

/// Stands in for the dataflow: the same numbers, computed the plain way.
Result<Computed> compute_plainly(const DependencyGraph& graph, const ComputeOptions& options,
                                 Progress& progress) {
  progress.tell({graph.edges(), 1, "2"});
  Computed computed;
  computed.figures = {options.workers, 1, graph.edges(), 0, Nanos{1000}};
  for (const NodeId node : options.without) {
    Answer answer{node, {}, Nanos{1000}};
    const auto distance = oracle::breakage(graph, std::span(&node, 1));
    for (NodeId other = 0; other < graph.nodes(); ++other) {
      if (distance[other] != 0 && distance[other] != kUnbroken) {
        answer.broken.push_back({other, distance[other]});
      }
    }
    std::ranges::sort(answer.broken, [](const Breakage& a, const Breakage& b) {
      return std::pair(a.distance, a.node) < std::pair(b.distance, b.node);
    });
    computed.answers.push_back(std::move(answer));
  }
  if (!options.without.empty()) return computed;

  const auto page_rank = oracle::page_rank(graph);
  const auto breaks = oracle::breaks_of_all(graph);
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    const auto reach = oracle::reach(graph, std::span(&node, 1));
    computed.ranking.push_back({node, page_rank.rank[node], breaks[node], count_others(reach)});
  }
  std::ranges::sort(computed.ranking, [](const RankedNode& a, const RankedNode& b) {
    return std::tuple(b.breaks, b.page_rank, a.node) < std::tuple(a.breaks, a.page_rank, b.node);
  });
  computed.ranking.resize(std::min(computed.ranking.size(), options.top));
  computed.page_rank_rounds = page_rank.rounds;
  computed.components = 1;
  computed.largest_component = graph.nodes();
  computed.flow = {{{"rank", ""}}, {}};
  return computed;
}

class RunPackagesTest : public testing::Test {
 protected:
  RunPackagesTest()
      : root_(fs::path(testing::TempDir()) /
              ("leat_command_" + std::to_string(::getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(root_ / "lists");
    std::ofstream(root_ / "lists" / "a_Packages")
        << "Package: app\nVersion: 1\nDepends: gawk | mawk, libc (>= 2)\n\n"
           "Package: gawk\nVersion: 1\nDepends: libc\nProvides: awk\n\n"
           "Package: libc\nVersion: 2\n\n"
           "Package: libc\nVersion: 1\nDepends: app\n\n"
           "Package: mawk\nVersion: 1\nDepends: libc\nProvides: awk\n";
  }
  ~RunPackagesTest() override { fs::remove_all(root_); }

  Outcome run(const RunPackages& options, const Compute& compute = compute_plainly) {
    const SettableClock clock;
    Progress progress({.utf8 = false}, [this](std::string_view text) { shown_ += text; }, clock);
    return run_packages(options, {root_ / "lists", root_ / "status"}, Look{}, Look{}, progress,
                        compute);
  }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name) << text;
    return (root_ / name).string();
  }

  fs::path root_;
  std::string shown_;
};

TEST_F(RunPackagesTest, RanksByWhatBreaks) {
  RunPackages options;
  options.format = Format::csv;
  options.top = 2;
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.code, ExitCode::ok);
  EXPECT_TRUE(outcome.out.starts_with("rank,package,breaks,reaches,page_rank_ppm\n1,libc,3,3,"))
      << outcome.out;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 3);
  EXPECT_TRUE(outcome.err.starts_with("read 0.00 us | graph 0.00 us | compute 0.00 us\n"))
      << outcome.err;
  EXPECT_NE(outcome.err.find("1 round"), std::string::npos);
}

TEST_F(RunPackagesTest, OfSeveralProcessesTheFirstOneSaysWhatCameOfIt) {
  RunPackages options;
  options.format = Format::csv;
  options.processes = 2;
  std::size_t workers = 0;
  const Compute compute = [&](const DependencyGraph& graph, const ComputeOptions& asked,
                              Progress& progress) {
    workers = asked.workers;
    auto computed = compute_plainly(graph, asked, progress);
    computed->figures.processes = 2;
    return computed;
  };
  options.workers = 3;
  const Outcome first = run(options, compute);
  EXPECT_EQ(workers, 3U);
  EXPECT_NE(first.err.find("3 workers in 2 processes"), std::string::npos) << first.err;
  EXPECT_FALSE(first.out.empty());
  options.process = 1;
  const Outcome second = run(options, compute);
  EXPECT_EQ(second.code, ExitCode::ok);
  EXPECT_EQ(second.out + second.err, "");
  // Who failed says so, whoever it is.
  options.without = {"gwak"};
  EXPECT_NE(run(options, compute).err, "");
  options.without = {};
  options.input = "-";
  EXPECT_EQ(run(options, compute).code, ExitCode::usage);
}

TEST_F(RunPackagesTest, AnswersWithoutAndWhy) {
  RunPackages options;
  options.without = {"libc", "gawk"};
  options.format = Format::csv;
  EXPECT_EQ(run(options).out, "without,distance,package\nlibc,1,app\nlibc,1,gawk\nlibc,1,mawk\n");

  RunPackages why;
  why.why = {"app", "libc"};
  EXPECT_EQ(run(why).out, "app breaks without libc:\n  app needs libc\n");
  why.why = {"app", "gawk"};
  EXPECT_EQ(run(why).out, "app does not break without gawk\n");
}

TEST_F(RunPackagesTest, RefusesUnknownNamesBeforeItComputes) {
  const Compute never = [](const DependencyGraph&, const ComputeOptions&,
                           Progress&) -> Result<Computed> {
    ADD_FAILURE() << "computed";
    return Computed{};
  };
  RunPackages options;
  options.without = {"libc", "gwak"};
  const Outcome outcome = run(options, never);
  EXPECT_EQ(outcome.code, ExitCode::usage);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "leat: no package is called \"gwak\". Did you mean gawk? Nothing was computed.\n");
  options.without = {"awk"};
  EXPECT_EQ(
      run(options, never).err,
      "leat: \"awk\" is no package but a name that 2 packages provide. Name one of them: gawk "
      "or mawk. Nothing was computed.\n");
}

TEST_F(RunPackagesTest, RanksAnEdgeListAndBoundsItsCandidates) {
  RunPackages options;
  options.input = file("edges.txt", "a c\nb c\n");
  options.format = Format::csv;
  options.top = 1;
  std::optional<std::size_t> candidates;
  const Outcome outcome = run(
      options, [&](const DependencyGraph& graph, const ComputeOptions& asked, Progress& progress) {
        candidates = asked.candidates;
        return compute_plainly(graph, asked, progress);
      });
  EXPECT_TRUE(outcome.out.starts_with("rank,node,breaks,reaches,page_rank_ppm\n1,c,2,2,"));
  EXPECT_EQ(candidates, 64U);
}

TEST_F(RunPackagesTest, NamesTheLineThatIsNoEdge) {
  RunPackages options;
  options.input = file("edges.txt", "a b\nlibc6\n");
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.code, ExitCode::data);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, *options.input +
                             ":2: expected \"FROM TO\", found \"libc6\" (1 column). Lines starting "
                             "with # are skipped. Nothing was computed.\n");
}

TEST_F(RunPackagesTest, SaysWhyAFileCannotBeRead) {
  RunPackages options;
  options.input = (root_ / "absent").string();
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.code, ExitCode::runtime);
  EXPECT_EQ(outcome.err,
            "leat: " + *options.input +
                ": cannot be read: No such file or directory. Nothing was computed.\n");
}

TEST_F(RunPackagesTest, PrintsNothingIfAWorkerFails) {
  const Outcome outcome =
      run({}, [](const DependencyGraph&, const ComputeOptions&, Progress&) -> Result<Computed> {
        return Error{"operator \"rank\" failed: out of luck"};
      });
  EXPECT_EQ(outcome.code, ExitCode::runtime);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "leat: operator \"rank\" failed: out of luck\n");
}

TEST_F(RunPackagesTest, WritesThePictureOfTheDataflow) {
  RunPackages options;
  options.graph = (root_ / "flow.dot").string();
  EXPECT_EQ(run(options).code, ExitCode::ok);
  EXPECT_TRUE(fs::exists(*options.graph));
  options.graph = (root_ / "absent" / "flow.dot").string();
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.code, ExitCode::runtime);
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace leat::tool
