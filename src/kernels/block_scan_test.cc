// The promise of the filter, checked by brute force in double: at every level, no pair whose
// reported distance is within the bound is ever missing. And that it does filter.
#include "kernels/block_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/canonical_distance.h"
#include "kernels/every_simd_level.h"

namespace kinjo::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Queries and rows of one case, as they came and as they are scanned.
struct Case {
  int64_t dim;
  bool dot = false;
  std::vector<float> queries, rows, centre;
  std::vector<float> moved;    // queries less centre
  std::vector<double> norms2;  // of moved
  GroupedRows grouped;

  int64_t num_queries() const { return static_cast<int64_t>(queries.size()) / dim; }
  int64_t num_rows() const { return static_cast<int64_t>(rows.size()) / dim; }

  void Prepare() {
    grouped.Reset(num_rows(), dim, true);
    const float* c = centre.empty() ? nullptr : centre.data();
    grouped.SetRows(0, num_rows(), rows.data(), c, dot);
    grouped.MakeCodes(0, grouped.num_groups());
    moved = queries;
    norms2.assign(num_queries(), 0);
    for (size_t i = 0; i < moved.size(); ++i) {
      if (c != nullptr) moved[i] -= c[i % dim];
      norms2[i / dim] += static_cast<double>(moved[i]) * moved[i];
    }
  }

  float Distance(int64_t query, int64_t row) const {
    const float* q = queries.data() + query * dim;
    const float* x = rows.data() + row * dim;
    return static_cast<float>(dot ? 1.0 - CanonicalDot(q, x, dim) : CanonicalL2(q, x, dim));
  }
  float Bound(int64_t query, double distance) const {
    return dot ? DotBound(distance, norms2[query], dim) : L2Bound(distance, norms2[query], dim);
  }
  BlockScan Scan(const std::vector<float>& bounds) const {
    return {grouped.rows(),       grouped.init(), dim,           0,
            grouped.num_groups(), moved.data(),   bounds.data(), num_queries()};
  }
  BlockScan CodeScan(const std::vector<float>& bounds) const {
    BlockScan scan = Scan(bounds);
    scan.codes = grouped.codes();
    return scan;
  }
};

std::vector<Hit> Survivors(const BlockScan& scan) {
  std::vector<Hit> hits(scan.num_queries * scan.num_groups * kGroupRows);
  hits.resize(ScanBlock(scan, hits.data()));
  std::sort(hits.begin(), hits.end(),
            [](Hit a, Hit b) { return std::tie(a.query, a.row) < std::tie(b.query, b.row); });
  return hits;
}

std::set<std::pair<uint32_t, uint32_t>> AsSet(const std::vector<Hit>& hits) {
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (const Hit& hit : hits) pairs.insert({hit.query, hit.row});
  EXPECT_EQ(pairs.size(), hits.size()) << "a pair came twice";
  return pairs;
}

// For several ranks: with the bound of the rank-th distance every row at or below it survives, ties
// included, over floats and over codes. Returns the survivors of the smallest rank, over floats,
// beyond those that had to survive.
int64_t ExpectNoneLost(const Case& data) {
  int64_t surplus = 0;
  for (const int64_t rank : {20, 5, 1}) {
    std::vector<float> bounds(data.num_queries());
    std::set<std::pair<uint32_t, uint32_t>> needed;
    for (int64_t q = 0; q < data.num_queries(); ++q) {
      std::vector<float> distances(data.num_rows());
      for (int64_t x = 0; x < data.num_rows(); ++x) distances[x] = data.Distance(q, x);
      std::vector<float> sorted = distances;
      std::sort(sorted.begin(), sorted.end());
      const float limit = sorted[std::min<int64_t>(rank, data.num_rows()) - 1];
      bounds[q] = data.Bound(q, limit);
      for (int64_t x = 0; x < data.num_rows(); ++x) {
        if (distances[x] <= limit) needed.insert({q, x});
      }
    }
    const auto survivors = AsSet(Survivors(data.Scan(bounds)));
    EXPECT_TRUE(std::includes(survivors.begin(), survivors.end(), needed.begin(), needed.end()))
        << "rank " << rank << " dim " << data.dim;
    for (const auto& [query, row] : survivors) EXPECT_LT(row, data.num_rows());
    const auto by_codes = AsSet(Survivors(data.CodeScan(bounds)));
    EXPECT_TRUE(std::includes(by_codes.begin(), by_codes.end(), needed.begin(), needed.end()))
        << "codes, rank " << rank << " dim " << data.dim;
    for (const auto& [query, row] : by_codes) EXPECT_LT(row, data.num_rows());
    surplus = static_cast<int64_t>(survivors.size() - needed.size());
  }
  return surplus;
}

