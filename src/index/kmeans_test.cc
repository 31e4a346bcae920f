// k-means: the same bytes whatever the threads and the SIMD level, costs against a plain Lloyd, and
// rows that are few, equal or all in one place.
#include "index/kmeans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "base/assert_result.h"
#include "kernels/every_simd_level.h"

namespace kinjo::index {
namespace {

BuildContext With(base::ThreadPool* pool) { return {.pool = pool, .cancel = {}, .progress = {}}; }

std::vector<float> Clustered(int64_t num_rows, int64_t dim, int64_t clusters, double spread,
                             uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> centres;
  for (int64_t i = 0; i < clusters * dim; ++i) centres.push_back(normal(random));
  std::vector<float> rows;
  for (int64_t i = 0; i < num_rows; ++i) {
    const auto cluster = static_cast<int64_t>(random() % static_cast<uint32_t>(clusters));
    for (int64_t j = 0; j < dim; ++j) {
      rows.push_back(static_cast<float>(centres[cluster * dim + j] + spread * normal(random)));
    }
  }
  return rows;
}

double L2(const float* a, const float* b, int64_t dim) {
  double sum = 0;
  for (int64_t j = 0; j < dim; ++j) {
    const double difference = static_cast<double>(a[j]) - b[j];
    sum += difference * difference;
  }
  return sum;
}

// Mean squared distance to the nearest centroid, and rows of each.
struct Truth {
  double cost = 0;
  std::vector<int64_t> sizes;
};
Truth Measure(const std::vector<float>& rows, const std::vector<float>& centroids, int64_t dim) {
  Truth truth;
  const auto n = static_cast<int64_t>(rows.size()) / dim;
  const auto k = static_cast<int64_t>(centroids.size()) / dim;
  truth.sizes.assign(static_cast<size_t>(k), 0);
  for (int64_t i = 0; i < n; ++i) {
    int64_t best = 0;
    double least = L2(rows.data() + i * dim, centroids.data(), dim);
    for (int64_t c = 1; c < k; ++c) {
      const double distance = L2(rows.data() + i * dim, centroids.data() + c * dim, dim);
      if (distance < least) {
        least = distance;
        best = c;
      }
    }
    truth.cost += least / static_cast<double>(n);
    ++truth.sizes[best];
  }
  return truth;
}

// Random rows as seeds and forty passes, the best of three.
double PlainCost(const std::vector<float>& rows, int64_t dim, int64_t k) {
  const auto n = static_cast<int64_t>(rows.size()) / dim;
  double best = 1e300;
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    std::mt19937 random(seed);
    std::vector<float> centroids;
    for (int64_t c = 0; c < k; ++c) {
      const auto row = static_cast<int64_t>(random() % static_cast<uint32_t>(n));
      centroids.insert(centroids.end(), rows.begin() + row * dim, rows.begin() + (row + 1) * dim);
    }
    for (int pass = 0; pass < 40; ++pass) {
      std::vector<double> sums(static_cast<size_t>(k * dim), 0.0);
      std::vector<int64_t> sizes(static_cast<size_t>(k), 0);
      for (int64_t i = 0; i < n; ++i) {
        int64_t nearest = 0;
        for (int64_t c = 1; c < k; ++c) {
          if (L2(rows.data() + i * dim, centroids.data() + c * dim, dim) <
              L2(rows.data() + i * dim, centroids.data() + nearest * dim, dim)) {
            nearest = c;
          }
        }
        ++sizes[nearest];
        for (int64_t j = 0; j < dim; ++j) sums[nearest * dim + j] += rows[i * dim + j];
      }
      for (int64_t c = 0; c < k; ++c) {
        for (int64_t j = 0; j < dim && sizes[c] > 0; ++j) {
          centroids[c * dim + j] =
              static_cast<float>(sums[c * dim + j] / static_cast<double>(sizes[c]));
        }
      }
    }
    best = std::min(best, Measure(rows, centroids, dim).cost);
  }
  return best;
}

TEST(KMeans, CostsNoMoreThanPlainLloyd) {
  base::ThreadPool pool(2);
  struct Shape {
    int64_t dim, clusters, k;
    double spread;
  };
  for (const Shape& shape :
       {Shape{8, 40, 32, 0.3}, Shape{16, 5, 16, 1.0}, Shape{2, 100, 50, 0.1}}) {
    const std::vector<float> rows = Clustered(3000, shape.dim, shape.clusters, shape.spread, 11);
    KINJO_ASSERT_RESULT(
        trained, TrainKMeans(rows.data(), 3000, shape.dim, {.num_clusters = shape.k}, With(&pool)));
    const Truth truth = Measure(rows, trained.centroids, shape.dim);
    EXPECT_NEAR(trained.cost, truth.cost, 1e-9 * truth.cost);
    EXPECT_EQ(trained.sizes, truth.sizes);
    EXPECT_LE(trained.cost, 1.02 * PlainCost(rows, shape.dim, shape.k));
    EXPECT_EQ(trained.empty_clusters(), 0);
    EXPECT_LT(trained.imbalance(), 3);
  }
}

TEST(KMeans, FindsClustersThatStandApart) {
  base::ThreadPool pool(2);
  const std::vector<float> rows = Clustered(4000, 8, 64, 0.001, 5);
  KINJO_ASSERT_RESULT(trained,
                      TrainKMeans(rows.data(), 4000, 8, {.num_clusters = 64}, With(&pool)));
  EXPECT_LT(trained.cost, 8 * 0.001 * 0.001 * 1.1);
}

TEST(KMeans, ThreadsAndLevelsChangeNoByte) {
  for (const Nearness nearness : {Nearness::kL2, Nearness::kDot}) {
    const std::vector<float> rows = Clustered(20000, 6, 30, 0.4, 3);
    const KMeansOptions options{.num_clusters = 70, .nearness = nearness, .seed = 9};
    base::ThreadPool one(1);
    KINJO_ASSERT_RESULT(expected, TrainKMeans(rows.data(), 20000, 6, options, With(&one)));
    for (const int threads : {2, 4}) {
      base::ThreadPool pool(threads);
      KINJO_ASSERT_RESULT(trained, TrainKMeans(rows.data(), 20000, 6, options, With(&pool)));
      EXPECT_EQ(trained.centroids, expected.centroids) << threads;
      EXPECT_EQ(trained.cost, expected.cost);
    }
    ASSERT_TRUE(kernels::AtEverySimdLevel([&](const std::string& level) {
      KINJO_ASSERT_RESULT(trained, TrainKMeans(rows.data(), 20000, 6, options, With(&one)));
      EXPECT_EQ(trained.centroids, expected.centroids) << level;
    }));
  }
}

TEST(KMeans, TheSeedDecides) {
  base::ThreadPool pool(1);
  const std::vector<float> rows = Clustered(2000, 4, 10, 1, 3);
  KINJO_ASSERT_RESULT(first, TrainKMeans(rows.data(), 2000, 4, {.num_clusters = 20}, With(&pool)));
  KINJO_ASSERT_RESULT(
      second, TrainKMeans(rows.data(), 2000, 4, {.num_clusters = 20, .seed = 1}, With(&pool)));
  EXPECT_NE(first.centroids, second.centroids);
}

TEST(KMeans, DotGivesUnitVectorsThatSumUpTheRows) {
  base::ThreadPool pool(2);
  const std::vector<float> rows = Clustered(3000, 5, 12, 0.2, 8);
  KINJO_ASSERT_RESULT(
      trained, TrainKMeans(rows.data(), 3000, 5, {.num_clusters = 12, .nearness = Nearness::kDot},
                           With(&pool)));
  double gained = 0;
  double most = 0;
  for (int64_t i = 0; i < 3000; ++i) {
    const float* row = rows.data() + i * 5;
    double best = -1e300;
    for (int64_t c = 0; c < 12; ++c) {
      const float* centroid = trained.centroids.data() + c * 5;
      double product = 0;
      for (int64_t j = 0; j < 5; ++j) product += static_cast<double>(row[j]) * centroid[j];
      best = std::max(best, product);
    }
    const std::vector<float> zero(5, 0.0f);
    gained += best;
    most += std::sqrt(L2(row, zero.data(), 5));
  }
  for (int64_t c = 0; c < 12; ++c) {
    const std::vector<float> zero(5, 0.0f);
    EXPECT_NEAR(L2(trained.centroids.data() + c * 5, zero.data(), 5), 1, 1e-6);
  }
  EXPECT_NEAR(trained.cost, (most - gained) / 3000, 1e-6 * most / 3000);
  EXPECT_GT(gained, 0.97 * most);
}

TEST(KMeans, FewerDistinctRowsThanClusters) {
  base::ThreadPool pool(2);
  for (const Nearness nearness : {Nearness::kL2, Nearness::kDot}) {
    std::vector<float> rows;
    for (int64_t i = 0; i < 300; ++i) {
      for (int64_t j = 0; j < 4; ++j) rows.push_back(j == i % 3 ? 2.0f : 0.0f);
    }
    KINJO_ASSERT_RESULT(
        trained,
        TrainKMeans(rows.data(), 300, 4, {.num_clusters = 16, .nearness = nearness}, With(&pool)));
    EXPECT_NEAR(trained.cost, 0, 1e-6);
    EXPECT_EQ(trained.empty_clusters(), 13);
    EXPECT_EQ(std::vector<int64_t>(trained.sizes.begin(), trained.sizes.begin() + 3),
              (std::vector<int64_t>{100, 100, 100}));
    for (size_t c = 3; c < 16; ++c) {
      const auto centroid = trained.centroids.begin() + static_cast<int64_t>(c) * 4;
      EXPECT_TRUE(std::equal(centroid, centroid + 4,
                             trained.centroids.begin() + static_cast<int64_t>(c % 3) * 4));
    }
  }
}

TEST(KMeans, OneRowAndEqualRows) {
  base::ThreadPool pool(2);
  for (const int64_t num_rows : {1, 2, 50}) {
    for (const float value : {0.0f, 3.5f}) {
      const std::vector<float> rows(static_cast<size_t>(num_rows * 3), value);
      for (const Nearness nearness : {Nearness::kL2, Nearness::kDot}) {
        KINJO_ASSERT_RESULT(trained,
                            TrainKMeans(rows.data(), num_rows, 3,
                                        {.num_clusters = 4, .nearness = nearness}, With(&pool)));
        EXPECT_EQ(trained.sizes, (std::vector<int64_t>{num_rows, 0, 0, 0}));
        for (const float element : trained.centroids) EXPECT_TRUE(std::isfinite(element));
      }
    }
  }
}

TEST(KMeans, AsManyClustersAsRows) {
  base::ThreadPool pool(2);
  const std::vector<float> rows = Clustered(60, 3, 60, 0.5, 4);
  KINJO_ASSERT_RESULT(trained, TrainKMeans(rows.data(), 60, 3, {.num_clusters = 60}, With(&pool)));
  EXPECT_EQ(trained.empty_clusters(), 0);
  EXPECT_NEAR(trained.cost, 0, 1e-12);
}

TEST(KMeans, ThousandsOfClustersInTwoLevels) {
  const std::vector<float> rows = Clustered(20000, 4, 500, 0.1, 6);
  base::ThreadPool one(1);
  base::ThreadPool pool(3);
  const KMeansOptions options{.num_clusters = 2500};
  KINJO_ASSERT_RESULT(trained, TrainKMeans(rows.data(), 20000, 4, options, With(&pool)));
  KINJO_ASSERT_RESULT(alone, TrainKMeans(rows.data(), 20000, 4, options, With(&one)));
  EXPECT_EQ(trained.centroids, alone.centroids);
  EXPECT_EQ(trained.sizes.size(), 2500u);
  EXPECT_LE(trained.empty_clusters(), 5);
  // One level of as many clusters is the measure of two.
  const KMeansOptions flat{.num_clusters = 2000};
  KINJO_ASSERT_RESULT(fewer, TrainKMeans(rows.data(), 20000, 4, flat, With(&pool)));
  EXPECT_LT(trained.cost, fewer.cost);
}

// A crowd and a few rows far away, which are coarse clusters of one row each: clusters are shared
// out to all of them, and no more than there are.
TEST(KMeans, TwoLevelsOfVeryUnequalSizes) {
  base::ThreadPool pool(2);
  std::vector<float> rows = Clustered(6000, 2, 1, 1, 9);
  for (int64_t i = 0; i < 40; ++i) {
    rows[2 * i] = static_cast<float>(1000 * (i + 1));
    rows[2 * i + 1] = 0;
  }
  KINJO_ASSERT_RESULT(trained,
                      TrainKMeans(rows.data(), 6000, 2, {.num_clusters = 2100}, With(&pool)));
  EXPECT_EQ(trained.sizes.size(), 2100u);
  EXPECT_EQ(std::accumulate(trained.sizes.begin(), trained.sizes.end(), int64_t{0}), 6000);
  EXPECT_LE(trained.empty_clusters(), 100);
  for (const float element : trained.centroids) EXPECT_TRUE(std::isfinite(element));
}

TEST(KMeans, StopsWhenCancelled) {
  base::ThreadPool pool(2);
  const std::vector<float> rows = Clustered(5000, 8, 10, 1, 2);
  BuildContext context = With(&pool);
  double last = 0;
  context.progress = [&](double part) {
    EXPECT_GE(part, last);
    last = part;
    context.cancel.Cancel();
  };
  const auto trained = TrainKMeans(rows.data(), 5000, 8, {.num_clusters = 32}, context);
  ASSERT_FALSE(trained.ok());
  EXPECT_EQ(base::CodeOf(trained.status()), base::ErrorCode::kCancelled);
}

TEST(KMeans, ReportsProgressToTheEnd) {
  base::ThreadPool pool(2);
  const std::vector<float> rows = Clustered(5000, 8, 10, 1, 2);
  BuildContext context = With(&pool);
  double last = 0;
  context.progress = [&](double part) {
    EXPECT_GE(part, last);
    last = part;
  };
  ASSERT_TRUE(TrainKMeans(rows.data(), 5000, 8, {.num_clusters = 32}, context).ok());
  EXPECT_EQ(last, 1);
}

}  // namespace
}  // namespace kinjo::index
