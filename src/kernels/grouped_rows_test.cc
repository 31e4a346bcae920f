#include "kernels/grouped_rows.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/block_scan.h"
#include "kernels/every_simd_level.h"

namespace kinjo::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> Random(std::mt19937_64& random, int64_t size) {
  std::normal_distribution<float> normal(2, 1);
  std::vector<float> values(size);
  for (float& value : values) value = normal(random);
  return values;
}

TEST(GroupedRows, RowsComeBackCentredFromTheirPlace) {
  std::mt19937_64 random(1);
  for (const int64_t dim : {1, 3, 4, 17, 50}) {
    constexpr int64_t kRows = 37;
    const std::vector<float> x = Random(random, kRows * dim);
    const std::vector<float> centre = Random(random, dim);
    GroupedRows rows;
    rows.Reset(kRows, dim);
    EXPECT_EQ(rows.num_groups(), 3);
    for (int64_t slot = 0; slot < kRows; ++slot) {
      rows.SetRow(slot, x.data() + slot * dim, centre.data(), false);
    }
    std::vector<float> out(dim);
    for (int64_t slot = 0; slot < kRows; ++slot) {
      rows.GetRow(slot, out.data());
      for (int64_t j = 0; j < dim; ++j) {
        EXPECT_EQ(out[j], x[slot * dim + j] - centre[j]);
        EXPECT_EQ(out[j], rows.rows()[(slot / 16 * dim + j) * 16 + slot % 16]);
      }
    }
    for (int64_t slot = kRows; slot < 48; ++slot) EXPECT_EQ(rows.init()[slot], kInfinity);
  }
}

// Storage starts on a cache line whatever was stored before.
TEST(GroupedRows, StorageIsAlignedAndReused) {
  GroupedRows rows;
  for (const int64_t count : {5, 1000, 33}) {
    rows.Reset(count, 7);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(rows.rows()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(rows.init()) % 64, 0u);
  }
}

TEST(GroupedRows, TheWaysToStoreARowAgreeAtEveryLevel) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(2);
    for (const int64_t dim : {1, 2, 4, 5, 16, 31, 128}) {
      for (const bool dot : {false, true}) {
        constexpr int64_t kRows = 70;
        const std::vector<float> x = Random(random, kRows * dim);
        const std::vector<double> wide(x.begin(), x.end());
        const std::vector<float> centre = dot ? std::vector<float>() : Random(random, dim);
        const std::vector<double> wide_centre(centre.begin(), centre.end());
        GroupedRows single, bulk, from_double;
        for (GroupedRows* rows : {&single, &bulk, &from_double}) rows->Reset(kRows, dim);
        bulk.SetRows(0, 3, x.data(), dot ? nullptr : centre.data(), dot);
        bulk.SetRows(3, kRows - 3, x.data() + 3 * dim, dot ? nullptr : centre.data(), dot);
        for (int64_t slot = 0; slot < kRows; ++slot) {
          single.SetRow(slot, x.data() + slot * dim, dot ? nullptr : centre.data(), dot);
          from_double.SetRow(slot, wide.data() + slot * dim, dot ? nullptr : wide_centre.data(),
                             dot);
        }
        std::vector<float> one(dim), two(dim), three(dim);
        for (int64_t slot = 0; slot < kRows; ++slot) {
          single.GetRow(slot, one.data());
          bulk.GetRow(slot, two.data());
          from_double.GetRow(slot, three.data());
          EXPECT_EQ(one, two);
          EXPECT_EQ(one, three);
          const float init = single.init()[slot];
          EXPECT_NEAR(bulk.init()[slot], init, std::abs(init) * 1e-6f);
          EXPECT_NEAR(from_double.init()[slot], init, std::abs(init) * 1e-6f);
        }
        single.FinishRows(0, kRows, dot);
        for (int64_t slot = 0; slot < kRows; ++slot) {
          EXPECT_NEAR(single.init()[slot], bulk.init()[slot], std::abs(bulk.init()[slot]) * 1e-6f);
        }
      }
    }
  }));
}