Case MakeCase(std::mt19937_64& random, int64_t queries, int64_t rows, int64_t dim, double offset,
              double scale, bool dot = false) {
  std::normal_distribution<double> normal(0, 1);
  Case data{.dim = dim, .dot = dot};
  data.queries.resize(queries * dim);
  data.rows.resize(rows * dim);
  for (float& value : data.queries) value = static_cast<float>(offset + scale * normal(random));
  for (float& value : data.rows) value = static_cast<float>(offset + scale * normal(random));
  if (offset != 0 && !dot) data.centre.assign(dim, static_cast<float>(offset));
  return data;
}

TEST(ScanBlock, LosesNoNeighbourAndFilters) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(1);
    for (const int64_t dim : {1, 2, 7, 8, 50, 128}) {
      for (const bool dot : {false, true}) {
        Case data = MakeCase(random, 29, 163, dim, 0, 1, dot);
        data.Prepare();
        EXPECT_LE(ExpectNoneLost(data), 3) << "dim " << dim << " dot " << dot;
      }
    }
  }));
}

TEST(ScanBlock, EveryCountOfQueriesAndGroups) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(2);
    for (int64_t queries = 1; queries <= 19; ++queries) {
      for (const int64_t rows : {1, 16, 17, 40, 64, 90, 120, 130}) {
        Case data = MakeCase(random, queries, rows, 5, 0, 1);
        data.Prepare();
        ExpectNoneLost(data);
        const std::vector<float> all(queries, kInfinity);
        EXPECT_EQ(Survivors(data.Scan(all)).size(), static_cast<size_t>(queries * rows));
        EXPECT_EQ(Survivors(data.CodeScan(all)).size(), static_cast<size_t>(queries * rows));
      }
    }
  }));
}

TEST(ScanBlock, MoreQueriesThanAPanelAndRowsTooWideForTheStack) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(3);
    for (const auto& [queries, rows, dim] :
         {std::tuple{600, 50, 4}, {70, 50, 600}, {70, 50, 512}, {9, 20, 2049}, {3, 20, 5000}}) {
      Case data = MakeCase(random, queries, rows, dim, 0, 1);
      data.Prepare();
      ExpectNoneLost(data);
    }
  }));
}

TEST(ScanBlock, FarFromTheOrigin) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(4);
    for (const int64_t dim : {3, 64}) {
      Case data = MakeCase(random, 13, 200, dim, 1e6, 1);
      data.Prepare();
      EXPECT_LE(ExpectNoneLost(data), 13) << "centred data is filtered as well as any";
      data.centre.clear();  // not centred: many survive, none is lost
      data.Prepare();
      ExpectNoneLost(data);
    }
  }));
}

TEST(ScanBlock, RandomMagnitudesPerRow) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> exponent(-45, 38);
    std::normal_distribution<double> normal(0, 1);
    for (int round = 0; round < 8; ++round) {
      Case data = MakeCase(random, 17, 100, 12, 0, 1, round % 2 == 1);
      for (auto* values : {&data.queries, &data.rows}) {
        for (size_t i = 0; i < values->size(); i += data.dim) {
          const double scale = std::pow(10.0, exponent(random));
          for (int64_t j = 0; j < data.dim; ++j) {
            (*values)[i + j] =
                static_cast<float>(std::clamp(scale * normal(random), -3.4e38, 3.4e38));
          }
        }
      }
      if (round >= 4 && !data.dot) data.centre.assign(data.dim, -3e38f);
      data.Prepare();
      ExpectNoneLost(data);
    }
  }));
}

TEST(ScanBlock, OneMagnitudeFromTheTiniestToTheHugest) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(6);
    for (const double scale : {1e-45, 1e-38, 1e-25, 1e-19, 1e-10, 1e10, 1e18, 3e19, 1e30, 5e37}) {
      for (const bool dot : {false, true}) {
        Case data = MakeCase(random, 9, 70, 20, 0, scale, dot);
        data.Prepare();
        ExpectNoneLost(data);
      }
    }
  }));
}

