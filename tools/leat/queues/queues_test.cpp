#include "queues/options.hpp"
#include "queues/run.hpp"
#include "queues/text.hpp"

#include <leat/core/segment/test_segments.hpp>
#include <leat/queue/ring/in_segment.hpp>

#include <gtest/gtest.h>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace leat::tool {
namespace {

using namespace std::chrono_literals;

std::variant<RunQueues, ShowQueuesHelp, Failure> parsed(
    std::initializer_list<std::string_view> words) {
  const std::vector<std::string_view> list(words);
  return parse_queues(list);
}

std::string refused(std::initializer_list<std::string_view> words) {
  const auto result = parsed(words);
  const auto* const failure = std::get_if<Failure>(&result);
  return failure != nullptr ? failure->message : "accepted";
}

TEST(QueuesOptions, ListIsWhatIsMeantWithoutAWord) {
  EXPECT_EQ(std::get<RunQueues>(parsed({})), RunQueues{});
  EXPECT_TRUE(std::holds_alternative<ShowQueuesHelp>(parsed({"--help"})));
}

TEST(QueuesOptions, TakeValuesInBothSpellings) {
  RunQueues expected;
  expected.action = RunQueues::Action::tail;
  expected.name = "quotes";
  expected.space = "eu";
  expected.base = "/x";
  expected.json = true;
  expected.interval = 250ms;
  expected.count = 3;
  expected.from_oldest = true;
  EXPECT_EQ(std::get<RunQueues>(parsed({"tail", "eu/quotes", "--base", "/x", "--json", "--interval",
                                        "250ms", "--count", "3", "--from", "oldest"})),
            expected);
  EXPECT_EQ(std::get<RunQueues>(parsed({"tail", "quotes", "--space=eu", "--base=/x", "--json",
                                        "--interval=0.25s", "--count=3", "--from=oldest"})),
            expected);
}

TEST(QueuesOptions, SayWhatIsWrong) {
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(refused({"lsit"}), "unknown command \"lsit\"");
  says(refused({"--jsno"}), "unknown option \"--jsno\"");
  says(refused({"inspect"}), "leat queues inspect expects the name of a segment");
  says(refused({"inspect", "a", "b"}), "unexpected word \"b\"");
  says(refused({"watch", "--interval", "5"}), "expects a time of 1ms or more");
  says(refused({"watch", "--count", "0"}), "expects a number from 1 on");
  says(refused({"watch", "--count"}), "found nothing");
  says(refused({"list", "--force"}), "--force is for leat queues clean");
  says(refused({"list", "--json=yes"}), "takes no value");
  says(refused({"tail", "a", "--from=here"}), "expects oldest or latest");
}

class QueuesTest : public testing::Test {
 protected:
  QueuesTest() {
    std::string pattern = "/dev/shm/leat-test-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  ~QueuesTest() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] core::SegmentName name(const std::string& of) const { return {of, "eu", folder}; }

  [[nodiscard]] queue::Ring<std::uint64_t> ring() const {
    auto made = queue::create_ring<std::uint64_t>(name("quotes"), {.slots = 8});
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return *std::move(made);
  }

  ExitCode run(std::initializer_list<std::string_view> words) {
    std::vector<std::string_view> list(words);
    const std::string base = "--base=" + folder.string();
    list.push_back(base);
    const auto options = parse_queues(list);
    out.clear();
    err.clear();
    QueuesWorld world{clock, [this](std::string_view text) { out += text; },
                      [this](std::string_view text) { err += text; },
                      [this](Nanos time) {
                        clock.advance(time);
                        if (meanwhile) meanwhile();
                      }};
    return run_queues(std::get<RunQueues>(options), world);
  }

  bool printed(const std::string& part) const { return out.find(part) != std::string::npos; }

  std::filesystem::path folder;
  SettableClock clock;
  std::string out;
  std::string err;
  std::function<void()> meanwhile;
};

TEST_F(QueuesTest, ListsNothingWhereNothingIs) {
  EXPECT_EQ(run({"list"}), ExitCode::ok);
  EXPECT_EQ(out, "no segments\n");
  EXPECT_EQ(run({"list", "--json"}), ExitCode::ok);
  EXPECT_EQ(out, "[]\n");
}

TEST_F(QueuesTest, ListsWhatIsThereAndWhatIsDamaged) {
  auto quotes = ring();
  auto producer = quotes.single_producer("feed");
  ASSERT_TRUE(producer);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(producer->try_push(i), queue::Push::ok);
  std::ofstream(folder / "eu" / "broken") << "something else";
  EXPECT_EQ(run({"list"}), ExitCode::ok);
  EXPECT_TRUE(printed("eu/broken")) << out;
  EXPECT_TRUE(printed("damaged")) << out;
  EXPECT_TRUE(printed("eu/quotes")) << out;
  EXPECT_TRUE(printed("ring spmc")) << out;
  EXPECT_TRUE(printed("in use")) << out;
  EXPECT_EQ(run({"list", "--json", "--space", "eu"}), ExitCode::ok);
  EXPECT_TRUE(printed("\"written\": 5")) << out;
  EXPECT_TRUE(printed("\"type_bytes\": 8")) << out;
  EXPECT_TRUE(printed("\"trouble\": ")) << out;
}

TEST_F(QueuesTest, InspectsEndsAndGroups) {
  auto quotes = ring();
  auto producer = quotes.single_producer("feed");
  auto consumer = quotes.consumer({.label = "book"});
  auto member = quotes.member("workers");
  ASSERT_TRUE(producer && consumer && member);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(producer->try_push(i), queue::Push::ok);
  EXPECT_EQ(run({"inspect", "eu/quotes"}), ExitCode::ok);
  EXPECT_TRUE(printed("producer")) << out;
  EXPECT_TRUE(printed("book")) << out;
  EXPECT_TRUE(printed("workers")) << out;
  EXPECT_TRUE(printed("alive")) << out;
  EXPECT_EQ(run({"inspect", "eu/quotes", "--json"}), ExitCode::ok);
  EXPECT_TRUE(printed("\"name\": \"workers\", \"next\": 0, \"done\": 0, \"lag\": 5")) << out;
  EXPECT_EQ(run({"inspect", "eu/none"}), ExitCode::runtime);
  EXPECT_NE(err.find("found no segment of that name"), std::string::npos) << err;
}

// What nobody finishes, and whose it is: a slow one's, or a dead one's.
TEST_F(QueuesTest, SaysWhoIsWritingWhat) {
  auto quotes = queue::create_ring<std::uint64_t>(
      name("quotes"), {.kind = queue::RingKind::many_producers, .slots = 8});
  ASSERT_TRUE(quotes);
  {
    core::ChildProcess child([&](const core::ChildProcess& self) {
      auto theirs = queue::join_ring<std::uint64_t>(name("quotes"));
      auto producer = theirs->shared_producer("feed");
      const auto batch = producer->reserve(2);
      self.say('w');
      core::ChildProcess::wait_for_ever();
    });
    ASSERT_EQ(child.listen(), 'w');
    EXPECT_EQ(run({"inspect", "eu/quotes"}), ExitCode::ok);
    EXPECT_TRUE(printed("producer, writing 0 to 1")) << out;
    EXPECT_FALSE(printed("dead)")) << out;
  }
  EXPECT_EQ(run({"inspect", "eu/quotes"}), ExitCode::ok);
  EXPECT_TRUE(printed("producer, writing 0 to 1")) << out;
  EXPECT_TRUE(printed("dead)")) << out;
  EXPECT_EQ(run({"inspect", "eu/quotes", "--json"}), ExitCode::ok);
  EXPECT_TRUE(printed("\"writing_first\": 0, \"writing_count\": 2")) << out;
}

TEST_F(QueuesTest, WatchesRates) {
  auto quotes = ring();
  auto producer = quotes.single_producer("feed");
  ASSERT_TRUE(producer);
  std::uint64_t next = 0;
  meanwhile = [&] {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(producer->try_push(next++), queue::Push::ok);
  };
  EXPECT_EQ(run({"watch", "--count", "2", "--interval", "500ms"}), ExitCode::ok);
  EXPECT_TRUE(printed("40 /s")) << out;
  EXPECT_EQ(run({"watch", "--count", "2", "--json"}), ExitCode::ok);
  EXPECT_TRUE(printed("\"messages_per_second\": 20")) << out;
}

TEST_F(QueuesTest, FollowsMessagesAndSaysWhatWasGone) {
  auto quotes = ring();
  auto producer = quotes.single_producer("feed");
  ASSERT_TRUE(producer);
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(producer->try_push(0x4100 + i), queue::Push::ok);
  }
  EXPECT_EQ(run({"tail", "eu/quotes", "--from", "oldest", "--count", "2"}), ExitCode::ok);
  EXPECT_EQ(out, "2  02 41 00 00 00 00 00 00  .A......\n3  03 41 00 00 00 00 00 00  .A......\n");
  bool pushed = false;
  meanwhile = [&] {
    if (!std::exchange(pushed, true)) {
      EXPECT_EQ(producer->try_push(0x42), queue::Push::ok);
    } else {
      for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(producer->try_push(i), queue::Push::ok);
    }
  };
  EXPECT_EQ(run({"tail", "eu/quotes", "--json", "--count", "2"}), ExitCode::ok);
  EXPECT_TRUE(printed("{\"sequence\": 10, \"bytes\": \"4200000000000000\"}\n")) << out;
  EXPECT_NE(err.find("messages were gone before"), std::string::npos) << err;
}

TEST_F(QueuesTest, CleansWhatIsDeadAndRefusesTheLiving) {
  auto quotes = std::optional(ring());
  {
    const auto gone = queue::create_ring<std::uint64_t>(name("old"), {.slots = 8});
    ASSERT_TRUE(gone);
  }
  EXPECT_EQ(run({"clean"}), ExitCode::ok);
  EXPECT_EQ(out, "removed eu/old\n");
  EXPECT_NE(err.find("kept eu/quotes"), std::string::npos) << err;
  EXPECT_EQ(run({"clean", "eu/quotes"}), ExitCode::runtime);
  EXPECT_TRUE(std::filesystem::exists(folder / "eu" / "quotes"));
  EXPECT_EQ(run({"clean", "eu/quotes", "--force", "--json"}), ExitCode::ok);
  EXPECT_EQ(out, "{\"removed\": [\"eu/quotes\"], \"kept\": []}\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "eu" / "quotes"));
  EXPECT_EQ(run({"clean"}), ExitCode::ok);
  EXPECT_EQ(out, "nothing to remove\n");
}

}  // namespace
}  // namespace leat::tool
