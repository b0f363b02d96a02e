#include <leat/base/os/shared_file.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace leat::os {
namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class SharedFileTest : public testing::Test {
 protected:
  SharedFileTest() {
    std::string pattern = "/dev/shm/leat-test-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  ~SharedFileTest() override { std::filesystem::remove_all(folder); }

  SharedFile make(std::uint64_t bytes = 8192) {
    auto file = SharedFile::make_unnamed(folder, 0600, std::nullopt);
    EXPECT_TRUE(file) << (file ? "" : file.error().message);
    auto done = file->allocate(bytes, std::nullopt, warnings);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return *std::move(file);
  }

  std::filesystem::path folder;
  std::vector<std::string> warnings;
};

TEST_F(SharedFileTest, HasNoNameUntilItGetsOne) {
  SharedFile file = make();
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_FALSE(*SharedFile::open(folder / "a", Access::read_write));
  EXPECT_TRUE(*file.give_name(folder / "a"));
  EXPECT_TRUE(file.has_name(folder / "a"));
  EXPECT_FALSE(*make().give_name(folder / "a"));
  EXPECT_TRUE(file.has_name(folder / "a"));
}

TEST_F(SharedFileTest, TakesANameOverInOneStep) {
  SharedFile old = make();
  ASSERT_TRUE(*old.give_name(folder / "a"));
  SharedFile young = make();
  ASSERT_TRUE(young.take_over_name(folder / "a"));
  EXPECT_FALSE(old.has_name(folder / "a"));
  EXPECT_TRUE(young.has_name(folder / "a"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  ASSERT_TRUE(young.remove_name(folder / "a"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(SharedFileTest, IsTheSameMemoryForWhoeverMapsIt) {
  SharedFile file = make();
  ASSERT_TRUE(*file.give_name(folder / "a"));
  auto here = file.map(8192, {}, warnings);
  ASSERT_TRUE(here);
  auto other = *SharedFile::open(folder / "a", Access::read_only);
  ASSERT_TRUE(other);
  auto there = other->map(8192, {}, warnings);
  ASSERT_TRUE(there);
  (*here)[8191] = std::byte{5};
  EXPECT_EQ((*there)[8191], std::byte{5});
}

TEST_F(SharedFileTest, HasMemoryForAllThatItPromises) {
  SharedFile file = make(1 << 20);
  ASSERT_TRUE(*file.give_name(folder / "a"));
  struct stat facts{};
  ASSERT_EQ(::stat((folder / "a").c_str(), &facts), 0);
  EXPECT_GE(facts.st_blocks * 512, 1 << 20);
  auto large = SharedFile::make_unnamed(folder, 0600, std::nullopt);
  ASSERT_TRUE(large);
  const auto refused = large->allocate(std::uint64_t{1} << 50, std::nullopt, warnings);
  ASSERT_FALSE(refused);
  EXPECT_PRED2(says, refused.error().message, "asked to allocate 1125899906842624 bytes");
}

TEST_F(SharedFileTest, LocksBelongToTheObject) {
  SharedFile file = make();
  ASSERT_TRUE(*file.give_name(folder / "a"));
  auto second = *SharedFile::open(folder / "a", Access::read_write);
  ASSERT_TRUE(second);
  EXPECT_TRUE(*file.try_lock(1U << 30));
  EXPECT_FALSE(*second->try_lock(1U << 30));
  EXPECT_TRUE(second->is_locked_by_another(1U << 30));
  EXPECT_FALSE(file.is_locked_by_another(1U << 30));
  EXPECT_TRUE(*second->try_lock(7));
  second.reset();
  EXPECT_FALSE(file.is_locked_by_another(7));
  file.unlock(1U << 30);
  auto third = *SharedFile::open(folder / "a", Access::read_only);
  EXPECT_FALSE(third->is_locked_by_another(1U << 30));
}

TEST_F(SharedFileTest, IsInvalidInAForkedChildAndItsMemoryPrivate) {
  SharedFile file = make();
  ASSERT_TRUE(*file.give_name(folder / "a"));
  const auto memory = file.map(8192, {}, warnings);
  ASSERT_TRUE(memory);
  ASSERT_TRUE(*file.try_lock(1));
  (*memory)[0] = std::byte{1};
  const pid_t child = ::fork();
  if (child == 0) {
    const bool as_expected = !file.is_valid() && (*memory)[0] == std::byte{1};
    (*memory)[0] = std::byte{2};
    ::_exit(as_expected ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(file.is_valid());
  EXPECT_EQ((*memory)[0], std::byte{1});
}

TEST_F(SharedFileTest, WarnsOfWhatTheSystemRefuses) {
  SharedFile file = make();
  const auto memory = file.map(8192, {.prefault = true, .numa_node = 1000}, warnings);
  ASSERT_TRUE(memory);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_PRED2(says, warnings[0], "NUMA node 1000");
}

TEST_F(SharedFileTest, HasTheModeThatWasAskedWhateverTheUmask) {
  const mode_t before = ::umask(077);
  auto file = SharedFile::make_unnamed(folder, 0664, ::getegid());
  ::umask(before);
  ASSERT_TRUE(file);
  ASSERT_TRUE(*file->give_name(folder / "a"));
  struct stat facts{};
  ASSERT_EQ(::stat((folder / "a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0664U);
}

TEST_F(SharedFileTest, SaysWhatIsNotAPlainFile) {
  std::filesystem::create_directory(folder / "d");
  const auto opened = SharedFile::open(folder / "d", Access::read_only);
  ASSERT_FALSE(opened);
  EXPECT_PRED2(says, opened.error().message, "no plain file");
  std::filesystem::create_symlink(folder / "x", folder / "s");
  EXPECT_FALSE(SharedFile::open(folder / "s", Access::read_only));
}

TEST_F(SharedFileTest, MakesFoldersWithTheModeThatWasAsked) {
  ASSERT_TRUE(make_directory(folder / "a" / "b", 0750, std::nullopt, true));
  ASSERT_TRUE(make_directory(folder / "a" / "b", 0700, std::nullopt, true));
  struct stat facts{};
  ASSERT_EQ(::stat((folder / "a" / "b").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0750U);
  std::ofstream(folder / "file") << "x";
  EXPECT_FALSE(make_directory(folder / "file", 0700, std::nullopt, true));
}

}  // namespace
}  // namespace leat::os
