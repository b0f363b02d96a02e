#include <leat/core/segment/segment.hpp>

#include <leat/base/sanitizers.hpp>
#include <leat/core/segment/type.hpp>
#include "test_segments.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat::core {
namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class SegmentTest : public testing::Test {
 protected:
  [[nodiscard]] SegmentName name(const std::string& of = "prices") const {
    return {of, "test", folder.path()};
  }
  [[nodiscard]] std::filesystem::path file() const { return *segment_path(name()); }

  static SegmentSpec spec() {
    return {.kind = "board",
            .kind_version = 3,
            .flavour = "plain",
            .type = {0x1234, 16, 8, "Quote"},
            .stride = 64,
            .count = 100,
            .payload_bytes = 6400,
            .participants_max = 4,
            .words = {7}};
  }

  Segment make() const {
    auto made = Segment::create(name(), spec());
    EXPECT_TRUE(made) << error_of(made);
    return *std::move(made);
  }
  Segment join() const {
    auto joined = Segment::join(name(), spec());
    EXPECT_TRUE(joined) << error_of(joined);
    return *std::move(joined);
  }

  template <class T>
  static std::string error_of(const Result<T>& result) {
    return result ? "no error" : result.error().message;
  }

  /// A child that takes part until it is killed.
  [[nodiscard]] std::unique_ptr<ChildProcess> participant(ParticipantId* id = nullptr) const {
    auto child = std::make_unique<ChildProcess>([&](const ChildProcess& self) {
      auto joined = Segment::join(name(), spec());
      self.say(joined ? 'j' : 'x');
      if (!joined) return 1;
      self.say(static_cast<char>(joined->self().place));
      self.say(static_cast<char>(joined->self().generation));
      ChildProcess::wait_for_ever();
    });
    EXPECT_EQ(child->listen(), 'j');
    ParticipantId found;
    found.place = static_cast<std::uint32_t>(child->listen());
    found.generation = static_cast<std::uint32_t>(child->listen());
    if (id != nullptr) *id = found;
    return child;
  }

  TestFolder folder;
};

TEST_F(SegmentTest, IsZerosWhenItIsMadeAndSharedByWhoeverJoins) {
  Segment maker = make();
  EXPECT_EQ(maker.payload().size(), 6400U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(maker.payload().data()) % 4096, 0U);
  for (const std::byte byte : maker.payload()) ASSERT_EQ(byte, std::byte{0});
  Segment guest = join();
  EXPECT_EQ(guest.spec(), spec());
  EXPECT_EQ(guest.facts().maker, os::this_process());
  EXPECT_EQ(guest.facts().generation, 1U);
  maker.payload()[17] = std::byte{42};
  EXPECT_EQ(guest.payload()[17], std::byte{42});
  EXPECT_NE(maker.self(), guest.self());
  EXPECT_EQ(maker.life(guest.self()), ParticipantLife::alive);
  EXPECT_EQ(guest.life(maker.self()), ParticipantLife::alive);
  EXPECT_TRUE(guest.is_valid());
  EXPECT_FALSE(guest.is_retired());
}

TEST_F(SegmentTest, IsFormattedBeforeItHasAName) {
  bool had_name = true;
  auto maker = Segment::create_or_join(
      name(), spec(), {.format = [&](std::span<std::byte> payload, const SegmentSpec&) {
        payload[0] = std::byte{9};
        had_name = std::filesystem::exists(file());
      }});
  ASSERT_TRUE(maker) << error_of(maker);
  EXPECT_FALSE(had_name);
  auto guest = Segment::create_or_join(
      name(), spec(), {.format = [](std::span<std::byte>, const SegmentSpec&) { FAIL(); }});
  ASSERT_TRUE(guest) << error_of(guest);
  EXPECT_EQ(guest->payload()[0], std::byte{9});
}

TEST_F(SegmentTest, LeavesNothingBehindWhereItsMakerIsKilled) {
  ChildProcess child([&](const ChildProcess& self) {
    auto made =
        Segment::create(name(), spec(), {.format = [&](std::span<std::byte>, const SegmentSpec&) {
                          self.say('f');
                          ChildProcess::wait_for_ever();
                        }});
    return 1;
  });
  ASSERT_EQ(child.listen(), 'f');
  child.kill();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "test"));
  static_cast<void>(make());
}

