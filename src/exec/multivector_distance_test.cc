#include "exec/multivector_distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "arrow/api.h"

namespace kinjo::exec {
namespace {

using Lists = std::vector<std::vector<std::vector<double>>>;

/// Lists of 1 to `most` vectors around a few directions, so that many are near each other.
Lists RandomLists(int64_t rows, int64_t most, int64_t dim, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> centres(5, std::vector<double>(static_cast<size_t>(dim)));
  for (auto& centre : centres) {
    for (double& value : centre) value = 3 * normal(random);
  }
  Lists lists(static_cast<size_t>(rows));
  for (auto& list : lists) {
    list.resize(1 + random() % static_cast<uint32_t>(most));
    for (auto& vector : list) {
      vector = centres[random() % centres.size()];
      for (double& value : vector) value = static_cast<float>(value + normal(random));
    }
  }
  return lists;
}

std::shared_ptr<arrow::Array> ArrayOf(const Lists& lists, int64_t dim) {
  auto values = std::make_shared<arrow::DoubleBuilder>();
  auto vectors = std::make_shared<arrow::FixedSizeListBuilder>(arrow::default_memory_pool(), values,
                                                               static_cast<int32_t>(dim));
  arrow::ListBuilder builder(arrow::default_memory_pool(), vectors);
  for (const auto& list : lists) {
    EXPECT_TRUE(builder.Append().ok());
    for (const auto& vector : list) {
      EXPECT_TRUE(vectors->Append().ok());
      EXPECT_TRUE(values->AppendValues(vector).ok());
    }
  }
  return *builder.Finish();
}

const VectorRead kRead{.what = "column \"v\""};

QueryLists QueriesOf(const Lists& lists, int64_t dim) {
  QueryLists queries;
  queries.vectors.metric = kernels::Metric::kCosine;
  std::vector<VectorState> states;
  const FlatLists flat = *FlattenLists(ArrayOf(lists, dim), kRead);
  EXPECT_TRUE(AppendLists(flat, kRead, &queries, &states).ok());
  return queries;
}

std::vector<uint64_t> Addresses(int64_t rows) {
  std::vector<uint64_t> addresses;
  for (int64_t i = 0; i < rows; ++i) addresses.push_back(static_cast<uint64_t>(3 * i));
  return addresses;
}

double PlainDistance(const std::vector<std::vector<double>>& left,
                     const std::vector<std::vector<double>>& right) {
  double sum = 0;
  for (const auto& a : left) {
    double best = -2;
    for (const auto& b : right) {
      double dot = 0, a2 = 0, b2 = 0;
      for (size_t j = 0; j < a.size(); ++j) {
        dot += a[j] * b[j];
        a2 += a[j] * a[j];
        b2 += b[j] * b[j];
      }
      best = std::max(best, dot / std::sqrt(a2 * b2));
    }
    sum += 1 - best;
  }
  return sum;
}

/// Scans `right` for `left` in two blocks.
std::vector<std::vector<kernels::Neighbor>> Scan(const Lists& left, const Lists& right, int64_t dim,
                                                 int64_t k, int threads, DistanceRange range = {},
                                                 int64_t* scores_bytes = nullptr) {
  const QueryLists queries = QueriesOf(left, dim);
  NeighborHeaps heaps;
  heaps.Reset(queries.num_lists(), k, range);
  base::ThreadPool pool(threads);
  MultivectorDistance distance(&pool, base::CancelToken());
  const auto half = static_cast<int64_t>(right.size() / 2);
  const auto all = ArrayOf(right, dim);
  const auto addresses = Addresses(all->length());
  const auto first = *ListRows::Read(kernels::Metric::kCosine, all->Slice(0, half), kRead);
  const FilterSpace space = FilterSpace::Around(kernels::Metric::kCosine, first.vectors(), dim);
  EXPECT_TRUE(distance.SetQueries(&space, &queries).ok());
  for (const auto& [begin, rows] : {std::pair(int64_t{0}, half), {half, all->length() - half}}) {
    ListBlock block;
    block.Fill(space, *ListRows::Read(kernels::Metric::kCosine, all->Slice(begin, rows), kRead),
               {addresses.begin() + begin, addresses.begin() + begin + rows});
    EXPECT_TRUE(distance.Score(block, &heaps, {}).ok());
  }
  std::vector<std::vector<kernels::Neighbor>> out;
  for (int64_t i = 0; i < queries.num_lists(); ++i) out.push_back(heaps.TakeSorted(i));
  if (scores_bytes != nullptr) *scores_bytes = distance.scores_bytes();
  return out;
}

/// Scores every pair by ListRows, which is compared with plain arithmetic on the way.
std::vector<std::vector<kernels::Neighbor>> Oracle(const Lists& left, const Lists& right,
                                                   int64_t dim, int64_t k) {
  const QueryLists queries = QueriesOf(left, dim);
  const auto rows = *ListRows::Read(kernels::Metric::kCosine, ArrayOf(right, dim), kRead);
  std::vector<std::vector<kernels::Neighbor>> out;
  for (uint32_t list = 0; list < left.size(); ++list) {
    kernels::TopK top(k);
    for (uint32_t row = 0; row < right.size(); ++row) {
      const ScorePair pair{list, row};
      float distance = 0;
      rows.Score(queries, {&pair, 1}, &distance);
      EXPECT_NEAR(distance, PlainDistance(left[list], right[row]),
                  1e-6 * static_cast<double>(left[list].size()));
      top.Push({distance, uint64_t{3} * row});
    }
    out.push_back(top.TakeSorted());
  }
  return out;
}

void ExpectSame(const std::vector<std::vector<kernels::Neighbor>>& got,
                const std::vector<std::vector<kernels::Neighbor>>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), want[i].size()) << "list " << i;
    for (size_t j = 0; j < got[i].size(); ++j) {
      EXPECT_EQ(got[i][j].address, want[i][j].address) << "list " << i << " rank " << j;
      EXPECT_EQ(got[i][j].distance, want[i][j].distance) << "list " << i << " rank " << j;
    }
  }
}

