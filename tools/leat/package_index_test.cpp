#include "package_index.hpp"

#include <gtest/gtest.h>
#include <lz4frame.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <string>

namespace leat::tool {
namespace {

namespace fs = std::filesystem;

class PackageIndexFiles : public testing::Test {
 protected:
  PackageIndexFiles()
      : root_(fs::path(testing::TempDir()) /
              ("leat_index_" + std::to_string(::getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name())),
        places_{root_ / "lists", root_ / "status"} {
    fs::create_directories(places_.apt_lists);
  }
  ~PackageIndexFiles() override { fs::remove_all(root_); }

  void list(const std::string& name, const std::string& bytes) const {
    std::ofstream(places_.apt_lists / name, std::ios::binary) << bytes;
  }
  void status(const std::string& text) const {
    std::ofstream(places_.dpkg_status, std::ios::binary) << text;
  }
  PackageIndex read() const {
    auto result = read_package_index(places_);
    if (const auto* failure = std::get_if<Failure>(&result)) {
      ADD_FAILURE() << failure->message;
      return {};
    }
    return std::get<PackageIndex>(std::move(result));
  }
  Failure fail() const {
    auto result = read_package_index(places_);
    if (auto* failure = std::get_if<Failure>(&result)) return *failure;
    ADD_FAILURE() << "an index was read";
    return {ExitCode::ok, ""};
  }

  fs::path root_;
  PackagePlaces places_;
};

std::string lz4(const std::string& text) {
  std::string out(LZ4F_compressFrameBound(text.size(), nullptr), '\0');
  out.resize(LZ4F_compressFrame(out.data(), out.size(), text.data(), text.size(), nullptr));
  return out;
}

TEST_F(PackageIndexFiles, JoinsAllListsAndKeepsTheNewestVersion) {
  list("a_main_Packages.lz4", lz4("Package: b\nVersion: 1.0-10\n\nPackage: a\nVersion: 2\n"));
  list("b_security_Packages",
       "Package: b\nVersion: 1.0-9\n\nPackage: c\nVersion: 1~rc1\n\n"
       "Package: c\nVersion: 1\nDepends: b\n");
  list("c_InRelease", "not an index");
  list("d_Packages.diff_Index", "not an index");
  const PackageIndex index = read();
  EXPECT_EQ(index.source, PackageSource::apt);
  EXPECT_EQ(index.description, "apt index, 2 files");
  EXPECT_EQ(index.stanzas, 5U);
  ASSERT_EQ(index.packages.size(), 3U);
  EXPECT_EQ(index.packages[0].name, "a");
  EXPECT_EQ(index.packages[1].name, "b");
  EXPECT_EQ(index.packages[1].version, "1.0-10");
  EXPECT_EQ(index.packages[2].version, "1");
  EXPECT_EQ(index.packages[2].depends, "b");
}

TEST_F(PackageIndexFiles, TakesOnlyWhatIsInstalledFromDpkg) {
  list("empty_Packages", "");
  status(
      "Package: a\nStatus: install ok installed\nVersion: 1\n\n"
      "Package: b\nStatus: deinstall ok config-files\nVersion: 1\n\n"
      "Package: c\nStatus: install ok triggers-pending\nVersion: 1\n\n"
      "Package: d\nVersion: 1\n");
  const PackageIndex index = read();
  EXPECT_EQ(index.source, PackageSource::dpkg);
  ASSERT_EQ(index.packages.size(), 2U);
  EXPECT_EQ(index.packages[0].name, "a");
  EXPECT_EQ(index.packages[1].name, "c");
}

TEST_F(PackageIndexFiles, FallsBackToTheSample) {
  places_.apt_lists = root_ / "absent";
  const PackageIndex index = read();
  EXPECT_EQ(index.source, PackageSource::sample);
  EXPECT_GT(index.packages.size(), 200U);
}

TEST_F(PackageIndexFiles, NamesTheListThatIsDamaged) {
  list("a_Packages.lz4", lz4("Package: a\nVersion: 1\n").substr(0, 20));
  status("Package: a\nStatus: install ok installed\nVersion: 1\n");
  const Failure failure = fail();
  EXPECT_EQ(failure.code, ExitCode::data);
  EXPECT_EQ(failure.message,
            (places_.apt_lists / "a_Packages.lz4").string() +
                ": ends in the middle of its lz4 data. Fetch it again (apt update). Nothing was "
                "computed.");
}

TEST_F(PackageIndexFiles, NamesTheLineThatIsNoStanza) {
  list("a_Packages", "Package: a\n\nrubbish\n");
  const Failure failure = fail();
  EXPECT_EQ(failure.code, ExitCode::data);
  EXPECT_EQ(
      failure.message,
      (places_.apt_lists / "a_Packages").string() +
          ":3: expected a package stanza (lines \"Field: value\", one of them Package), found "
          "\"rubbish\". Nothing was computed.");
}

TEST_F(PackageIndexFiles, RefusesAnIndexWithoutPackages) {
  list("a_Packages", "\n\n");
  EXPECT_EQ(fail().code, ExitCode::data);
}

TEST_F(PackageIndexFiles, ViewsSurviveAMoveOfTheIndex) {
  list("a_Packages", "Package: a\n");  // short enough to live inside a std::string
  PackageIndex index = read();
  const PackageIndex moved = std::move(index);
  EXPECT_EQ(moved.packages.at(0).name, "a");
}

}  // namespace
}  // namespace leat::tool
