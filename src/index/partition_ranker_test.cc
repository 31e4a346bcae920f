#include "index/partition_ranker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "kernels/simd_level.h"

namespace kinjo::index {
namespace {

using kernels::Metric;

struct Setting {
  int64_t num_partitions;
  int64_t dim;
  double offset;
  double scale;
};

std::vector<double> Normals(int64_t count, double offset, double scale, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) value = static_cast<float>(offset + scale * normal(random));
  return values;
}

template <typename T>
double DistanceTo(const double* query, const std::vector<T>& centroids, int64_t p, int64_t dim,
                  Metric metric) {
  long double sum = 0;
  for (int64_t j = 0; j < dim; ++j) {
    const long double c = centroids[p * dim + j];
    sum += metric == Metric::kDot ? query[j] * c : (query[j] - c) * (query[j] - c);
  }
  return static_cast<double>(metric == Metric::kDot ? 1 - sum : sum);
}

// Checks that the answer is sorted, has the right distances and leaves out nothing nearer.
template <typename T>
void ExpectNearest(const std::vector<RankedPartition>& ranked, const double* query,
                   const std::vector<T>& centroids, int64_t dim, Metric metric, int64_t limit) {
  const auto num_partitions = static_cast<int64_t>(centroids.size()) / dim;
  ASSERT_EQ(static_cast<int64_t>(ranked.size()), std::min(limit, num_partitions));
  std::vector<bool> chosen(static_cast<size_t>(num_partitions), false);
  double tolerance = 1e-44;  // a few steps of a float below its normal range
  for (size_t i = 0; i < ranked.size(); ++i) {
    const double expected = DistanceTo(query, centroids, ranked[i].partition, dim, metric);
    double scale = std::abs(expected);
    if (metric == Metric::kDot) scale += 1 + std::abs(1 - expected);
    tolerance = std::max(tolerance, 2e-7 * scale + 1e-44);
    EXPECT_NEAR(ranked[i].distance, expected, 2e-7 * scale + 1e-44);
    EXPECT_FALSE(chosen[ranked[i].partition]);
    chosen[ranked[i].partition] = true;
    if (i == 0) continue;
    const RankedPartition& last = ranked[i - 1];
    EXPECT_TRUE(last.distance < ranked[i].distance ||
                (last.distance == ranked[i].distance && last.partition < ranked[i].partition));
  }
  for (int64_t p = 0; p < num_partitions; ++p) {
    if (chosen[p]) continue;
    EXPECT_GE(DistanceTo(query, centroids, p, dim, metric) + tolerance, ranked.back().distance);
  }
}

std::set<uint32_t> Partitions(const std::vector<RankedPartition>& ranked) {
  std::set<uint32_t> partitions;
  for (const RankedPartition& entry : ranked) partitions.insert(entry.partition);
  EXPECT_EQ(partitions.size(), ranked.size());
  return partitions;
}

template <typename T>
void CheckSetting(const Setting& setting, Metric metric) {
  const std::vector<double> values =
      Normals(setting.num_partitions * setting.dim, setting.offset, setting.scale, 1);
  const std::vector<T> centroids(values.begin(), values.end());
  const PartitionRanker<T> ranker(centroids, setting.dim, metric);
  QueryBlock queries;
  queries.num_queries = 70;  // more than a tile
  queries.dim = setting.dim;
  queries.values = Normals(70 * setting.dim, setting.offset, setting.scale, 2);
  for (const int64_t limit : {int64_t{1}, int64_t{7}, int64_t{100}, setting.num_partitions}) {
    std::vector<std::vector<RankedPartition>> ranked;
    ranker.Rank(queries, 3, 70, {.limit = limit}, &ranked);
    ASSERT_EQ(ranked.size(), 67u);
    for (int64_t i = 0; i < 67; ++i) {
      ExpectNearest(ranked[i], queries.query(i + 3), centroids, setting.dim, metric, limit);
    }
    std::vector<std::vector<RankedPartition>> picked;
    ranker.Rank(queries, 3, 70, {.limit = limit, .any_order = true}, &picked);
    ASSERT_EQ(picked.size(), 67u);
    for (int64_t i = 0; i < 67; ++i) {
      EXPECT_EQ(Partitions(picked[i]), Partitions(ranked[i])) << limit;
      EXPECT_LE(
          DistanceTo(queries.query(i + 3), centroids, picked[i][0].partition, setting.dim, metric),
          ranked[i][0].distance + 1e-3 * (1 + std::abs(ranked[i][0].distance)));
    }
  }
}

TEST(PartitionRanker, EqualsBruteForce) {
  for (const Setting& setting :
       {Setting{600, 24, 0, 1}, Setting{37, 5, 0, 1}, Setting{1, 3, 0, 1}, Setting{600, 16, 1e4, 1},
        Setting{300, 8, 0, 1e-20}, Setting{300, 8, 0, 1e18}, Setting{300, 8, 1e18, 1e17}}) {
    for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
      CheckSetting<float>(setting, metric);
      CheckSetting<double>(setting, metric);
    }
  }
}