TEST(ScanBlock, DuplicatesAndTies) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(7);
    for (const bool dot : {false, true}) {
      Case data{.dim = 6, .dot = dot};
      data.queries.resize(20 * data.dim);
      data.rows.resize(150 * data.dim);
      for (float& value : data.queries) value = static_cast<float>(random() % 3);
      for (float& value : data.rows) value = static_cast<float>(random() % 3);
      data.Prepare();
      EXPECT_EQ(ExpectNoneLost(data), 0) << "integers are exact: only true ties survive";
    }
  }));
}

TEST(ScanBlock, CosineOfRowsNormalisedInDouble) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    constexpr int64_t kDim = 24, kQueries = 11, kRows = 120;
    std::mt19937_64 random(8);
    std::normal_distribution<double> normal(0.5, 1);
    std::vector<double> units((kQueries + kRows) * kDim);
    for (double& value : units) value = static_cast<float>(normal(random));
    std::vector<double> raw = units;
    for (size_t i = 0; i < units.size(); i += kDim) {
      const double norm = std::sqrt(CanonicalDot(&raw[i], &raw[i], kDim));
      for (int64_t j = 0; j < kDim; ++j) units[i + j] /= norm;
    }
    const std::vector<double> centre(kDim, 0.1);
    GroupedRows grouped;
    grouped.Reset(kRows, kDim);
    for (int64_t x = 0; x < kRows; ++x) {
      grouped.SetRow(x, &units[(kQueries + x) * kDim], centre.data(), false);
    }
    std::vector<float> moved(kQueries * kDim), bounds(kQueries);
    std::set<std::pair<uint32_t, uint32_t>> needed;
    for (int64_t q = 0; q < kQueries; ++q) {
      double norm2 = 0;
      for (int64_t j = 0; j < kDim; ++j) {
        moved[q * kDim + j] = static_cast<float>(units[q * kDim + j] - centre[j]);
        norm2 += static_cast<double>(moved[q * kDim + j]) * moved[q * kDim + j];
      }
      std::vector<float> distances(kRows);
      const double* a = &raw[q * kDim];
      for (int64_t x = 0; x < kRows; ++x) {
        const double* b = &raw[(kQueries + x) * kDim];
        distances[x] =
            static_cast<float>(1 - CanonicalDot(a, b, kDim) / std::sqrt(CanonicalDot(a, a, kDim)) /
                                       std::sqrt(CanonicalDot(b, b, kDim)));
      }
      std::vector<float> sorted = distances;
      std::sort(sorted.begin(), sorted.end());
      bounds[q] = CosineBound(sorted[4], norm2, kDim);
      for (int64_t x = 0; x < kRows; ++x) {
        if (distances[x] <= sorted[4]) needed.insert({q, x});
      }
    }
    const auto survivors =
        AsSet(Survivors({grouped.rows(), grouped.init(), kDim, 0, grouped.num_groups(),
                         moved.data(), bounds.data(), kQueries}));
    EXPECT_TRUE(std::includes(survivors.begin(), survivors.end(), needed.begin(), needed.end()));
    EXPECT_LE(survivors.size(), needed.size() + 3);
  }));
}

// Elements half-way between two codes, all rounded the same way and multiplied by equal signs: the
// error of the codes is as large as it can be.
TEST(ScanBlock, TheWorstRoundingOfCodesLosesNothing) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(12);
    for (const int64_t dim : {2, 16, 63, 128}) {
      for (const float half : {0.499f, -0.499f}) {
        for (const bool dot : {false, true}) {
          Case data{.dim = dim, .dot = dot};
          data.queries.assign(9 * dim, 0.0f);
          data.rows.assign(80 * dim, 0.0f);
          for (int64_t i = 0; i < static_cast<int64_t>(data.queries.size()); ++i) {
            data.queries[i] = i % dim == 0 ? 127.0f : 10.0f * static_cast<float>(i / dim) + half;
          }
          for (int64_t i = 0; i < static_cast<int64_t>(data.rows.size()); ++i) {
            data.rows[i] = i % dim == 0 ? 127.0f : static_cast<float>(random() % 120) + half;
          }
          data.Prepare();
          ExpectNoneLost(data);
        }
      }
    }
  }));
}

TEST(ScanBlock, CodesFilterToo) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(13);
    for (const bool dot : {false, true}) {
      Case data = MakeCase(random, 50, 1000, 96, 0, 1, dot);
      data.Prepare();
      std::vector<float> bounds(50);
      for (int64_t q = 0; q < 50; ++q) {
        std::vector<float> distances(1000);
        for (int64_t x = 0; x < 1000; ++x) distances[x] = data.Distance(q, x);
        std::nth_element(distances.begin(), distances.begin() + 4, distances.end());
        bounds[q] = data.Bound(q, distances[4]);
      }
      const size_t survivors = Survivors(data.CodeScan(bounds)).size();
      EXPECT_GE(survivors, 250u);
      EXPECT_LE(survivors, 500u);
    }
  }));
}

