#include "base/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kinjo::base {
namespace {

/// A folder that stands for the root of a machine.
class Cgroup : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text << "\n";
  }

  const std::string root_ =
      (std::filesystem::temp_directory_path() / ("kinjo_cgroup_test_" + std::to_string(getpid())))
          .string();
};

TEST_F(Cgroup, NothingThereIsNoLimit) {
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_FALSE(limits.memory_bytes.has_value());
  EXPECT_FALSE(limits.processors.has_value());
  EXPECT_EQ(HalfOfMemory(limits, 9'000'000), 4'500'000);
  EXPECT_EQ(ThreadsWithin(limits, 6), 6);
}

TEST_F(Cgroup, Version2TakesTheTightestOfTheGroupAndThoseAroundIt) {
  Write("/proc/self/cgroup", "0::/slice/unit");
  Write("/sys/fs/cgroup/slice/unit/memory.max", "max");
  Write("/sys/fs/cgroup/slice/memory.max", "1000000");
  Write("/sys/fs/cgroup/memory.max", "3000000");
  Write("/sys/fs/cgroup/slice/unit/cpu.max", "150000 100000");
  Write("/sys/fs/cgroup/slice/cpu.max", "max 100000");
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_EQ(limits.memory_bytes, 1'000'000);
  EXPECT_EQ(limits.processors, 1.5);
  EXPECT_EQ(HalfOfMemory(limits, 9'000'000), 500'000);
  EXPECT_EQ(HalfOfMemory(limits, 800'000), 400'000);
  EXPECT_EQ(ThreadsWithin(limits, 6), 2);
  EXPECT_EQ(ThreadsWithin(limits, 1), 1);
}

TEST_F(Cgroup, Version2InAContainerLiesAtTheTop) {
  Write("/proc/self/cgroup", "0::/machine/what-the-host-calls-it");
  Write("/sys/fs/cgroup/memory.max", "2000000");
  Write("/sys/fs/cgroup/cpu.max", "100000 100000");
  EXPECT_EQ(ReadCgroupLimits(root_).memory_bytes, 2'000'000);
  EXPECT_EQ(ReadCgroupLimits(root_).processors, 1.0);
}

TEST_F(Cgroup, Version1) {
  Write("/proc/self/cgroup", "5:memory:/job/7\n4:cpu,cpuacct:/job/7\n3:cpuset:/\n0::/");
  Write("/sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", "9223372036854771712");
  Write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4000000");
  Write("/sys/fs/cgroup/cpu,cpuacct/job/7/cpu.cfs_quota_us", "50000");
  Write("/sys/fs/cgroup/cpu,cpuacct/job/7/cpu.cfs_period_us", "100000");
  Write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1");
  Write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_EQ(limits.memory_bytes, 4'000'000);
  EXPECT_EQ(limits.processors, 0.5);
  EXPECT_EQ(ThreadsWithin(limits, 6), 1);
}

TEST_F(Cgroup, OddFilesAreNoLimit) {
  Write("/proc/self/cgroup", "nonsense\n0::/");
  Write("/sys/fs/cgroup/memory.max", "lots");
  Write("/sys/fs/cgroup/cpu.max", "100000");
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_FALSE(limits.memory_bytes.has_value());
  EXPECT_FALSE(limits.processors.has_value());
}

}  // namespace
}  // namespace kinjo::base
