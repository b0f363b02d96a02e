#include <leat/core/segment/listing.hpp>

#include "test_segments.hpp"

#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace leat::core {
namespace {

class ListingTest : public testing::Test {
 protected:
  Segment make(const std::string& space, const std::string& name) const {
    auto made = Segment::create({name, space, folder.path()},
                                {.kind = "board", .payload_bytes = 100, .participants_max = 4});
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return *std::move(made);
  }

  TestFolder folder;
};

TEST_F(ListingTest, FindsNothingWhereNothingIs) {
  EXPECT_TRUE(list_segments(folder.path() / "none")->empty());
  EXPECT_TRUE(list_segments(folder.path(), "none")->empty());
  EXPECT_FALSE(list_segments(folder.path(), "../x"));
}

TEST_F(ListingTest, FindsAllOrThoseOfOneNamespaceByName) {
  const Segment b = make("two", "b");
  const Segment a = make("two", "a");
  const Segment c = make("one", "c");
  const auto all = list_segments(folder.path());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[0].name.name, "c");
  EXPECT_EQ((*all)[1].name.name, "a");
  EXPECT_EQ((*all)[2].facts->spec.kind, "board");
  EXPECT_EQ(list_segments(folder.path(), "two")->size(), 2U);
}

TEST_F(ListingTest, TellsTheLivingFromTheDead) {
  { const Segment gone = make("s", "left"); }
  ChildProcess child([&](const ChildProcess& self) {
    const Segment mine = make("s", "killed");
    self.say('m');
    ChildProcess::wait_for_ever();
  });
  ASSERT_EQ(child.listen(), 'm');
  auto listed = *list_segments(folder.path());
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_TRUE(listed[0].is_alive());
  EXPECT_FALSE(listed[1].is_alive());
  child.kill();
  listed = *list_segments(folder.path());
  EXPECT_FALSE(listed[0].is_alive());
  ASSERT_EQ(listed[0].participants.size(), 1U);
  EXPECT_EQ(listed[0].participants[0].life, ParticipantLife::dead);
}

TEST_F(ListingTest, SaysWhatIsWrongWithADamagedOne) {
  { const Segment gone = make("s", "a"); }
  std::filesystem::resize_file(folder.path() / "s" / "a", 4096);
  std::ofstream(folder.path() / "s" / "b") << "something else";
  const auto listed = *list_segments(folder.path());
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_NE(listed[0].facts.error().message.find("cut short"), std::string::npos);
  EXPECT_FALSE(listed[1].facts);
  EXPECT_EQ(listed[1].file_bytes, 14U);
}

}  // namespace
}  // namespace leat::core