TEST_F(SegmentTest, EachThingThatPreventsJoiningHasAnErrorOfItsOwn) {
  EXPECT_PRED2(says, error_of(Segment::join(name(), spec())), "found no segment of that name");
  EXPECT_PRED2(says, error_of(Segment::observe(name())), "found no segment of that name");
  {
    Segment maker = make();
    EXPECT_PRED2(says, error_of(Segment::create(name(), spec())),
                 "asked to make a segment of that name; found one there");
    SegmentSpec other = spec();
    other.type = segment_type<double>();
    EXPECT_PRED2(says, error_of(Segment::join(name(), other)), "asked elements of type double");
    EXPECT_PRED2(says, error_of(Segment::create_or_join(name(), other)), "found Quote (16");
    EXPECT_PRED2(says, error_of(Segment::observe(name(), other)), "found Quote (16");
    EXPECT_EQ(maker.participants().size(), 1U);
  }
  std::filesystem::resize_file(file(), 8192);
  EXPECT_PRED2(says, error_of(Segment::join(name(), spec())), "it was cut short");
  std::filesystem::resize_file(file(), 100);
  EXPECT_PRED2(says, error_of(Segment::join(name(), spec())), "found 100 bytes");
  std::ofstream(file()) << std::string(10000, 'x');
  EXPECT_PRED2(says, error_of(Segment::join(name(), spec())), "asked a segment, which begins");
  EXPECT_PRED2(says, error_of(Segment::join({"../x", "test", folder.path()}, spec())),
               "asked the name \"../x\"");
}

TEST_F(SegmentTest, IsTheSameOneForEightProcessesThatMakeItAtOnce) {
  constexpr int kProcesses = 8;
  for (int round = 0; round < 5; ++round) {
    std::array<int, 2> start{};
    std::array<int, 2> end{};
    ASSERT_EQ(::pipe(start.data()) + ::pipe(end.data()), 0);
    std::vector<std::unique_ptr<ChildProcess>> children;
    for (int i = 0; i < kProcesses; ++i) {
      children.push_back(std::make_unique<ChildProcess>([&, i](const ChildProcess& self) {
        self.say('r');
        char go = 0;
        static_cast<void>(::read(start[0], &go, 1) < 0);
        auto segment = Segment::create_or_join(
            name(),
            [] {
              SegmentSpec s = spec();
              s.participants_max = 16;
              return s;
            }(),
            {.format = [&](std::span<std::byte> payload, const SegmentSpec&) {
              for (std::byte& byte : payload) byte = static_cast<std::byte>(i + 1);
            }});
        if (!segment) return 1;
        for (const std::byte byte : segment->payload()) {
          if (byte != segment->payload()[0]) return 2;
        }
        self.say(static_cast<char>(segment->payload()[0]));
        self.say(static_cast<char>(segment->self().place));
        static_cast<void>(::read(end[0], &go, 1) < 0);  // stays until all have joined
        return 0;
      }));
    }
    for (const auto& child : children) ASSERT_EQ(child->listen(), 'r');
    const std::string go(kProcesses, 'g');
    ASSERT_EQ(::write(start[1], go.data(), go.size()), kProcesses);
    std::vector<char> makers;
    std::vector<char> places;
    for (const auto& child : children) {
      makers.push_back(child->listen());
      places.push_back(child->listen());
    }
    EXPECT_EQ(std::set<char>(makers.begin(), makers.end()).size(), 1U);
    EXPECT_NE(makers[0], 0);
    EXPECT_EQ(std::set<char>(places.begin(), places.end()).size(), std::size_t{kProcesses});
    ASSERT_EQ(::write(end[1], go.data(), go.size()), kProcesses);
    for (const auto& child : children) EXPECT_EQ(child->wait(), 0);
    ASSERT_TRUE(destroy_segment(name()));
    for (const int pipe : {start[0], start[1], end[0], end[1]}) ::close(pipe);
  }
}

TEST_F(SegmentTest, KnowsAKilledParticipantAsDeadUntilItIsMadeGood) {
  Segment maker = make();
  ParticipantId id;
  const auto child = participant(&id);
  EXPECT_EQ(maker.life(id), ParticipantLife::alive);
  EXPECT_EQ(maker.reap(), 0U);
  child->kill();
  EXPECT_EQ(maker.life(id), ParticipantLife::dead);
  EXPECT_EQ(maker.participants().size(), 2U);
  EXPECT_EQ(maker.reap(), 1U);
  EXPECT_EQ(maker.life(id), ParticipantLife::gone);
  EXPECT_EQ(maker.participants().size(), 1U);
}

