#include "kernels/simd_level.h"

#include <algorithm>
#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::kernels {
namespace {

TEST(SimdLevel, TheBestOfTheListIsInUseAndEachCanBeForced) {
  const std::vector<std::string> levels = AvailableSimdLevels();
  ASSERT_FALSE(levels.empty());
  for (const std::string& level : levels) {
    ASSERT_TRUE(ForceSimdLevel(level).ok());
    EXPECT_EQ(CurrentSimdLevel(), level);
  }
  ASSERT_TRUE(ForceSimdLevel("").ok());
  EXPECT_EQ(CurrentSimdLevel(), levels.front());
}

TEST(SimdLevel, AnUnknownNameIsAnErrorThatListsTheLevels) {
  const std::string before = CurrentSimdLevel();
  const arrow::Status status = ForceSimdLevel("avx9000");
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), testing::HasSubstr("avx9000"));
  for (const std::string& level : AvailableSimdLevels()) {
    EXPECT_THAT(status.message(), testing::HasSubstr(level));
  }
  EXPECT_EQ(CurrentSimdLevel(), before);
}

TEST(SimdLevel, ALevelThatTheMachineLacksIsToldFromAnUnknownOne) {
  EXPECT_THAT(ForceSimdLevel("avx9000").message(), testing::HasSubstr("no instruction set"));
  // Of those that this build has code for, one that may be out of reach here.
  const std::vector<std::string> levels = AvailableSimdLevels();
  if (std::find(levels.begin(), levels.end(), "avx3_dl") != levels.end()) return;
  EXPECT_THAT(ForceSimdLevel("avx3_dl").message(), testing::HasSubstr("processor lacks"));
}

TEST(SimdLevel, TheEnvironmentIsChecked) {
  const char* old = std::getenv("KINJO_SIMD");
  const std::string before = old == nullptr ? "" : old;
  ASSERT_EQ(setenv("KINJO_SIMD", AvailableSimdLevels().back().c_str(), 1), 0);
  EXPECT_TRUE(CheckSimdEnvironment().ok());
  ASSERT_EQ(setenv("KINJO_SIMD", "no-such-level", 1), 0);
  EXPECT_THAT(CheckSimdEnvironment().message(), testing::HasSubstr("no-such-level"));
  ASSERT_EQ(setenv("KINJO_SIMD", before.c_str(), 1), 0);
  EXPECT_TRUE(CheckSimdEnvironment().ok());
}

}  // namespace
}  // namespace kinjo::kernels