TEST(ScanBlock, QueriesBoundedByMinusInfinityGetNothing) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(9);
    Case data = MakeCase(random, 40, 60, 10, 0, 1e25);  // rows that survive any other bound
    data.Prepare();
    std::vector<float> bounds(40, -kInfinity);
    EXPECT_TRUE(Survivors(data.Scan(bounds)).empty());
    EXPECT_TRUE(Survivors(data.CodeScan(bounds)).empty());
    bounds[17] = std::numeric_limits<float>::lowest();
    bounds[39] = kInfinity;
    const std::vector<Hit> hits = Survivors(data.Scan(bounds));
    ASSERT_EQ(hits.size(), 120u);
    EXPECT_EQ(Survivors(data.CodeScan(bounds)).size(), 120u);
    for (int64_t i = 0; i < 120; ++i) {
      EXPECT_EQ(hits[i].query, i < 60 ? 17u : 39u);
      EXPECT_EQ(hits[i].row, static_cast<uint32_t>(i % 60));
    }
  }));
}

TEST(ScanBlock, ARangeOfGroupsGivesTheSameSlots) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(10);
    Case data = MakeCase(random, 10, 150, 9, 0, 1);
    data.Prepare();
    std::vector<float> bounds(10);
    for (int64_t q = 0; q < 10; ++q) bounds[q] = data.Bound(q, 12.0);
    const auto all = AsSet(Survivors(data.Scan(bounds)));
    std::set<std::pair<uint32_t, uint32_t>> parts;
    for (const auto& [first, count] : {std::pair{0, 2}, {2, 7}, {9, 1}}) {
      BlockScan part = data.Scan(bounds);
      part.first_group = first;
      part.num_groups = count;
      for (const auto& pair : AsSet(Survivors(part))) {
        EXPECT_GE(pair.second, first * kGroupRows);
        EXPECT_LT(pair.second, (first + count) * kGroupRows);
        parts.insert(pair);
      }
    }
    EXPECT_EQ(parts, all);
    EXPECT_FALSE(all.empty());
    EXPECT_LT(all.size(), 1500u);
  }));
}

TEST(ScoreBlock, ScoresLieWithinTheStatedError) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(11);
    for (const bool dot : {false, true}) {
      for (const int64_t dim : {1, 33, 128, 700}) {
        Case data = MakeCase(random, 21, 85, dim, 0, 1, dot);
        data.Prepare();
        BlockScan scan = data.Scan({});
        scan.bounds = nullptr;
        scan.first_group = 1;
        scan.num_groups -= 1;
        const int64_t stride = scan.num_groups * kGroupRows + 5;
        std::vector<float> scores(scan.num_queries * stride, 12345.0f);
        ScoreBlock(scan, scores.data(), stride);
        const double factor = ErrorFactor(dim);
        for (int64_t q = 0; q < scan.num_queries; ++q) {
          for (int64_t x = kGroupRows; x < data.num_rows(); ++x) {
            const float* row = data.rows.data() + x * dim;
            const float* query = data.queries.data() + q * dim;
            const double norm2 = CanonicalDot(row, row, dim);
            const double exact = (dot ? 0 : norm2 / 2) - CanonicalDot(query, row, dim);
            const double score = scores[q * stride + x - kGroupRows];
            EXPECT_GE(exact, score - factor * data.norms2[q]);
            EXPECT_LE(exact, score + factor * (data.norms2[q] + 2 * norm2));
          }
          for (int64_t x = data.num_rows(); x < 96; ++x) {
            EXPECT_EQ(scores[q * stride + x - kGroupRows], kInfinity);
          }
          EXPECT_EQ(scores[q * stride + stride - 1], 12345.0f) << "wrote beyond its row";
        }
      }
    }
  }));
}

