// Which rows an index takes, as what numbers, and samples that anybody draws the same.
#include "index/column_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "index/build_defaults.h"
#include "index/elements.h"

namespace kinjo::index {
namespace {

using format::ElementType;
using kernels::Metric;

TEST(ColumnVectors, LeavesOutWhatAnIndexDoesNotHold) {
  const float inf = std::numeric_limits<float>::infinity();
  const float rows[] = {1, 2, 0, -0.0f, NAN, 1, 3, -inf, 5, 6, 7, 8};
  const uint8_t validity[] = {0b11011110, 0b00000001};  // bits 1.., the fifth row is null
  ColumnVectors column{.data = reinterpret_cast<const uint8_t*>(rows),
                       .num_rows = 6,
                       .dim = 2,
                       .validity = validity,
                       .validity_offset = 1};
  std::vector<uint32_t> kept;
  LeftOutRows left_out;
  FindIndexedRows(column, Metric::kL2, &kept, &left_out);
  EXPECT_EQ(kept, (std::vector<uint32_t>{0, 1, 5}));
  EXPECT_EQ(left_out.null_rows, 1);
  EXPECT_EQ(left_out.odd_rows, 2);
  EXPECT_EQ(left_out.zero_rows, 0);
  FindIndexedRows(column, Metric::kCosine, &kept, &left_out);
  EXPECT_EQ(kept, (std::vector<uint32_t>{0, 5}));
  EXPECT_EQ(left_out.zero_rows, 1);
  EXPECT_EQ(left_out.total(), 2 * 3 + 1);
}

TEST(ColumnVectors, CosineMakesUnitVectorsOfAnySize) {
  const double rows[] = {3e-200, 4e-200, 3e200, -4e200};
  const ColumnVectors column{.type = ElementType::kFloat64,
                             .data = reinterpret_cast<const uint8_t*>(rows),
                             .num_rows = 2,
                             .dim = 2};
  const uint32_t positions[] = {0, 1};
  double out[4];
  PrepareVectors(column, Metric::kCosine, positions, out);
  EXPECT_NEAR(out[0], 0.6, 1e-15);
  EXPECT_NEAR(out[1], 0.8, 1e-15);
  EXPECT_NEAR(out[3], -0.8, 1e-15);
  PrepareVectors(column, Metric::kDot, positions, out);
  EXPECT_EQ(out[2], 3e200);
}

TEST(ColumnVectors, Float16UnitVectorsAreRoundedToFloat16) {
  const float wide[] = {1, 2, 3};
  uint8_t half[7];
  StoreElements(ElementType::kFloat16, wide, 3, half + 1);  // unaligned
  const ColumnVectors column{
      .type = ElementType::kFloat16, .data = half + 1, .num_rows = 1, .dim = 3};
  const uint32_t positions[] = {0};
  float out[3];
  PrepareVectors(column, Metric::kCosine, positions, out);
  for (int j = 0; j < 3; ++j) {
    EXPECT_EQ(out[j], static_cast<float>(RoundToFloat16(wide[j] / std::sqrt(14.0))));
  }
}

TEST(SamplePositions, AreRisingDistinctAndSpread) {
  for (const auto& [total, count] : {std::pair<int64_t, int64_t>{1000, 100}, {10, 10}, {5, 9}}) {
    const std::vector<int64_t> positions = SamplePositions(total, count, 4);
    EXPECT_EQ(static_cast<int64_t>(positions.size()), std::min(total, count));
    EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end()));
    EXPECT_EQ(std::set<int64_t>(positions.begin(), positions.end()).size(), positions.size());
    EXPECT_LT(positions.back(), total);
    EXPECT_EQ(positions, SamplePositions(total, count, 4));
  }
  EXPECT_TRUE(SamplePositions(0, 5, 1).empty());
  EXPECT_NE(SamplePositions(1000, 100, 1), SamplePositions(1000, 100, 2));
  int64_t first_half = 0;
  for (const int64_t position : SamplePositions(100000, 10000, 3)) first_half += position < 50000;
  EXPECT_NEAR(static_cast<double>(first_half), 5000, 250);
}

TEST(BuildDefaults, ComeFromRowsAndWidth) {
  using format::IndexKind;
  using format::QuantizerKind;
  EXPECT_EQ(DefaultPartitions({QuantizerKind::kFlat, false}, 9000, 0), 2);
  EXPECT_EQ(DefaultPartitions({QuantizerKind::kRq, false}, 9000, 0), 2);
  EXPECT_EQ(DefaultPartitions({QuantizerKind::kSq, false}, 9000, 0), 1);
  EXPECT_EQ(DefaultPartitions({QuantizerKind::kSq, true}, 9000, 0), 1);
  EXPECT_EQ(DefaultPartitions({QuantizerKind::kPq, false}, 1000000, 0), 122);
  EXPECT_EQ(DefaultPartitions({QuantizerKind::kPq, false}, int64_t{1} << 40, 0), 4096);
  EXPECT_EQ(DefaultPartitions({QuantizerKind::kPq, false}, 0, 0), 1);
  EXPECT_EQ(DefaultPartitions({QuantizerKind::kPq, false}, 1000, 100), 10);
  EXPECT_EQ(DefaultSubVectors(128, 8).ValueOrDie(), 16);
  EXPECT_EQ(DefaultSubVectors(768, 8).ValueOrDie(), 96);
  EXPECT_EQ(DefaultSubVectors(50, 8).ValueOrDie(), 10);
  EXPECT_EQ(DefaultSubVectors(97, 8).ValueOrDie(), 97);
  EXPECT_EQ(DefaultSubVectors(3, 8).ValueOrDie(), 1);
  EXPECT_EQ(DefaultSubVectors(128, 4).ValueOrDie(), 32);
  EXPECT_EQ(DefaultSubVectors(12, 4).ValueOrDie(), 4);
  EXPECT_FALSE(DefaultSubVectors(9, 4).ok());
  EXPECT_EQ(ExplainPartitions({QuantizerKind::kPq, false}, 1000000, 0),
            "num_partitions = 122: 1,000,000 rows / 8,192 a partition");
  EXPECT_EQ(ExplainPartitions({QuantizerKind::kPq, false}, 100, 0),
            "num_partitions = 1: 100 rows / 8,192 a partition, at least 1");
  EXPECT_EQ(ExplainSubVectors(128, 8, 16),
            "num_sub_vectors = 16: 128 elements / 8 a sub-vector, 16 bytes a row");
}

}  // namespace
}  // namespace kinjo::index