TEST(PartitionRanker, TiesGoToTheLowerPartition) {
  constexpr int64_t kDim = 8;
  // 40 different centroids, each 20 times.
  const std::vector<double> values = Normals(40 * kDim, 0, 1, 1);
  std::vector<float> centroids;
  for (int copy = 0; copy < 20; ++copy) {
    centroids.insert(centroids.end(), values.begin(), values.end());
  }
  const PartitionRanker<float> ranker(centroids, kDim, Metric::kL2);
  QueryBlock queries{.values = Normals(kDim, 0, 1, 2), .num_queries = 1, .dim = kDim};
  std::vector<std::vector<RankedPartition>> all;
  ranker.Rank(queries, 0, 1, {.limit = 800}, &all);
  for (const int64_t limit : {1, 5, 19, 20, 21, 47}) {
    std::vector<std::vector<RankedPartition>> ranked;
    ranker.Rank(queries, 0, 1, {.limit = limit}, &ranked);
    for (int64_t i = 0; i < limit; ++i) {
      EXPECT_EQ(ranked[0][i].partition, all[0][i].partition);
      EXPECT_EQ(ranked[0][i].partition / 40, static_cast<uint32_t>(i % 20));
    }
  }
}

TEST(PartitionRanker, AnswersTheSameBytesAtEveryLevel) {
  const std::vector<double> values = Normals(512 * 20, 3, 1, 1);
  const std::vector<float> centroids(values.begin(), values.end());
  const PartitionRanker<float> ranker(centroids, 20, Metric::kL2);
  QueryBlock queries{.values = Normals(50 * 20, 3, 1, 2), .num_queries = 50, .dim = 20};
  std::vector<std::vector<RankedPartition>> expected;
  ranker.Rank(queries, 0, 50, {.limit = 33}, &expected);
  for (const std::string& level : kernels::AvailableSimdLevels()) {
    ASSERT_TRUE(kernels::ForceSimdLevel(level).ok());
    std::vector<std::vector<RankedPartition>> ranked;
    ranker.Rank(queries, 0, 50, {.limit = 33}, &ranked);
    for (size_t i = 0; i < ranked.size(); ++i) {
      for (size_t j = 0; j < ranked[i].size(); ++j) {
        EXPECT_EQ(ranked[i][j].partition, expected[i][j].partition) << level;
        EXPECT_EQ(ranked[i][j].distance, expected[i][j].distance) << level;
      }
    }
  }
  ASSERT_TRUE(kernels::ForceSimdLevel("").ok());
}

TEST(PartitionRanker, RanksAnOddCentroidLast) {
  std::vector<float> centroids = {0, 0, 1, 1, std::numeric_limits<float>::quiet_NaN(), 0, 3, 3};
  const PartitionRanker<float> ranker(centroids, 2, Metric::kL2);
  EXPECT_FALSE(ranker.is_finite(2));
  QueryBlock queries{.values = {0.1, 0}, .num_queries = 1, .dim = 2};
  for (const int64_t limit : {3, 4, 9}) {
    std::vector<std::vector<RankedPartition>> ranked;
    ranker.Rank(queries, 0, 1, {.limit = limit}, &ranked);
    ASSERT_EQ(ranked[0].size(), static_cast<size_t>(std::min<int64_t>(limit, 4)));
    EXPECT_EQ(ranked[0][2].partition, 3u);
    if (limit > 3) {
      EXPECT_EQ(ranked[0][3].partition, 2u);
      EXPECT_EQ(ranked[0][3].distance, std::numeric_limits<float>::infinity());
    }
  }
  std::vector<std::vector<RankedPartition>> none(5);
  ranker.Rank(queries, 0, 1, {.limit = 0}, &none);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_TRUE(none[0].empty());
}

}  // namespace
}  // namespace kinjo::index