TEST(MultivectorDistance, GivesWhatScoringEveryPairGives) {
  for (const int64_t dim : {3, 16, 40}) {
    const Lists left = RandomLists(30, 6, dim, 1), right = RandomLists(400, 9, dim, 2);
    const auto want = Oracle(left, right, dim, 7);
    ExpectSame(Scan(left, right, dim, 7, 1), want);
    ExpectSame(Scan(left, right, dim, 7, 3), want);
  }
}

TEST(MultivectorDistance, ListsLongerThanATileOrAChunk) {
  const Lists left = RandomLists(4, 700, 8, 3), right = RandomLists(12, 900, 8, 4);
  ExpectSame(Scan(left, right, 8, 5, 2), Oracle(left, right, 8, 5));
}

TEST(MultivectorDistance, AHugeListIsScoredByPartsInTheMemoryOfAnyOther) {
  // 2,500 left vectors and rows of 1,000: two and a half million scores a pair.
  Lists left = RandomLists(2, 3, 4, 9);
  left.emplace_back();
  for (const auto& list : RandomLists(2500, 1, 4, 10)) left.back().push_back(list[0]);
  Lists right = RandomLists(3, 20, 4, 12);
  for (const uint32_t seed : {13u, 14u, 15u}) {
    right.emplace_back();
    for (const auto& list : RandomLists(1000, 1, 4, seed)) right.back().push_back(list[0]);
  }
  const auto want = Oracle(left, right, 4, 2);
  for (const int threads : {1, 2}) {
    int64_t scores_bytes = 0;
    ExpectSame(Scan(left, right, 4, 2, threads, {}, &scores_bytes), want);
    EXPECT_GT(scores_bytes, 0);
    EXPECT_LE(scores_bytes, threads * MultivectorDistance::kScoresMax * 4);
  }
}

TEST(MultivectorDistance, VectorsAtTheCentreSayNothingAndAreLookedAtAll) {
  // All vectors of the first half have one direction: moved by their mean they are zero.
  Lists right(60, {{1, 2, 2}});
  for (size_t i = 0; i < right.size(); ++i) {
    right[i][0][0] *= static_cast<double>(i + 1);
    right[i][0][1] *= static_cast<double>(i + 1);
    right[i][0][2] *= static_cast<double>(i + 1);
    if (i % 3 == 0) right[i].push_back({1.0, 2.0, 2.0 + 1e-4 * static_cast<double>(i)});
  }
  const Lists left = {{{1, 2, 2.001}, {1, 2, 2}}, {{-1, 0, 3}}, {{2, 4, 4}}};
  ExpectSame(Scan(left, right, 3, 60, 1), Oracle(left, right, 3, 60));
  ExpectSame(Scan(left, right, 3, 4, 2), Oracle(left, right, 3, 4));
}

TEST(MultivectorDistance, TheRangeBoundsSums) {
  const Lists left = RandomLists(10, 3, 16, 5), right = RandomLists(200, 4, 16, 6);
  auto want = Oracle(left, right, 16, 200);
  for (auto& list : want) {
    std::erase_if(list, [](const auto& row) { return row.distance < 0.5f || row.distance >= 1; });
    list.resize(std::min<size_t>(list.size(), 9));
  }
  ExpectSame(Scan(left, right, 16, 9, 2, DistanceRange::HalfOpen(0.5f, 1.0f)), want);
}

TEST(ListRows, OneVectorEachIsPlainCosine) {
  const Lists left = RandomLists(20, 1, 16, 7), right = RandomLists(30, 1, 16, 8);
  const QueryLists queries = QueriesOf(left, 16);
  const auto rows = *ListRows::Read(kernels::Metric::kCosine, ArrayOf(right, 16), kRead);
  for (uint32_t list = 0; list < 20; ++list) {
    for (uint32_t row = 0; row < 30; ++row) {
      const ScorePair pair{list, row};
      float lists_distance = 0, plain = 0;
      rows.Score(queries, {&pair, 1}, &lists_distance);
      rows.vectors().Score(queries.vectors, {&pair, 1}, &plain);
      EXPECT_EQ(lists_distance, plain);
    }
  }
}

}  // namespace
}  // namespace kinjo::exec