TEST_F(SegmentTest, KeepsThePlaceOfADeadOneUntilWhatItLeftIsPutRight) {
  int asked = 0;
  bool can = false;
  ParticipantId dead;
  auto maker = Segment::create(
      name(), spec(),
      {.make_good = [&](std::span<std::byte>, const SegmentSpec&, ParticipantId id) {
        ++asked;
        dead = id;
        return can;
      }});
  ASSERT_TRUE(maker);
  ParticipantId id;
  participant(&id)->kill();
  EXPECT_FALSE(maker->reap(id));
  EXPECT_EQ(dead, id);
  EXPECT_EQ(maker->life(id), ParticipantLife::dead);
  can = true;
  EXPECT_TRUE(maker->reap(id));
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(maker->reap(id));
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(maker->reap(maker->self()));
}

TEST_F(SegmentTest, GivesAPlaceOutAgainUnderAnotherId) {
  Segment maker = make();
  ParticipantId first;
  participant(&first)->kill();
  Segment guest = join();  // makes good on the way
  EXPECT_EQ(guest.self().place, first.place);
  EXPECT_NE(guest.self(), first);
  EXPECT_EQ(maker.life(first), ParticipantLife::gone);
  const ParticipantId second = guest.self();
  guest.leave();
  EXPECT_FALSE(guest.is_valid());
  EXPECT_EQ(maker.life(second), ParticipantLife::gone);
  EXPECT_NE(join().self(), second);
}

TEST_F(SegmentTest, SaysWhoHasThePlacesWhenAllAreTaken) {
  Segment maker = make();
  std::vector<Segment> guests;
  for (int i = 0; i < 3; ++i) guests.push_back(join());
  const std::string error = error_of(Segment::join(name(), spec()));
  EXPECT_PRED2(says, error, "found all 4 taken, by ");
  EXPECT_PRED2(says, error, "(pid " + std::to_string(::getpid()) + ")");
  guests.pop_back();
  static_cast<void>(join());
}

TEST_F(SegmentTest, KnowsALivingParticipantOfAnotherPidNamespace) {
  Segment maker = make();
  const ParticipantId here = maker.self();
  ChildProcess child([&](const ChildProcess& self) {
    if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
      self.say('n');
      return 0;
    }
    // The first process of the new namespace: its pid is 1 there.
    ChildProcess inner([&](const ChildProcess&) {
      auto joined = Segment::join(name(), spec());
      self.say(joined && ::getpid() == 1 ? 'j' : 'x');
      self.say(static_cast<char>(joined->self().place));
      self.say(static_cast<char>(joined->self().generation));
      self.say(joined->life(here) == ParticipantLife::alive && joined->reap() == 0 ? 'a' : 'd');
      ChildProcess::wait_for_ever();
    });
    static_cast<void>(inner.listen());
    return 0;
  });
  const char said = child.listen();
  if (said == 'n') GTEST_SKIP() << "this system lets nobody make a pid namespace";
  ASSERT_EQ(said, 'j');
  ParticipantId there;
  there.place = static_cast<std::uint32_t>(child.listen());
  there.generation = static_cast<std::uint32_t>(child.listen());
  EXPECT_EQ(child.listen(), 'a');
  EXPECT_EQ(maker.life(there), ParticipantLife::alive);
  EXPECT_EQ(maker.reap(), 0U);
  EXPECT_FALSE(destroy_segment(name()));
  child.kill();
}

TEST_F(SegmentTest, ADeadParentIsDeadThoughItsChildLives) {
  Segment maker = make();
  std::array<int, 2> orphan{};
  ASSERT_EQ(::pipe(orphan.data()), 0);
  ChildProcess parent([&](const ChildProcess& self) {
    auto joined = Segment::join(name(), spec());
    if (::fork() == 0) {
      ::close(orphan[1]);
      const bool invalid = !joined->is_valid();
      joined->payload()[0] = std::byte{99};  // a private copy
      self.say(invalid ? 'i' : 'v');
      char end = 0;
      static_cast<void>(::read(orphan[0], &end, 1) < 0);
      ::_exit(0);
    }
    self.say(static_cast<char>(joined->self().place));
    ChildProcess::wait_for_ever();
  });
  std::array<char, 2> words{parent.listen(), parent.listen()};
  if (words[0] == 'i') std::swap(words[0], words[1]);
  EXPECT_EQ(words[1], 'i');
  EXPECT_EQ(maker.payload()[0], std::byte{0});
  const ParticipantId id{static_cast<std::uint32_t>(words[0]), 1};
  EXPECT_EQ(maker.life(id), ParticipantLife::alive);
  parent.kill();
  EXPECT_EQ(maker.life(id), ParticipantLife::dead);
  ASSERT_EQ(::write(orphan[1], "e", 1), 1);
  ::close(orphan[0]);
  ::close(orphan[1]);
}

