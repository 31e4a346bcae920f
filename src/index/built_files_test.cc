// Indexes built in memory, searched: every row once and in its nearest partition, recall of each
// kind against brute force, and the same bytes whatever the threads and the SIMD level.
#include "index/built_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>

#include "base/assert_result.h"
#include "index/elements.h"
#include "index/segment_checks.h"
#include "kernels/every_simd_level.h"
#include "kernels/top_k.h"

namespace kinjo::index {
namespace {

using format::ElementType;
using kernels::Metric;

constexpr int64_t kDim = 32;

struct Column {
  ElementType type;
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> validity;
  std::vector<double> values;  // what the elements say, [num_rows][kDim]
  std::vector<uint64_t> row_ids;

  int64_t num_rows() const { return static_cast<int64_t>(row_ids.size()); }
  const double* row(int64_t i) const { return values.data() + i * kDim; }
  VectorsWithIds Piece() const {
    return {{.type = type,
             .data = bytes.data(),
             .num_rows = num_rows(),
             .dim = kDim,
             .validity = validity.empty() ? nullptr : validity.data(),
             .validity_offset = 0},
            row_ids};
  }
};

// Clusters near `offset`; row ids fall, so that the order of a partition isn't that of the rows.
Column MakeColumn(ElementType type, int64_t num_rows, double offset = 0.3, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> centres;
  for (int64_t i = 0; i < 40 * kDim; ++i) centres.push_back(normal(random) + offset);
  Column column{.type = type, .bytes = {}, .validity = {}, .values = {}, .row_ids = {}};
  for (int64_t i = 0; i < num_rows; ++i) {
    const auto cluster = static_cast<int64_t>(random() % 40);
    for (int64_t j = 0; j < kDim; ++j) {
      double value = centres[cluster * kDim + j] + 0.5 * normal(random);
      if (type == ElementType::kFloat16) value = RoundToFloat16(value);
      if (type == ElementType::kFloat32) value = static_cast<float>(value);
      column.values.push_back(value);
    }
    column.row_ids.push_back(static_cast<uint64_t>(10 * (num_rows - i)));
  }
  column.bytes.resize(column.values.size() * format::ElementBytes(type));
  if (type == ElementType::kFloat64) {
    StoreElements(type, column.values.data(), num_rows * kDim, column.bytes.data());
  } else {
    const std::vector<float> narrow(column.values.begin(), column.values.end());
    StoreElements(type, narrow.data(), num_rows * kDim, column.bytes.data());
  }
  return column;
}

struct Kind {
  std::string type;
  int num_bits;
  double least_recall;  // at 10, of all partitions, l2
};
std::vector<Kind> Kinds() {
  return {{"IVF_FLAT", 8, 1.0}, {"IVF_PQ", 8, 0.55}, {"IVF_PQ", 4, 0.25}, {"IVF_SQ", 8, 0.93},
          {"IVF_RQ", 1, 0.2},   {"IVF_RQ", 3, 0.6},  {"IVF_RQ", 5, 0.85}, {"IVF_RQ", 9, 0.95}};
}

TrainingOptions Options(const Kind& kind, Metric metric) {
  return {.index_type = kind.type,
          .metric = metric,
          .num_partitions = 9,
          .num_sub_vectors = 16,
          .num_bits = kind.num_bits};
}

arrow::Result<std::shared_ptr<IvfSegment>> Build(const Column& column,
                                                 const TrainingOptions& options, int threads = 2) {
  base::ThreadPool pool(threads);
  const VectorsWithIds pieces[] = {column.Piece()};
  return BuildSegment(pieces, options, {.pool = &pool, .cancel = {}, .progress = {}});
}

double TrueDistance(Metric metric, const double* a, const double* b) {
  double dot = 0, l2 = 0, a2 = 0, b2 = 0;
  for (int64_t j = 0; j < kDim; ++j) {
    dot += a[j] * b[j];
    l2 += (a[j] - b[j]) * (a[j] - b[j]);
    a2 += a[j] * a[j];
    b2 += b[j] * b[j];
  }
  if (metric == Metric::kL2) return l2;
  return metric == Metric::kDot ? 1 - dot : 1 - dot / std::sqrt(a2 * b2);
}

// The row ids nearest to each query by the distances that the segment gives, over all partitions.
std::vector<std::set<uint64_t>> Search(const IvfSegment& segment, const QueryBlock& queries,
                                       int64_t k) {
  std::vector<kernels::TopK> best;
  for (int64_t q = 0; q < queries.num_queries; ++q) best.emplace_back(k);
  for (int64_t p = 0; p < segment.num_partitions(); ++p) {
    const DecodedPartition decoded = DecodeAll(segment, p);
    for (int64_t slot = 0; slot < decoded.rows.num_rows(); ++slot) {
      for (int64_t q = 0; q < queries.num_queries; ++q) {
        best[q].Push(
            {segment.Distance(p, queries.query(q), decoded, slot), decoded.addresses[slot] / 10});
      }
    }
  }
  std::vector<std::set<uint64_t>> found(best.size());
  for (size_t q = 0; q < best.size(); ++q) {
    for (const kernels::Neighbor& row : best[q].TakeSorted()) found[q].insert(row.address);
  }
  return found;
}

double Recall(const Column& column, const IvfSegment& segment) {
  constexpr int64_t kQueries = 40;
  const Column left = MakeColumn(ElementType::kFloat64, 400, 0.3, 1);
  const std::vector<double> vectors(left.values.begin() + 200 * kDim,
                                    left.values.begin() + (200 + kQueries) * kDim);
  const auto found = Search(segment, segment.PrepareQueries(vectors), 10);
  int64_t hits = 0;
  for (int64_t q = 0; q < kQueries; ++q) {
    kernels::TopK best(10);
    for (int64_t i = 0; i < column.num_rows(); ++i) {
      best.Push({static_cast<float>(
                     TrueDistance(segment.metric(), vectors.data() + q * kDim, column.row(i))),
                 column.row_ids[i]});
    }
    for (const kernels::Neighbor& row : best.TakeSorted()) hits += found[q].contains(row.address);
  }
  return static_cast<double>(hits) / (kQueries * 10);
}

TEST(BuiltFiles, EveryKindFindsWhatItShould) {
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const Column column = MakeColumn(type, 1500);
    for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
      for (const Kind& kind : Kinds()) {
        if (type != ElementType::kFloat32 && (kind.num_bits != 8 || metric == Metric::kDot))
          continue;
        SCOPED_TRACE(testing::Message()
                     << kind.type << " " << kind.num_bits << " " << kernels::MetricName(metric)
                     << " " << format::ElementTypeName(type));
        KINJO_ASSERT_RESULT(segment, Build(column, Options(kind, metric)));
        EXPECT_EQ(segment->index_type(), kind.type);
        EXPECT_EQ(segment->element_type(), type);
        const double rounded = type == ElementType::kFloat16 && kind.least_recall == 1 ? 0.02 : 0;
        EXPECT_GE(Recall(column, *segment), kind.least_recall - rounded);
      }
    }
  }
}

