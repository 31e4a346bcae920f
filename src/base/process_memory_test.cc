#include "base/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>

namespace kinjo::base {
namespace {

constexpr size_t kBlockBytes = size_t{48} << 20;
// The system counts pages a processor at a time and may be behind by some hundreds.
constexpr auto kSeenBytes = static_cast<int64_t>(kBlockBytes / 4 * 3);

// Takes pages from the system and gives them back, which no allocator's cache can hide.
void TouchAndReturn(size_t bytes) {
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, bytes);
  munmap(block, bytes);
}

bool MayReset() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

TEST(ProcessMemory, APeakIsSeenAfterItIsOver) {
  if (!ReadProcessMemory()) GTEST_SKIP() << "no /proc";
  const MemoryGrowth growth;
  TouchAndReturn(kBlockBytes);
  ASSERT_TRUE(growth.bytes().has_value());
  EXPECT_GE(*growth.bytes(), kSeenBytes);
  EXPECT_LT(ReadProcessMemory()->resident_bytes, ReadProcessMemory()->peak_bytes);
}

TEST(ProcessMemory, AnEarlierPeakDoesNotCount) {
  if (!MayReset()) GTEST_SKIP() << "the peak may not be reset here";
  TouchAndReturn(kBlockBytes);
  const MemoryGrowth growth;
  EXPECT_LT(*growth.bytes(), static_cast<int64_t>(kBlockBytes / 2));
}

TEST(ProcessMemory, TwoThatWatchAtOnceLeaveEachOthersPeakAlone) {
  if (!ReadProcessMemory()) GTEST_SKIP() << "no /proc";
  const MemoryGrowth first;
  TouchAndReturn(kBlockBytes);
  const MemoryGrowth second;
  EXPECT_GE(*first.bytes(), kSeenBytes);
  EXPECT_LT(*second.bytes(), static_cast<int64_t>(kBlockBytes / 2));
}

}  // namespace
}  // namespace kinjo::base
