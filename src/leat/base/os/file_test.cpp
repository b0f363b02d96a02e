#include <leat/base/os/file.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace leat::os {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = testing::TempDir() + "leat-file-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(FileTest, WhatIsAppendedIsReadAnywhere) {
  auto file = File::create(folder_ / "log").value();
  ASSERT_TRUE(file.append(bytes_of("one")).has_value());
  ASSERT_TRUE(file.append(bytes_of(" two")).has_value());
  ASSERT_TRUE(file.sync().has_value());
  EXPECT_EQ(file.size().value(), 7U);
  auto same = File::open(folder_ / "log").value();
  std::vector<std::byte> into(10);
  ASSERT_EQ(same->read_at(4, into).value(), 3U);
  into.resize(3);
  EXPECT_EQ(text_of(into), "two");
}

TEST_F(FileTest, AFileThatIsThereIsNotMadeAgainAndOneThatIsNotIsNothing) {
  static_cast<void>(File::create(folder_ / "a").value());
  const auto again = File::create(folder_ / "a");
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("File exists"), std::string::npos);
  EXPECT_FALSE(File::open(folder_ / "b").value().has_value());
  EXPECT_FALSE(read_file(folder_ / "b").value().has_value());
}

TEST_F(FileTest, ALockIsOnesUntilItGoes) {
  {
    const auto mine = File::lock(folder_ / "lock").value();
    ASSERT_TRUE(mine.has_value());
    EXPECT_FALSE(File::lock(folder_ / "lock").value().has_value());
  }
  EXPECT_TRUE(File::lock(folder_ / "lock").value().has_value());
}

TEST_F(FileTest, AFileIsReplacedAsAWhole) {
  const auto path = folder_ / "value";
  ASSERT_TRUE(replace_file(path, bytes_of("old and long")).has_value());
  // What a crash left of an earlier try is in nobody's way.
  static_cast<void>(File::create(folder_ / "value.new").value());
  ASSERT_TRUE(replace_file(path, bytes_of("new")).has_value());
  EXPECT_EQ(text_of(*read_file(path).value()), "new");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "value.new"));
  EXPECT_FALSE(replace_file(folder_ / "none" / "value", bytes_of("x")));
}

}  // namespace
}  // namespace leat::os
