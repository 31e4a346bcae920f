// The best row of each query against brute force in double, at every level: never further off than
// the scores' error allows, and with a runner-up that says how close it was.
#include "kernels/nearest_row.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/block_scan.h"
#include "kernels/every_simd_level.h"

namespace kinjo::kernels {
namespace {

struct Case {
  int64_t dim;
  int64_t num_rows;
  int64_t num_queries;
  int64_t stride;
  bool dot;
  std::vector<float> rows, queries;
  GroupedRows grouped;
};

Case MakeCase(int64_t dim, int64_t num_rows, int64_t num_queries, bool dot) {
  Case made{dim, num_rows, num_queries, dim + 3, dot, {}, {}, {}};
  std::mt19937 random(static_cast<uint32_t>(dim * 1000 + num_rows));
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < num_rows * dim; ++i) made.rows.push_back(normal(random));
  for (int64_t i = 0; i < num_queries * made.stride; ++i) made.queries.push_back(normal(random));
  made.grouped.Reset(num_rows, dim);
  made.grouped.SetRows(0, num_rows, made.rows.data(), nullptr, dot);
  return made;
}

double Score(const Case& tested, int64_t query, int64_t row) {
  double norm2 = 0;
  double product = 0;
  for (int64_t j = 0; j < tested.dim; ++j) {
    const double x = tested.rows[row * tested.dim + j];
    norm2 += x * x;
    product += x * tested.queries[query * tested.stride + j];
  }
  return (tested.dot ? 0 : norm2 / 2) - product;
}

double Norm2(const float* values, int64_t dim) {
  double sum = 0;
  for (int64_t j = 0; j < dim; ++j) sum += static_cast<double>(values[j]) * values[j];
  return sum;
}

void Check(const Case& tested, const std::vector<NearestRow>& found) {
  double largest = 0;
  for (int64_t row = 0; row < tested.num_rows; ++row) {
    largest = std::max(largest, Norm2(tested.rows.data() + row * tested.dim, tested.dim));
  }
  for (int64_t query = 0; query < tested.num_queries; ++query) {
    const double slack =
        ErrorFactor(tested.dim) *
        (Norm2(tested.queries.data() + query * tested.stride, tested.dim) + 2 * largest);
    std::vector<double> scores;
    for (int64_t row = 0; row < tested.num_rows; ++row) {
      scores.push_back(Score(tested, query, row));
    }
    ASSERT_LT(found[query].row, tested.num_rows);
    EXPECT_NEAR(found[query].score, scores[found[query].row], slack);
    std::sort(scores.begin(), scores.end());
    EXPECT_NEAR(found[query].score, scores[0], slack);
    if (tested.num_rows == 1) {
      EXPECT_TRUE(std::isinf(found[query].second));
    } else {
      EXPECT_NEAR(found[query].second, scores[1], slack);
      EXPECT_LE(found[query].score, found[query].second);
    }
  }
}

TEST(NearestRow, MatchesBruteForceAtEveryLevel) {
  ASSERT_TRUE(AtEverySimdLevel([](const std::string& level) {
    for (const int64_t dim : {1, 7, 8, 50, 129}) {
      for (const int64_t num_rows : {1, 15, 16, 17, 64, 100, 333}) {
        for (const int64_t num_queries : {1, 5, 64, 67}) {
          for (const bool dot : {false, true}) {
            SCOPED_TRACE(testing::Message() << level << " dim " << dim << " rows " << num_rows
                                            << " queries " << num_queries << " dot " << dot);
            const Case tested = MakeCase(dim, num_rows, num_queries, dot);
            std::vector<NearestRow> found(static_cast<size_t>(num_queries));
            FindNearestRows({.rows = tested.grouped.rows(),
                             .init = tested.grouped.init(),
                             .dim = dim,
                             .num_groups = tested.grouped.num_groups(),
                             .queries = tested.queries.data(),
                             .stride = tested.stride,
                             .num_queries = num_queries},
                            found.data());
            Check(tested, found);
          }
        }
      }
    }
  }));
}

TEST(NearestRow, TellsEqualRowsByTheRunnerUp) {
  ASSERT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    GroupedRows grouped;
    grouped.Reset(40, 2);
    for (int64_t row = 0; row < 40; ++row) {
      const float x[2] = {row == 3 || row == 35 ? 1.0f : 5.0f, 0};
      grouped.SetRow(row, x, nullptr, false);
    }
    const float query[2] = {1, 0};
    NearestRow found;
    FindNearestRows({.rows = grouped.rows(),
                     .init = grouped.init(),
                     .dim = 2,
                     .num_groups = grouped.num_groups(),
                     .queries = query,
                     .stride = 2,
                     .num_queries = 1},
                    &found);
    EXPECT_TRUE(found.row == 3 || found.row == 35);
    EXPECT_EQ(found.score, found.second);
  }));
}

}  // namespace
}  // namespace kinjo::kernels