// Rows as codes alone, under one scale, as a caller makes them who knows no floats.
void CodeRows(const Case& data, GroupedRows* rows) {
  float largest = 0;
  for (const float element : data.rows) largest = std::max(largest, std::abs(element));
  const float scale = largest / 127;
  rows->ResetCoded(data.num_rows(), data.dim);
  for (int64_t x = 0; x < data.num_rows(); ++x) {
    double norm2 = 0;
    double rest2 = 0;
    for (int64_t j = 0; j < CodeSteps(data.dim) * 4; ++j) {
      const float element = j < data.dim ? data.rows[x * data.dim + j] : 0.0f;
      const int code = static_cast<int>(std::lround(element / scale));
      const double rest = element - static_cast<double>(scale) * code;
      norm2 += static_cast<double>(element) * element;
      rest2 += rest * rest;
      const int64_t group = x / kGroupRows * CodeSteps(data.dim) * kGroupRows * 4;
      rows->mutable_codes()[group + j / 4 * kGroupRows * 4 + x % kGroupRows * 4 + j % 4] =
          static_cast<uint8_t>(code + 128);
    }
    rows->SetCodedRows(x, 1, scale, &norm2, &rest2, data.dot);
  }
}

TEST(ScoreCodes, IsAnUpperBoundAndRowsOfCodesAloneAreScanned) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    std::mt19937_64 random(12);
    for (const bool dot : {false, true}) {
      for (const int64_t dim : {1, 6, 50, 128, 700}) {
        if (!ScansCodes(dim)) return;
        Case data = MakeCase(random, 21, 85, dim, 0, 1, dot);
        data.Prepare();
        GroupedRows coded;
        CodeRows(data, &coded);
        BlockScan scan = data.Scan({});
        scan.bounds = nullptr;
        scan.codes = coded.codes();
        const int64_t stride = scan.num_groups * kGroupRows;
        std::vector<float> scores(scan.num_queries * stride);
        ScoreCodes(scan, scores.data(), stride);
        std::vector<float> bounds;
        std::set<std::pair<uint32_t, uint32_t>> needed;
        for (int64_t q = 0; q < scan.num_queries; ++q) {
          for (int64_t x = 0; x < data.num_rows(); ++x) {
            const float* row = data.rows.data() + x * dim;
            const double norm2 = CanonicalDot(row, row, dim);
            const double product = CanonicalDot(data.queries.data() + q * dim, row, dim);
            const double exact = (dot ? 0 : norm2 / 2) - product;
            const double upper = scores[q * stride + x] + scan.codes.slack[x];
            EXPECT_LE(exact, upper + ErrorFactor(dim) * data.norms2[q]);
            // Rows are about as long as the root of their width, and all have one scale.
            EXPECT_GE(exact + 0.1 * (static_cast<double>(dim) + norm2 + data.norms2[q]), upper);
          }
          EXPECT_EQ(scores[q * stride + stride - 1], kInfinity) << "a padding row";
          bounds.push_back(data.Bound(q, data.Distance(q, 40)));
          for (uint32_t x = 0; x < data.num_rows(); ++x) {
            if (data.Distance(q, x) <= data.Distance(q, 40)) needed.insert({q, x});
          }
        }
        scan.bounds = bounds.data();
        scan.init = coded.init();
        const auto survivors = AsSet(Survivors(scan));
        EXPECT_TRUE(
            std::includes(survivors.begin(), survivors.end(), needed.begin(), needed.end()));
      }
    }
  }));
}

TEST(Bounds, OddArguments) {
  EXPECT_EQ(L2Bound(kInfinity, 1, 8), kInfinity);
  EXPECT_EQ(DotBound(kInfinity, 1, 8), kInfinity);
  EXPECT_EQ(DotBound(-kInfinity, 1, 8), std::numeric_limits<float>::lowest());
  EXPECT_EQ(L2Bound(1, 1e38, 8), kInfinity) << "a query too large for float32";
  EXPECT_EQ(L2Bound(1, kInfinity, 8), kInfinity);
  EXPECT_EQ(L2Bound(1, std::numeric_limits<double>::quiet_NaN(), 8), kInfinity);
  EXPECT_EQ(L2Bound(1e300, 1, 8), kInfinity);
  EXPECT_EQ(DotBound(-1e300, 1, 8), std::numeric_limits<float>::lowest());
  EXPECT_EQ(L2Bound(1, 1, int64_t{1} << 30), kInfinity) << "too many dimensions for a bound";
  EXPECT_GT(L2Bound(3, 1, 8), 1.0f);
  EXPECT_LT(L2Bound(3, 1, 8), 1.0f + 1e-5f);
  EXPECT_GT(DotBound(1, 1, 8), 0.0f);
  EXPECT_LT(DotBound(1, 1, 8), 1e-5f);
}

}  // namespace
}  // namespace kinjo::kernels
