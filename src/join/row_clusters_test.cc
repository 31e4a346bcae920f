#include "join/row_clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace kinjo::join {
namespace {

/// The smallest row that each row reaches, by a walk from every row in turn.
std::vector<uint32_t> Reach(uint32_t rows,
                            const std::vector<std::pair<uint32_t, uint32_t>>& pairs) {
  std::vector<std::vector<uint32_t>> beside(rows);
  for (const auto& [a, b] : pairs) {
    beside[a].push_back(b);
    beside[b].push_back(a);
  }
  std::vector<uint32_t> smallest(rows, rows);
  for (uint32_t row = 0; row < rows; ++row) {
    std::vector<uint32_t> open = {row};
    while (!open.empty()) {
      const uint32_t at = open.back();
      open.pop_back();
      if (smallest[at] != rows) continue;
      smallest[at] = row;
      open.insert(open.end(), beside[at].begin(), beside[at].end());
    }
  }
  return smallest;
}

TEST(RowClusters, AreTheConnectedComponentsNamedByTheirSmallestRow) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const uint32_t rows = 1 + seed;
    std::vector<std::pair<uint32_t, uint32_t>> pairs(random() % (rows + 1));
    for (auto& [a, b] : pairs) {
      a = random() % rows;
      b = random() % rows;  // a row may be paired with itself
    }
    const std::vector<uint32_t> expected = Reach(rows, pairs);
    for (int order = 0; order < 2; ++order) {
      RowClusters clusters(rows);
      for (const auto& [a, b] : pairs) clusters.Unite(a, b);
      const std::set<uint32_t> names(expected.begin(), expected.end());
      EXPECT_EQ(clusters.num_clusters(), static_cast<int64_t>(names.size()));
      for (uint32_t row = 0; row < rows; ++row) {
        EXPECT_EQ(clusters.Find(row), expected[row]) << "seed " << seed << " row " << row;
      }
      std::reverse(pairs.begin(), pairs.end());
    }
  }
}

TEST(RowClusters, LongChainsAreOneCluster) {
  constexpr uint32_t kRows = 200000;
  RowClusters clusters(kRows);
  for (uint32_t row = kRows - 1; row > 0; --row) clusters.Unite(row, row - 1);
  EXPECT_EQ(clusters.num_clusters(), 1);
  EXPECT_EQ(clusters.Find(kRows - 1), 0u);
}

TEST(RowClusters, GrowsByRowsOfTheirOwn) {
  RowClusters clusters(0);
  EXPECT_EQ(clusters.num_clusters(), 0);
  clusters.Grow(3);
  clusters.Unite(2, 1);
  clusters.Grow(2);  // has more already
  clusters.Grow(5);
  EXPECT_EQ(clusters.num_rows(), 5);
  EXPECT_EQ(clusters.num_clusters(), 4);
  EXPECT_EQ(clusters.Find(2), 1u);
  EXPECT_EQ(clusters.Find(4), 4u);
  EXPECT_GE(RowClusters::SizeBytes(1000000), 4000000);
}

}  // namespace
}  // namespace kinjo::join