TEST(GroupedRows, CodesAreNearTheRowsAndPartsMakeTheWhole) {
  std::mt19937_64 random(3);
  for (const int64_t dim : {1, 6, 50}) {
    constexpr int64_t kRows = 40;
    const std::vector<float> x = Random(random, kRows * dim);
    GroupedRows rows;
    rows.Reset(kRows, dim, true);
    rows.SetRows(0, kRows, x.data(), nullptr, false);
    rows.MakeCodes(2, 1);
    rows.MakeCodes(0, 2);
    const RowCodes codes = rows.codes();
    if (codes.codes == nullptr) GTEST_SKIP() << "no codes at level " << CurrentSimdLevel();
    for (int64_t slot = 0; slot < kRows; ++slot) {
      for (int64_t j = 0; j < dim; ++j) {
        const int64_t group = slot / 16 * CodeSteps(dim) + j / 4;
        const int code = codes.codes[(group * 16 + slot % 16) * 4 + j % 4] - 128;
        EXPECT_NEAR(x[slot * dim + j], codes.scales[slot] * static_cast<float>(code),
                    codes.scales[slot] * 0.501f);
      }
      EXPECT_LT(codes.init[slot], rows.init()[slot]);
    }
    for (int64_t slot = kRows; slot < 48; ++slot) EXPECT_EQ(codes.init[slot], kInfinity);
    rows.Reset(kRows, dim);
    EXPECT_EQ(rows.codes().codes, nullptr);
  }
}

TEST(RowInit, LiesBelowHalfTheNormByTheError) {
  for (const int64_t dim : {1, 50, 1536}) {
    const double factor = ErrorFactor(dim);
    EXPECT_LE(RowInit(4.0, dim, false), 4.0 * (0.5 - factor * 0.999));
    EXPECT_GE(RowInit(4.0, dim, false), 4.0 * (0.5 - factor * 1.001) - 1e-6);
    EXPECT_LE(RowInit(4.0, dim, true), -4.0 * factor * 0.999);
  }
  EXPECT_EQ(RowInit(0.0, 8, false), 0.0f);
}

TEST(RowInit, ARowTooLargeForFloat32AlwaysSurvives) {
  EXPECT_EQ(RowInit(1e38, 8, false), -kInfinity);
  EXPECT_EQ(RowInit(std::numeric_limits<double>::infinity(), 8, true), -kInfinity);
  EXPECT_EQ(RowInit(std::numeric_limits<double>::quiet_NaN(), 8, false), -kInfinity);
  EXPECT_TRUE(std::isfinite(RowInit(1e37, 8, false)));
}

TEST(MoveQuery, SubtractsInDoubleAndGivesTheNormOfTheFloats) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal(0, 1);
    for (int64_t dim = 1; dim <= 40; ++dim) {
      std::vector<double> query(dim), wide(dim);
      std::vector<float> centre(dim);
      for (int64_t j = 0; j < dim; ++j) {
        query[j] = 1e4 + normal(random);
        centre[j] = static_cast<float>(1e4 + normal(random));
        wide[j] = centre[j];
      }
      std::vector<float> moved(dim), as_they_are(dim);
      const double norm2 = MoveQuery(query.data(), centre.data(), dim, moved.data());
      double lanes[8] = {};
      for (int64_t j = 0; j < dim; ++j) {
        EXPECT_EQ(moved[j], static_cast<float>(query[j] - wide[j]));
        lanes[j % 8] += static_cast<double>(moved[j]) * moved[j];
      }
      EXPECT_EQ(norm2, ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7])));
      EXPECT_EQ(MoveQuery(query.data(), wide.data(), dim, as_they_are.data()), norm2);
      EXPECT_EQ(as_they_are, moved);
      MoveQuery(query.data(), static_cast<const float*>(nullptr), dim, as_they_are.data());
      EXPECT_EQ(as_they_are[dim - 1], static_cast<float>(query[dim - 1]));
    }
  }));
}

}  // namespace
}  // namespace kinjo::kernels