TEST_F(SegmentTest, IsReplacedOnPurposeAndItsUsersSeeThatItIsRetired) {
  Segment old = make();
  Segment guest = join();
  guest.payload()[0] = std::byte{1};
  SegmentSpec other = spec();
  other.count = 200;
  other.payload_bytes = 12800;
  auto young = Segment::replace(name(), other);
  ASSERT_TRUE(young) << error_of(young);
  EXPECT_EQ(young->facts().generation, 2U);
  EXPECT_TRUE(old.is_retired());
  EXPECT_TRUE(guest.is_retired());
  EXPECT_FALSE(young->is_retired());
  EXPECT_EQ(old.payload()[0], std::byte{1});  // they go on undisturbed
  EXPECT_EQ(old.life(guest.self()), ParticipantLife::alive);
  Segment again = join();
  EXPECT_EQ(again.spec().count, 200U);
  EXPECT_PRED2(says, error_of(old.destroy()), "its name is another's");
  EXPECT_TRUE(old.is_valid());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file().parent_path()), {}), 1);
}

TEST_F(SegmentTest, ReplacesWhateverHasTheNameOrNothing) {
  auto made = Segment::replace(name(), spec());
  ASSERT_TRUE(made) << error_of(made);
  EXPECT_EQ(made->facts().generation, 1U);
  made->leave();
  std::ofstream(file()) << "no segment";
  auto again = Segment::replace(name(), spec());
  ASSERT_TRUE(again) << error_of(again);
  static_cast<void>(join());
}

TEST_F(SegmentTest, StaysWhereWhatReplacesItCannotBeMade) {
  Segment old = make();
  SegmentSpec huge = spec();
  huge.payload_bytes = std::uint64_t{1} << 47;
  EXPECT_PRED2(says, error_of(Segment::replace(name(), huge)), "asked to allocate");
  EXPECT_FALSE(old.is_retired());
  static_cast<void>(join());
}

