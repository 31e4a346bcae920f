// The scan of bytes against a plain sum of squared differences, at every level that has it.
#include "kernels/byte_scan.h"

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/every_simd_level.h"

namespace kinjo::kernels {
namespace {

using Found = std::vector<std::tuple<uint32_t, uint32_t, int32_t>>;

struct Case {
  int64_t dim;
  int64_t num_queries;
  int64_t num_rows;
  std::vector<uint8_t> queries, rows;
  GroupedBytes grouped;
  PackedBytes packed;

  Case(int64_t width, int64_t query_count, int64_t row_count, int low, int high)
      : dim(width), num_queries(query_count), num_rows(row_count) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> bytes(low, high);
    for (int64_t i = 0; i < num_queries * dim; ++i) {
      queries.push_back(static_cast<uint8_t>(bytes(random)));
    }
    // The first row is as far from a query of zeros as a row can be.
    for (int64_t i = 0; i < num_rows * dim; ++i) {
      rows.push_back(i < dim ? 255 : static_cast<uint8_t>(bytes(random)));
    }
    std::fill_n(queries.begin(), dim, uint8_t{0});
    Prepare();
  }

  void Prepare() {
    grouped.Reset(num_rows, dim);
    for (int64_t group = 0; group < grouped.num_groups(); ++group) {
      const uint8_t* of_group[kGroupRows];
      for (int64_t i = 0; i < kGroupRows; ++i) {
        const int64_t row = std::min(group * kGroupRows + i, num_rows - 1);
        of_group[i] = rows.data() + row * dim;
      }
      grouped.StoreGroup(group, of_group);
    }
    packed.Reset(num_queries, dim);
    for (int64_t q = 0; q < num_queries; ++q) packed.Set(q, queries.data() + q * dim);
  }

  int32_t L2(int64_t query, int64_t row) const {
    int32_t sum = 0;
    for (int64_t j = 0; j < dim; ++j) {
      const int32_t difference = queries[query * dim + j] - rows[row * dim + j];
      sum += difference * difference;
    }
    return sum;
  }

  Found Expected(const std::vector<int32_t>& bounds, int64_t first_row, int64_t last_row) const {
    Found found;
    for (int64_t q = 0; q < num_queries; ++q) {
      for (int64_t row = first_row; row < std::min(last_row, num_rows); ++row) {
        const int32_t l2 = L2(q, row);
        if (l2 <= bounds[q]) found.emplace_back(q, row, l2);
      }
    }
    return found;
  }

  Found Scan(const std::vector<int32_t>& bounds, int64_t first_group, int64_t num_groups) {
    for (int64_t q = 0; q < num_queries; ++q) packed.SetBound(q, bounds[q]);
    std::vector<ByteHit> hits(static_cast<size_t>(num_queries * num_groups * kGroupRows));
    hits.resize(
        static_cast<size_t>(ScanBytes({&grouped, &packed, first_group, num_groups}, hits.data())));
    Found found;
    for (const ByteHit& hit : hits) found.emplace_back(hit.query, hit.row, hit.l2);
    std::sort(found.begin(), found.end());
    return found;
  }
};

/// A bound for each query: nothing, everything, and what half of the rows are within.
std::vector<int32_t> SomeBounds(const Case& data) {
  std::vector<int32_t> bounds;
  for (int64_t q = 0; q < data.num_queries; ++q) {
    std::vector<int32_t> all;
    for (int64_t row = 0; row < data.num_rows; ++row) all.push_back(data.L2(q, row));
    std::sort(all.begin(), all.end());
    const int32_t choices[] = {all[all.size() / 2], LargestByteL2(data.dim), -1, all.front()};
    bounds.push_back(choices[q % 4]);
  }
  return bounds;
}

TEST(ByteScan, FindsExactlyTheRowsWithinTheBounds) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    for (const int64_t dim : {1, 3, 4, 15, 16, 50, 64, 127, 300}) {
      if (!ScansBytes(dim)) continue;
      for (const int64_t queries : {1, 2, 3, 5, 8, 9, 17, 24}) {
        Case data(dim, queries, 77, 0, 255);
        const std::vector<int32_t> bounds = SomeBounds(data);
        EXPECT_EQ(data.Scan(bounds, 0, 5), data.Expected(bounds, 0, 80)) << dim << " " << queries;
        EXPECT_EQ(data.Scan(bounds, 1, 3), data.Expected(bounds, 16, 64)) << dim << " " << queries;
      }
    }
  }));
}

TEST(ByteScan, TheWidestRowsFillThirtyTwoBits) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    constexpr int64_t kDim = 32768;
    if (!ScansBytes(kDim)) return;
    EXPECT_FALSE(ScansBytes(kDim + 1));
    for (const int byte : {0, 128, 255}) {
      Case data(kDim, 2, 18, byte, byte);
      const std::vector<int32_t> bounds(2, LargestByteL2(kDim));
      EXPECT_EQ(data.Scan(bounds, 0, 2), data.Expected(bounds, 0, 18));
    }
  }));
}

TEST(ByteScan, LeastOfEachClass) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    if (!ScansBytes(50)) return;
    for (const int64_t sets : {1, 2, 3}) {
      for (const int64_t rows : {16, 30, 77}) {
        Case data(50, 11, rows, 0, 255);
        const int64_t classes = sets * kGroupRows;
        std::vector<int32_t> expected(static_cast<size_t>(data.num_queries * classes),
                                      std::numeric_limits<int32_t>::max());
        for (int64_t q = 0; q < data.num_queries; ++q) {
          for (int64_t row = 0; row < rows; ++row) {
            const int64_t in_class = row / kGroupRows % sets * kGroupRows + row % kGroupRows;
            int32_t& least = expected[q * classes + in_class];
            least = std::min(least, data.L2(q, row));
          }
        }
        std::vector<int32_t> minima(expected.size());
        LeastBytes({&data.grouped, &data.packed, 0, data.grouped.num_groups()}, sets,
                   minima.data());
        EXPECT_EQ(minima, expected) << sets << " " << rows;
      }
    }
  }));
}

}  // namespace
}  // namespace kinjo::kernels
