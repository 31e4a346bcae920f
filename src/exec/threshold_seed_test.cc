#include "exec/threshold_seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "kernels/canonical_distance.h"

namespace kinjo::exec {
namespace {

constexpr int64_t kDim = 13;
constexpr int64_t kRows = 300;
constexpr int64_t kQueries = 20;
constexpr int64_t kNeighbours = 17;

std::vector<float> Normal(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> value;
  std::vector<float> out(static_cast<size_t>(count));
  for (float& element : out) element = value(random);
  return out;
}

struct Seeded {
  std::vector<float> rows = Normal(kRows * kDim, 1);
  std::vector<float> queries = Normal(kQueries * kDim, 2);
  std::vector<double> norms2;
  std::vector<uint32_t> ids;
  kernels::GroupedRows grouped;
  NeighborHeaps heaps;
  FilterScratch scratch;

  int64_t Run(kernels::Metric metric, DistanceRange range) {
    grouped.Reset(kRows, kDim);
    for (int64_t i = 0; i < kRows; ++i) {
      grouped.SetRow(i, rows.data() + i * kDim, static_cast<const float*>(nullptr),
                     metric == kernels::Metric::kDot);
    }
    ids.resize(kQueries);
    std::iota(ids.begin(), ids.end(), 0u);
    norms2.clear();
    for (int64_t q = 0; q < kQueries; ++q) norms2.push_back(Dot(query(q), query(q)));
    heaps.Reset(kQueries, kNeighbours, range);
    const QueryTile tile{kQueries, queries.data(), norms2.data(), ids.data()};
    const RowRange all{.rows = &grouped, .first_group = 0, .num_groups = grouped.num_groups()};
    return SeedThresholds(metric, tile, all, &heaps, &scratch);
  }

  const float* query(int64_t q) const { return queries.data() + q * kDim; }
  static double Dot(const float* a, const float* b) { return kernels::CanonicalDot(a, b, kDim); }

  /// The n-th smallest distance of a query to the rows.
  float Nth(kernels::Metric metric, int64_t q, int64_t n) const {
    std::vector<float> distances;
    for (int64_t i = 0; i < kRows; ++i) {
      const float* row = rows.data() + i * kDim;
      const double distance = metric == kernels::Metric::kDot
                                  ? 1 - Dot(query(q), row)
                                  : kernels::CanonicalL2(query(q), row, kDim);
      distances.push_back(static_cast<float>(distance));
    }
    std::sort(distances.begin(), distances.end());
    return distances[static_cast<size_t>(n - 1)];
  }
};

TEST(ThresholdSeed, IsNeverBelowTheKthDistanceAndNearIt) {
  for (const auto metric : {kernels::Metric::kL2, kernels::Metric::kDot}) {
    Seeded seeded;
    EXPECT_EQ(seeded.Run(metric, {}), (kRows + 15) / 16);
    for (int64_t q = 0; q < kQueries; ++q) {
      EXPECT_GE(seeded.heaps.threshold(q), seeded.Nth(metric, q, kNeighbours));
      const float near = seeded.Nth(metric, q, 2 * kNeighbours);  // the cut is taken roughly
      EXPECT_LE(seeded.heaps.threshold(q), near + 1e-3f * (1 + std::abs(near)));
    }
  }
}

TEST(ThresholdSeed, RowsThatSayNothingDontCount) {
  Seeded seeded;
  for (int64_t i = 0; i < kRows - kNeighbours + 1; ++i) seeded.rows[i * kDim] = 1e30f;
  seeded.Run(kernels::Metric::kL2, {});
  // Fewer than k rows have a score: nothing is known yet.
  EXPECT_TRUE(seeded.heaps.filling(0));
}

TEST(ThresholdSeed, ALowerEndLeavesTheThresholdsAlone) {
  Seeded seeded;
  EXPECT_EQ(seeded.Run(kernels::Metric::kL2, DistanceRange::HalfOpen(1.0f, 50.0f)), 0);
  EXPECT_TRUE(seeded.heaps.filling(3));
}

}  // namespace
}  // namespace kinjo::exec
