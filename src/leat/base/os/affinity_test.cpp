#include <leat/base/os/affinity.hpp>

#include <gtest/gtest.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace leat::os {
namespace {

// A tree of control groups made of ordinary files.
class Cgroups : public ::testing::Test {
 protected:
  Cgroups() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::path(::testing::TempDir()) / (std::string("leat_") + test->name());
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    files_ = {root_ / "membership", root_ / "mount"};
  }
  ~Cgroups() override { std::filesystem::remove_all(root_); }

  void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  std::filesystem::path root_;
  CgroupFiles files_;
};

TEST_F(Cgroups, WithoutFilesSetNoQuota) {
  EXPECT_EQ(cgroup_cpu_quota(files_), std::nullopt);
  EXPECT_EQ(runnable_cpus(files_), cpus_allowed().size());
}

TEST_F(Cgroups, OfVersionTwoGiveQuotaOverPeriod) {
  write("membership", "0::/app\n");
  write("mount/app/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(files_), 1.5);
}

TEST_F(Cgroups, WithMaxSetNoQuota) {
  write("membership", "0::/app\n");
  write("mount/app/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(files_), std::nullopt);
}

TEST_F(Cgroups, BindByTheTightestOfAllLevels) {
  write("membership", "0::/slice/app\n");
  write("mount/slice/app/cpu.max", "400000 100000\n");
  write("mount/slice/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(files_), 0.5);
}

TEST_F(Cgroups, WhosePathIsTheHostsAreReadAtTheRootOfTheMount) {
  write("membership", "0::/docker/0123abcd\n");
  write("mount/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(files_), 2.0);
}

TEST_F(Cgroups, OfVersionOneAreReadWhereTheCpuControllerIs) {
  write("membership", "5:memory:/app\n4:cpu,cpuacct:/app\n1:name=systemd:/app\n");
  write("mount/cpu,cpuacct/app/cpu.cfs_quota_us", "300000\n");
  write("mount/cpu,cpuacct/app/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(files_), 3.0);
}

TEST_F(Cgroups, OfVersionOneAreFoundUnderThePlainName) {
  write("membership", "4:cpuacct,cpu:/\n");
  write("mount/cpu/cpu.cfs_quota_us", "25000\n");
  write("mount/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(files_), 0.25);
}

TEST_F(Cgroups, OfVersionOneWithMinusOneSetNoQuota) {
  write("membership", "4:cpu:/\n");
  write("mount/cpu/cpu.cfs_quota_us", "-1\n");
  write("mount/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(files_), std::nullopt);
}

TEST_F(Cgroups, WithNonsenseSetNoQuota) {
  write("membership", "nonsense\n0:\n0::/../..\n");
  write("mount/cpu.max", "plenty\n");
  EXPECT_EQ(cgroup_cpu_quota(files_), std::nullopt);
}

TEST_F(Cgroups, LimitTheRunnableCpusRoundedUpAndNeverBelowOne) {
  write("membership", "0::/\n");
  write("mount/cpu.max", "10000 100000\n");
  EXPECT_EQ(runnable_cpus(files_), 1U);
  write("mount/cpu.max", "110000 100000\n");
  EXPECT_EQ(runnable_cpus(files_), std::min<std::size_t>(2, cpus_allowed().size()));
  write("mount/cpu.max", "100000000 100000\n");
  EXPECT_EQ(runnable_cpus(files_), cpus_allowed().size());
}

TEST(Affinity, AllowsAtLeastOneCpuInAscendingOrder) {
  const std::vector<int> cpus = cpus_allowed();
  ASSERT_FALSE(cpus.empty());
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
  EXPECT_GE(runnable_cpus(), 1U);
}

TEST(Affinity, PinsTheCallingThreadOnly) {
  const std::vector<int> before = cpus_allowed();
  const int last = before.back();
  std::thread([last] {
    const Result<void> pinned = pin_this_thread(last);
    EXPECT_TRUE(pinned.has_value());
    EXPECT_EQ(cpus_allowed(), std::vector<int>{last});
  }).join();
  EXPECT_EQ(cpus_allowed(), before);
}

TEST(Affinity, NamesTheCpuToWhichItCannotPin) {
  EXPECT_NE(pin_this_thread(-3).error().message.find("CPU -3"), std::string::npos);
  EXPECT_NE(pin_this_thread(60000).error().message.find("CPU 60000"), std::string::npos);
}

}  // namespace
}  // namespace leat::os
