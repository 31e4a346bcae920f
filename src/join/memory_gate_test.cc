#include "join/memory_gate.h"

#include <gtest/gtest.h>

namespace kinjo::join {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kGiB = 1 << 30;

// Measured of a native probe of IVF_PQ indexes over 128 dimensions from four tasks: a = 0.70 GiB,
// b = 64 MiB for a million rows. The published thresholds, in millions of rows.
TEST(MemoryGate, TheThresholdsOfTheMeasuredModel) {
  const ResidentModel model{.base_bytes = 0.70 * kGiB, .bytes_per_row = 64 * kMiB / 1e6};
  struct Threshold {
    int64_t gibibytes;
    double safety;
    double million_rows;
  };
  for (const auto& [gibibytes, safety, million_rows] : {Threshold{8, 0.7, 78},
                                                        {8, 0.8, 91},
                                                        {16, 0.7, 167},
                                                        {16, 0.8, 192},
                                                        {32, 0.7, 345},
                                                        {32, 0.8, 396}}) {
    const int64_t memory = gibibytes << 30;
    const int64_t rows = ResidentRowsMax(model, memory, safety);
    EXPECT_NEAR(static_cast<double>(rows) / 1e6, million_rows, 0.01 * million_rows)
        << gibibytes << " GiB at " << safety;
    EXPECT_TRUE(MayStayResident(model, rows, memory, safety));
    EXPECT_FALSE(MayStayResident(model, rows + 1, memory, safety));
  }
}

TEST(MemoryGate, WhatDoesNotGrowAlwaysFitsOrNever) {
  const ResidentModel flat{.base_bytes = 1000, .bytes_per_row = 0};
  EXPECT_GT(ResidentRowsMax(flat, 2000, 0.5), int64_t{1} << 60);
  EXPECT_EQ(ResidentRowsMax(flat, 1000, 0.5), 0);
  EXPECT_TRUE(MayStayResident(flat, int64_t{1} << 50, 2000, 0.5));
  EXPECT_FALSE(MayStayResident(flat, 0, 1000, 0.5));
}

}  // namespace
}  // namespace kinjo::join