TEST(BuiltFiles, EachRowIsOnceInItsNearestPartitionById) {
  const Column column = MakeColumn(ElementType::kFloat32, 3000);
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
    KINJO_ASSERT_RESULT(segment, Build(column, Options({"IVF_FLAT", 8, 1}, metric)));
    std::vector<std::vector<RankedPartition>> ranked;
    segment->RankPartitions(segment->PrepareQueries(column.values), 0, column.num_rows(), 1,
                            &ranked);
    std::map<uint64_t, uint32_t> nearest;
    for (int64_t i = 0; i < column.num_rows(); ++i) {
      nearest[column.row_ids[i]] = ranked[i][0].partition;
    }
    int64_t rows = 0;
    int64_t elsewhere = 0;  // cosine ranks unit vectors that aren't rounded
    for (int64_t p = 0; p < segment->num_partitions(); ++p) {
      const std::vector<uint64_t> ids = StoredIds(*segment, p);
      EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
      for (const uint64_t id : ids) elsewhere += nearest[id] != p;
      rows += static_cast<int64_t>(ids.size());
    }
    EXPECT_EQ(rows, column.num_rows());
    EXPECT_LE(elsewhere, metric == Metric::kCosine ? 2 : 0);
  }
}

std::vector<std::string> Bytes(const IvfSegment& segment) {
  std::vector<std::string> bytes;
  for (int64_t p = 0; p < segment.num_partitions(); ++p) {
    const format::PartitionRows rows = segment.Load(p).ValueOrDie();
    for (const auto& buffer :
         {rows.row_ids, rows.codes, rows.ex_codes, rows.add_factors, rows.scale_factors}) {
      bytes.push_back(buffer == nullptr ? "" : buffer->ToString());
    }
  }
  return bytes;
}