TEST_F(SegmentTest, ThatWasRetiredByOneWhoThenDiedIsCleanedUpByTheNext) {
  static_cast<void>(make());
  {
    std::fstream bytes(file(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(offsetof(SegmentHeader, state));
    bytes.put(static_cast<char>(SegmentState::retired));
  }
  EXPECT_PRED2(says, error_of(Segment::observe(name())), "found no segment");
  EXPECT_PRED2(says, error_of(Segment::join(name(), spec())), "found no segment");
  auto made = Segment::create_or_join(name(), spec());
  ASSERT_TRUE(made) << error_of(made);
  EXPECT_FALSE(made->is_retired());
}

TEST_F(SegmentTest, IsNotRemovedWhileSomebodyLivesUnlessForced) {
  Segment maker = make();
  {
    const auto child = participant();
    const auto refused = destroy_segment(name());
    ASSERT_FALSE(refused);
    EXPECT_PRED2(says, refused.error().message, "(pid " + std::to_string(child->pid()) + ")");
    EXPECT_PRED2(says, error_of(maker.destroy()), "end them first, or force it");
    EXPECT_TRUE(std::filesystem::exists(file()));
    EXPECT_FALSE(maker.is_retired());
    child->kill();
  }
  EXPECT_TRUE(maker.destroy());
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_FALSE(maker.is_valid());
  EXPECT_PRED2(says, error_of(destroy_segment(name())), "found no segment");

  Segment second = make();
  ASSERT_TRUE(destroy_segment(name(), Force::yes));
  EXPECT_TRUE(second.is_retired());
  EXPECT_TRUE(second.is_valid());
}

TEST_F(SegmentTest, RemovesWhatIsNoSegmentOnlyByForce) {
  std::filesystem::create_directories(file().parent_path());
  std::ofstream(file()) << "something else";
  EXPECT_PRED2(says, error_of(destroy_segment(name())), "or force it");
  EXPECT_TRUE(destroy_segment(name(), Force::yes));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(SegmentTest, ObserversTakeNoPlaceAndCannotWrite) {
  Segment maker = make();
  auto observer = Segment::observe(name(), spec());
  ASSERT_TRUE(observer) << error_of(observer);
  EXPECT_TRUE(observer->is_observer());
  EXPECT_FALSE(observer->self());
  EXPECT_EQ(maker.participants().size(), 1U);
  maker.payload()[5] = std::byte{5};
  EXPECT_EQ(observer->payload()[5], std::byte{5});
  EXPECT_EQ(observer->life(maker.self()), ParticipantLife::alive);
  EXPECT_EQ(observer->participants().size(), 1U);
  EXPECT_EQ(observer->reap(), 0U);
  EXPECT_DEATH(observer->payload()[0] = std::byte{1}, "");
  maker.leave();
  EXPECT_TRUE(observer->destroy()) << "an observer may remove what nobody uses";
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(SegmentTest, HasTheModeAndGroupThatWereAsked) {
  auto made = Segment::create(name(), spec(), {}, {.mode = 0640, .group = ::getegid()});
  ASSERT_TRUE(made) << error_of(made);
  struct stat facts{};
  ASSERT_EQ(::stat(file().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640U);
  ASSERT_EQ(::stat(file().parent_path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0750U);
}

TEST_F(SegmentTest, HasNoPageFaultsInTheFirstLapWhenItWasPrefaulted) {
  if (LEAT_ASAN || LEAT_TSAN) GTEST_SKIP() << "the sanitizer's shadow has faults of its own";
  SegmentSpec large = spec();
  large.payload_bytes = 4 << 20;
  auto made = Segment::create(name(), large, {}, {.map = {.prefault = true}});
  ASSERT_TRUE(made) << error_of(made);
  rusage before{};
  rusage after{};
  ::getrusage(RUSAGE_THREAD, &before);
  for (std::size_t i = 0; i < made->payload().size(); i += 4096) made->payload()[i] = std::byte{1};
  ::getrusage(RUSAGE_THREAD, &after);
  EXPECT_LT(after.ru_minflt - before.ru_minflt, 64);  // 1024 pages were touched
}

TEST_F(SegmentTest, AppliesItsOptionsOrWarns) {
  auto made = Segment::create(
      name(), spec(), {},
      {.map = {.huge_pages = true, .lock_in_memory = true, .prefault = true, .numa_node = 999}});
  ASSERT_TRUE(made) << error_of(made);
  std::string all;
  for (const std::string& warning : made->warnings()) all += warning + "\n";
  EXPECT_PRED2(says, all, "NUMA node 999");
  made->payload()[6399] = std::byte{1};
}

TEST_F(SegmentTest, InPrivateMemoryIsAlikeButForItsName) {
  auto made = Segment::make_private(
      spec(), {.format = [](std::span<std::byte> payload, const SegmentSpec& found) {
        payload[0] = static_cast<std::byte>(found.count);
      }});
  ASSERT_TRUE(made) << error_of(made);
  EXPECT_TRUE(made->is_private());
  EXPECT_EQ(made->payload().size(), 6400U);
  EXPECT_EQ(made->payload()[0], std::byte{100});
  EXPECT_EQ(made->life(made->self()), ParticipantLife::alive);
  EXPECT_EQ(made->participants().size(), 1U);
  EXPECT_EQ(made->where(), "private memory");
  EXPECT_TRUE(made->destroy());
  EXPECT_FALSE(made->is_valid());
}

TEST_F(SegmentTest, StaysInsideItsBaseFolder) {
  SegmentName second = name();
  second.space = "test-2";
  Segment one = make();
  auto two = Segment::create(second, spec());
  ASSERT_TRUE(two) << error_of(two);
  one.payload()[0] = std::byte{1};
  EXPECT_EQ(two->payload()[0], std::byte{0});
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) found.insert(entry.path().lexically_relative(folder.path()));
  }
  EXPECT_EQ(found, (std::set<std::string>{"test/prices", "test-2/prices"}));
}

TEST(SegmentName, IsUsedAsItIsOrRefused) {
  const auto error = [](const std::string& text) {
    const auto path = segment_path({text, "space", "/base"});
    return path ? path->string() : path.error().message;
  };
  EXPECT_EQ(error("orders.EU_2-a"), "/base/space/orders.EU_2-a");
  EXPECT_PRED2(says, error(""), "found nothing");
  EXPECT_PRED2(says, error(".hidden"), "no letter or digit at its beginning");
  EXPECT_PRED2(says, error("a/b"), "not allowed");
  EXPECT_PRED2(says, error(std::string(101, 'a')), "found 101 characters");
  EXPECT_FALSE(segment_path({"a", "..", "/base"}));
  EXPECT_EQ(segment_path({"a"})->parent_path().filename(), "default");
}

}  // namespace
}  // namespace leat::core
