#include <leat/core/options.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leat::core {
namespace {

using std::chrono::microseconds;
using Words = std::vector<std::string_view>;

ParsedArgs parsed(const Words& words) {
  Result<ParsedArgs> result = parse_args(words);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? std::move(result).value() : ParsedArgs{};
}

std::string refused(const Words& words) {
  const Result<ParsedArgs> result = parse_args(words);
  EXPECT_FALSE(result.has_value());
  return result ? "" : result.error().message;
}

TEST(Options, OfAnEmptyCommandLineAreTheDefaults) {
  const ParsedArgs args = parsed({});
  EXPECT_EQ(args.config.workers, 1U);
  EXPECT_EQ(args.config.idle_spin, microseconds(10));
  EXPECT_EQ(args.config.progress_mode, ProgressMode::demand);
  EXPECT_FALSE(args.config.report);
  EXPECT_FALSE(args.help);
  EXPECT_TRUE(args.free.empty());
}

TEST(Options, SpellTheNumberOfWorkersInManyWays) {
  for (const Words& words :
       {Words{"-w2"}, Words{"-w", "2"}, Words{"--workers", "2"}, Words{"--workers=2"},
        Words{"--threads", "2"}, Words{"--threads=2"}, Words{"-rw2"}}) {
    EXPECT_EQ(parsed(words).config.workers, 2U) << words[0];
  }
}

TEST(Options, LeaveOtherWordsToTheProgramInTheirOrder) {
  const ParsedArgs args = parsed({"1000", "-w", "2", "-", "file.txt", "", "--", "-w", "--help"});
  EXPECT_EQ(args.free, (std::vector<std::string>{"1000", "-", "file.txt", "", "-w", "--help"}));
  EXPECT_FALSE(args.help);
}

TEST(Options, SkipTheNameOfTheProgram) {
  const char* const argv[] = {"./bfs", "-w2", "10"};
  const Result<ParsedArgs> args = parse_args(3, argv);
  ASSERT_TRUE(args);
  EXPECT_EQ(args->config.workers, 2U);
  EXPECT_EQ(args->free, std::vector<std::string>{"10"});
  EXPECT_TRUE(parse_args(0, argv)->free.empty());
}

TEST(Options, SetSpinModeReportAndHolders) {
  const ParsedArgs args =
      parsed({"--idle-spin", "0", "--progress-mode=eager", "-r", "--name-holders"});
  EXPECT_EQ(args.config.idle_spin, Nanos{0});
  EXPECT_EQ(args.config.progress_mode, ProgressMode::eager);
  EXPECT_TRUE(args.config.report);
  EXPECT_TRUE(args.config.name_holders);
  EXPECT_FALSE(parsed({}).config.name_holders);
  EXPECT_EQ(parsed({"--notify", "on_done"}).config.notify, NotifyRule::on_done);
  EXPECT_EQ(parsed({"--notify=edge"}).config.notify, NotifyRule::edge);
  EXPECT_EQ(parsed({"--progress-mode", "demand"}).config.progress_mode, ProgressMode::demand);
}

TEST(Options, TakeWhatMeansOneProcess) {
  EXPECT_EQ(parsed({"-n1", "-p", "0", "-h", "hosts.txt", "-w3"}).config.workers, 3U);
  EXPECT_EQ(parsed({"--processes=0"}).config.workers, 1U);
}

TEST(Options, SayHowManyProcessesThereAreAndHowTheyMeet) {
  const Network defaults = parsed({}).config.network;
  EXPECT_EQ(defaults.processes, 1U);
  EXPECT_EQ(defaults.process, 0U);
  EXPECT_EQ(defaults.fabric, FabricKind::automatic);
  EXPECT_TRUE(defaults.hosts.empty());
  EXPECT_EQ(defaults.peer_timeout, std::chrono::seconds(10));
  EXPECT_EQ(defaults.connect_timeout, std::chrono::seconds(300));
  const ParsedArgs args =
      parsed({"-n", "4", "-p3", "--fabric=shm", "--cluster", "blue", "-z", "--secret-file", "key",
              "--insecure", "--connect-timeout=5", "--peer-timeout", "750"});
  const Network& network = args.config.network;
  EXPECT_EQ(network.processes, 4U);
  EXPECT_EQ(network.process, 3U);
  EXPECT_EQ(network.fabric, FabricKind::shm);
  EXPECT_EQ(network.cluster, "blue");
  EXPECT_EQ(network.secret_file, "key");
  EXPECT_TRUE(network.insecure);
  EXPECT_EQ(network.connect_timeout, std::chrono::seconds(5));
  EXPECT_EQ(network.peer_timeout, std::chrono::milliseconds(750));
  EXPECT_TRUE(args.config.zerocopy);
  EXPECT_FALSE(parsed({}).config.zerocopy);
  EXPECT_EQ(refused({"--fabric", "mpi"}), "--fabric: expected auto, tcp or shm, found \"mpi\"");
  EXPECT_EQ(refused({"--cluster="}), "--cluster: expected a word of 1 to 64 bytes, found \"\"");
  EXPECT_EQ(refused({"--peer-timeout", "9"}),
            "--peer-timeout: expected a whole number from 100 to 1000000000, found \"9\"");
}

// A file of the test's own, gone with it.
struct HostFile {
  explicit HostFile(const std::string& text)
      : name(testing::TempDir() + "leat_hosts_" + std::to_string(::getpid())) {
    std::ofstream(name) << text;
  }
  ~HostFile() { std::filesystem::remove(name); }
  std::string name;
};

TEST(Options, ReadAsManyLinesOfTheHostFileAsThereAreProcesses) {
  const HostFile file("a:1\n127.0.0.1:2 [::1]:2\nunix:/three\n");
  EXPECT_EQ(parsed({"-n2", "-h", file.name}).config.network.hosts,
            (std::vector<std::string>{"a:1", "127.0.0.1:2 [::1]:2"}));
  EXPECT_EQ(
      refused({"-n4", "--hostfile", file.name}),
      "--hostfile: \"" + file.name + "\": expected an address for each of 4 processes, found 3");
  EXPECT_EQ(refused({"-n2", "-h", "/no/such/file"}),
            "-h: expected a file that can be read, found \"/no/such/file\"");
  const HostFile gap("a:1\n\nb:2\n");
  EXPECT_NE(refused({"-n2", "-h", gap.name}).find("in line 2"), std::string::npos);
}

TEST(Options, AreSaidByTheEnvironmentWhereNoFlagSaysThem) {
  const auto with = [](std::map<std::string, const char*> variables, const Words& words) {
    return parse_args(words, [variables](const char* name) {
      const auto at = variables.find(name);
      return at == variables.end() ? nullptr : at->second;
    });
  };
  const auto launched = with({{"LEAT_PROCESSES", "2"},
                              {"LEAT_PROCESS", "1"},
                              {"LEAT_FABRIC", "tcp"},
                              {"LEAT_CLUSTER", "c"},
                              {"LEAT_WORKERS", "3"},
                              {"LEAT_HOSTS", "a:1,b:2"},
                              {"LEAT_LISTEN", "7"}},
                             {});
  ASSERT_TRUE(launched);
  EXPECT_EQ(launched->config.workers, 3U);
  EXPECT_EQ(launched->config.network.processes, 2U);
  EXPECT_EQ(launched->config.network.process, 1U);
  EXPECT_EQ(launched->config.network.fabric, FabricKind::tcp);
  EXPECT_EQ(launched->config.network.cluster, "c");
  EXPECT_EQ(launched->config.network.hosts, (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ(launched->config.network.listener, 7);
  const auto overridden =
      with({{"LEAT_WORKERS", "3"}, {"LEAT_FABRIC", "tcp"}}, {"-w", "1", "--fabric", "shm"});
  ASSERT_TRUE(overridden);
  EXPECT_EQ(overridden->config.workers, 1U);
  EXPECT_EQ(overridden->config.network.fabric, FabricKind::shm);
  EXPECT_EQ(with({{"LEAT_PROCESSES", "many"}}, {}).error().message,
            "LEAT_PROCESSES: expected a whole number from 0 to 65536, found \"many\"");
  EXPECT_EQ(with({{"LEAT_PROCESSES", "2"}, {"LEAT_PROCESS", "2"}}, {}).error().message,
            "LEAT_PROCESS: expected a number below that of processes, 2, found \"2\"");
}

TEST(Options, CheckTheIndexOfTheProcess) {
  EXPECT_EQ(refused({"-p", "1"}), "-p: expected a number below that of processes, 1, found \"1\"");
  EXPECT_EQ(refused({"-n2", "--process=2"}),
            "--process: expected a number below that of processes, 2, found \"2\"");
}

TEST(Options, HelpIsTheLongFlagAlone) {
  EXPECT_TRUE(parsed({"--help"}).help);
  EXPECT_TRUE(parsed({"--nonsense", "--help"}).help);
  EXPECT_FALSE(parsed({"-h", "hosts.txt"}).help);
  EXPECT_EQ(refused({"-h"}), "-h: expected a value, found the end of the command line");
}

TEST(Options, NameAnUnknownFlag) {
  EXPECT_EQ(refused({"--wrokers=2"}),
            "unknown flag \"--wrokers\": expected one of those that --help lists, or -- before "
            "words that begin with a hyphen");
  EXPECT_NE(refused({"-x"}).find("unknown flag \"-x\""), std::string::npos);
  EXPECT_NE(refused({"-5"}).find("unknown flag \"-5\""), std::string::npos);
  EXPECT_NE(refused({"-rx"}).find("unknown flag \"-rx\""), std::string::npos);
  EXPECT_NE(refused({"--work=2"}).find("unknown flag \"--work\""), std::string::npos);
}

TEST(Options, NameTheFlagTheValueAndWhatIsExpected) {
  EXPECT_EQ(refused({"-w", "two"}), "-w: expected a whole number from 1 to 4096, found \"two\"");
  EXPECT_EQ(refused({"--threads=0"}),
            "--threads: expected a whole number from 1 to 4096, found \"0\"");
  EXPECT_EQ(refused({"-w-1"}), "-w: expected a whole number from 1 to 4096, found \"-1\"");
  EXPECT_EQ(refused({"-w="}), "-w: expected a whole number from 1 to 4096, found \"=\"");
  EXPECT_EQ(refused({"--workers="}),
            "--workers: expected a whole number from 1 to 4096, found \"\"");
  EXPECT_EQ(refused({"-w", "2x"}), "-w: expected a whole number from 1 to 4096, found \"2x\"");
  EXPECT_EQ(refused({"-w", "99999999999999999999"}),
            "-w: expected a whole number from 1 to 4096, found \"99999999999999999999\"");
  EXPECT_EQ(refused({"--idle-spin=1.5"}),
            "--idle-spin: expected a whole number from 0 to 1000000000, found \"1.5\"");
  EXPECT_EQ(
      refused({"--notify", "never"}),
      "--notify: expected edge, per_message, first_then_trailing or on_done, found \"never\"");
  EXPECT_EQ(refused({"--progress-mode", "lazy"}),
            "--progress-mode: expected eager or demand, found \"lazy\"");
  EXPECT_EQ(refused({"--report=yes"}), "--report: expected no value, found \"yes\"");
  EXPECT_EQ(refused({"--hostfile="}), "--hostfile: expected the name of a file, found \"\"");
  EXPECT_EQ(refused({"--workers"}),
            "--workers: expected a value, found the end of the command line");
}

TEST(Options, RefuseAFlagGivenTwiceUnderAnyOfItsNames) {
  EXPECT_EQ(refused({"-w2", "--threads=3"}), "--threads: expected once, found again after -w");
  EXPECT_EQ(refused({"-r", "-r"}), "-r: expected once, found again");
}

TEST(Options, UsageNamesEveryFlag) {
  for (const std::string_view flag : {"-w",
                                      "--workers",
                                      "--threads",
                                      "-n",
                                      "--processes",
                                      "-p",
                                      "--process",
                                      "-h",
                                      "--hostfile",
                                      "-r",
                                      "--report",
                                      "-z",
                                      "--zerocopy",
                                      "--progress-mode",
                                      "--idle-spin",
                                      "--notify",
                                      "--name-holders",
                                      "--fabric",
                                      "--cluster",
                                      "--secret-file",
                                      "--insecure",
                                      "--connect-timeout",
                                      "--peer-timeout",
                                      "--help"}) {
    EXPECT_NE(usage().find(flag), std::string_view::npos) << flag;
  }
}

}  // namespace
}  // namespace leat::core