TEST(BuiltFiles, ThreadsAndLevelsChangeNoByte) {
  const Column column = MakeColumn(ElementType::kFloat32, 700);
  for (const Metric metric : {Metric::kL2, Metric::kDot}) {
    for (const Kind& kind : Kinds()) {
      if (metric == Metric::kDot && kind.type != "IVF_RQ") continue;
      SCOPED_TRACE(testing::Message() << kind.type << " " << kind.num_bits);
      KINJO_ASSERT_RESULT(expected, Build(column, Options(kind, metric), 1));
      for (const int threads : {2, 5}) {
        KINJO_ASSERT_RESULT(segment, Build(column, Options(kind, metric), threads));
        EXPECT_EQ(Bytes(*segment), Bytes(*expected));
      }
      ASSERT_TRUE(kernels::AtEverySimdLevel([&](const std::string& level) {
        KINJO_ASSERT_RESULT(segment, Build(column, Options(kind, metric)));
        EXPECT_EQ(Bytes(*segment), Bytes(*expected)) << level;
      }));
    }
  }
}

TEST(BuiltFiles, PiecesAreOneColumn) {
  const Column column = MakeColumn(ElementType::kFloat32, 3000);
  const TrainingOptions options = Options({"IVF_PQ", 8, 0}, Metric::kL2);
  KINJO_ASSERT_RESULT(expected, Build(column, options));
  const VectorsWithIds whole = column.Piece();
  std::vector<VectorsWithIds> pieces;
  for (const auto& [first, count] :
       {std::pair<int64_t, int64_t>{0, 1}, {1, 0}, {1, 1700}, {1701, 1299}}) {
    VectorsWithIds piece = whole;
    piece.vectors.data = whole.vectors.row(first);
    piece.vectors.num_rows = count;
    piece.row_ids = whole.row_ids.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    pieces.push_back(piece);
  }
  base::ThreadPool pool(2);
  KINJO_ASSERT_RESULT(segment,
                      BuildSegment(pieces, options, {.pool = &pool, .cancel = {}, .progress = {}}));
  EXPECT_EQ(Bytes(*segment), Bytes(*expected));
}

// Nulls, NaN, infinities, and under cosine zeros are left out, and nothing else is.
TEST(BuiltFiles, OddRowsAreLeftOut) {
  Column column = MakeColumn(ElementType::kFloat32, 1000);
  auto* values = reinterpret_cast<float*>(column.bytes.data());
  column.validity.assign(125, 0xFF);
  column.validity[2] = 0xEF;  // row 20
  values[30 * kDim + 3] = std::numeric_limits<float>::quiet_NaN();
  values[40 * kDim + 31] = -std::numeric_limits<float>::infinity();
  std::fill_n(values + 50 * kDim, kDim, 0.0f);
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
    for (const Kind& kind : Kinds()) {
      KINJO_ASSERT_RESULT(segment, Build(column, Options(kind, metric)));
      std::set<uint64_t> ids;
      for (int64_t p = 0; p < segment->num_partitions(); ++p) {
        for (const uint64_t id : StoredIds(*segment, p)) ids.insert(id);
      }
      std::set<uint64_t> expected(column.row_ids.begin(), column.row_ids.end());
      for (const int64_t row : {20, 30, 40}) expected.erase(column.row_ids[row]);
      if (metric == Metric::kCosine) expected.erase(column.row_ids[50]);
      EXPECT_EQ(ids, expected);
    }
  }
}

TEST(BuiltFiles, TinyAndUniformDataBuild) {
  for (const int64_t num_rows : {0, 1, 2, 17, 255}) {
    for (const bool uniform : {false, true}) {
      Column column = MakeColumn(ElementType::kFloat32, num_rows);
      if (uniform) {
        auto* values = reinterpret_cast<float*>(column.bytes.data());
        for (int64_t i = 0; i < num_rows * kDim; ++i) values[i] = static_cast<float>(1 + i % kDim);
      }
      for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
        for (const Kind& kind : Kinds()) {
          SCOPED_TRACE(testing::Message() << kind.type << " " << kind.num_bits << " rows "
                                          << num_rows << " " << kernels::MetricName(metric));
          KINJO_ASSERT_RESULT(segment, Build(column, Options(kind, metric)));
          uint64_t rows = 0;
          for (int64_t p = 0; p < 9; ++p) rows += segment->partition_rows(p);
          EXPECT_EQ(rows, static_cast<uint64_t>(num_rows));
          const QueryBlock queries = segment->PrepareQueries(std::vector<double>(kDim, 0.5));
          EXPECT_EQ(Search(*segment, queries, 300)[0].size(), static_cast<size_t>(num_rows));
        }
      }
    }
  }
}

TEST(BuiltFiles, BitsAreFoundExactly) {
  std::mt19937 random(7);
  Column column{
      .type = ElementType::kUint8, .bytes = {}, .validity = {}, .values = {}, .row_ids = {}};
  for (int64_t i = 0; i < 2000 * kDim; ++i) {
    column.bytes.push_back(static_cast<uint8_t>(random()));
    column.values.push_back(column.bytes.back());
  }
  for (uint64_t i = 0; i < 2000; ++i) column.row_ids.push_back(i);
  KINJO_ASSERT_RESULT(segment, Build(column, Options({"IVF_FLAT", 8, 1}, Metric::kHamming)));
  const std::vector<double> query(column.values.begin() + 5 * kDim,
                                  column.values.begin() + 6 * kDim);
  std::vector<std::vector<RankedPartition>> ranked;
  segment->RankPartitions(segment->PrepareQueries(query), 0, 1, 1, &ranked);
  const std::vector<uint64_t> ids = StoredIds(*segment, ranked[0][0].partition);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 5), 1);
  uint64_t rows = 0;
  for (int64_t p = 0; p < 9; ++p) rows += segment->partition_rows(p);
  EXPECT_EQ(rows, 2000u);
}

TEST(BuiltFiles, RefusesGraphsAndWhatIsNotRead) {
  const Column column = MakeColumn(ElementType::kFloat32, 100);
  EXPECT_FALSE(Build(column, Options({"IVF_HNSW_FLAT", 8, 1}, Metric::kL2)).ok());
  EXPECT_FALSE(Build(column, Options({"IVF_FLAT", 8, 1}, Metric::kHamming)).ok());
}

TEST(BuiltFiles, TheSizeIsToldBefore) {
  const Column column = MakeColumn(ElementType::kFloat32, 1000);
  for (const Kind& kind : Kinds()) {
    const TrainingOptions options = Options(kind, Metric::kL2);
    KINJO_ASSERT_RESULT(segment, Build(column, options));
    int64_t bytes = 0;
    for (int64_t p = 0; p < 9; ++p) bytes += static_cast<int64_t>(segment->Load(p)->size_bytes());
    const int64_t told = SegmentBytes(options, column.type, kDim, 1000);
    EXPECT_GE(told, bytes);
    EXPECT_LE(told, bytes + 1000 * 12 + 9 * kDim * 4 + kDim * 4 * 256) << kind.type;
  }
}

}  // namespace
}  // namespace kinjo::index
