#include "index/ivf_segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "index/elements.h"
#include "index/segment_checks.h"
#include "index/synthetic_segment.h"
#include "kernels/simd_level.h"
#include "kernels/top_k.h"

namespace kinjo::index {
namespace {

using format::ElementType;
using kernels::Metric;

/// All kinds that are read: quantizer x metric x element type x layout.
std::vector<SyntheticOptions> AllKinds() {
  std::vector<SyntheticOptions> kinds;
  for (const char* metric : {"l2", "cosine", "dot"}) {
    for (const ElementType type :
         {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
      kinds.push_back({.distance_type = metric, .type = type, .dim = 19});
      for (const int64_t num_sub_vectors : {2, 4, 8, 16}) {  // widths 8, 4, 2, 1
        kinds.push_back({.distance_type = metric,
                         .type = type,
                         .num_bits = 8,
                         .num_sub_vectors = num_sub_vectors});
      }
      kinds.push_back({.distance_type = metric, .type = type, .num_bits = 4, .num_sub_vectors = 8});
      kinds.push_back({.distance_type = metric,
                       .type = type,
                       .num_bits = 4,
                       .dim = 30,
                       .num_sub_vectors = 10,
                       .transposed = false});
    }
  }
  return kinds;
}

std::string Describe(const SyntheticOptions& options) {
  return base::Concat(options.num_bits == 0 ? "FLAT" : "PQ", options.num_bits, " x ",
                      options.num_sub_vectors, " ", options.distance_type, " ",
                      format::ElementTypeName(options.type));
}

struct Opened {
  std::shared_ptr<SyntheticFiles> files;
  std::shared_ptr<IvfSegment> segment;
};

Opened Open(const SyntheticOptions& options) {
  Opened opened;
  opened.files = std::make_shared<SyntheticFiles>(options);
  opened.segment = IvfSegment::Make(opened.files).ValueOrDie();
  return opened;
}

// The contract's distance, in long double, to what the codes say.
double ReferenceDistance(const Opened& opened, const SyntheticOptions& options, int64_t partition,
                         const double* query, int64_t position) {
  const double* row = opened.files->decoded(partition, position);
  const double* centroid = opened.files->centroids().data() + partition * options.dim;
  const bool pq = options.num_bits != 0;
  long double dot = 0, l2 = 0, query2 = 0, row2 = 0;
  for (int64_t j = 0; j < options.dim; ++j) {
    long double residual = pq ? query[j] - centroid[j] : query[j];
    if (pq && options.type == ElementType::kFloat16) {
      residual = RoundToFloat16(static_cast<double>(residual));
    }
    l2 += (residual - row[j]) * (residual - row[j]);
    dot += static_cast<long double>(query[j]) * row[j];
    query2 += static_cast<long double>(query[j]) * query[j];
    row2 += static_cast<long double>(row[j]) * row[j];
  }
  if (options.distance_type == "dot") return static_cast<double>(1 - dot);
  if (options.distance_type == "l2") return static_cast<double>(l2);
  if (pq) return static_cast<double>(l2 / 2);
  return static_cast<double>(1 - dot / (std::sqrt(query2) * std::sqrt(row2)));
}

TEST(IvfSegment, DistancesEqualTheDefinition) {
  for (const SyntheticOptions& options : AllKinds()) {
    SCOPED_TRACE(Describe(options));
    const Opened opened = Open(options);
    const QueryBlock queries =
        opened.segment->PrepareQueries(opened.files->MakeQueries(4, options.seed));
    for (int64_t p = 0; p < options.num_partitions; ++p) {
      const DecodedPartition decoded = DecodeAll(*opened.segment, p);
      ASSERT_EQ(decoded.rows.num_rows(), static_cast<int64_t>(opened.segment->partition_rows(p)));
      EXPECT_EQ(opened.segment->Load(p)->size_bytes(), opened.segment->partition_bytes(p));
      const std::vector<uint64_t> row_ids = StoredIds(*opened.segment, p);
      for (int64_t slot = 0; slot < decoded.rows.num_rows(); ++slot) {
        EXPECT_EQ(decoded.addresses[slot], row_ids[slot] * 10);
        for (int64_t q = 0; q < queries.num_queries; ++q) {
          const double expected = ReferenceDistance(opened, options, p, queries.query(q), slot);
          EXPECT_NEAR(opened.segment->Distance(p, queries.query(q), decoded, slot), expected,
                      2e-7 * (1 + std::abs(expected)));
        }
      }
    }
  }
}

void ExpectFilterKeepsNeighbours(const Opened& opened, const SyntheticOptions& options,
                                 bool make_codes) {
  const FilterCheck check =
      CheckFilter(*opened.segment, opened.files->MakeQueries(6, options.seed), make_codes);
  EXPECT_EQ(check.lost, 0);
  // A few ties, or what a byte can't tell.
  EXPECT_LE(check.others_max, make_codes ? 20 : 5);
}

TEST(IvfSegment, TheFilterKeepsEveryNeighbour) {
  for (const SyntheticOptions& options : AllKinds()) {
    SCOPED_TRACE(Describe(options));
    ExpectFilterKeepsNeighbours(Open(options), options, /*make_codes=*/false);
  }
}

TEST(IvfSegment, TheFilterByBytesKeepsEveryNeighbour) {
  for (const SyntheticOptions& options : AllKinds()) {
    SCOPED_TRACE(Describe(options));
    ExpectFilterKeepsNeighbours(Open(options), options, /*make_codes=*/true);
  }
}

TEST(IvfSegment, TheFilterWorksFarFromTheOrigin) {
  for (const int num_bits : {0, 8}) {
    const SyntheticOptions options{.num_bits = num_bits, .offset = 1000};
    ExpectFilterKeepsNeighbours(Open(options), options, /*make_codes=*/false);
  }
}

TEST(IvfSegment, DeadRowsAreNotDecoded) {
  for (const int num_bits : {0, 8}) {
    const Opened opened = Open({.num_bits = num_bits});
    const auto num_stored = static_cast<int64_t>(opened.segment->partition_rows(1));
    ASSERT_GT(num_stored, 30);
    const DecodedPartition all = DecodeAll(*opened.segment, 1);
    const DecodedPartition some = DecodeAll(*opened.segment, 1, {0, 1, 17, num_stored - 1});
    EXPECT_EQ(some.num_stored, all.num_stored);
    const std::vector<uint64_t> row_ids = StoredIds(*opened.segment, 1);
    ASSERT_EQ(some.rows.num_rows(), num_stored - 4);
    const QueryBlock queries = opened.segment->PrepareQueries(opened.files->MakeQueries(1, 1));
    std::vector<float> row(16), same(16);
    for (int64_t slot = 0; slot < some.rows.num_rows(); ++slot) {
      const int64_t position = slot + (slot < 15 ? 2 : 3);
      EXPECT_EQ(some.addresses[slot], row_ids[position] * 10);
      EXPECT_EQ(opened.segment->Distance(1, queries.query(0), some, slot),
                opened.segment->Distance(1, queries.query(0), all, position));
      some.rows.GetRow(slot, row.data());
      all.rows.GetRow(position, same.data());
      EXPECT_EQ(row, same);
      EXPECT_EQ(some.rows.init()[slot], all.rows.init()[position]);
    }
    std::vector<int64_t> everyone(static_cast<size_t>(num_stored));
    for (int64_t i = 0; i < num_stored; ++i) everyone[i] = i;
    EXPECT_EQ(DecodeAll(*opened.segment, 1, everyone).rows.num_rows(), 0);
  }
}

TEST(IvfSegment, FlatRowsThatMatchNothingAreNotKept) {
  for (const char* metric : {"l2", "cosine", "dot"}) {
    const Opened opened = Open({.distance_type = metric});
    format::PartitionRows& stored = opened.files->mutable_partition(2);
    auto* values = reinterpret_cast<float*>(stored.codes->mutable_data());
    values[0 * 16 + 3] = std::numeric_limits<float>::quiet_NaN();
    values[2 * 16 + 15] = -std::numeric_limits<float>::infinity();
    std::fill(values + 4 * 16, values + 5 * 16, 0.0f);
    const DecodedPartition decoded = DecodeAll(*opened.segment, 2);
    const bool cosine = opened.segment->metric() == Metric::kCosine;
    ASSERT_EQ(decoded.rows.num_rows(), static_cast<int64_t>(stored.num_rows) - (cosine ? 3 : 2));
    EXPECT_EQ(decoded.storage_position[0], 1u);
    EXPECT_EQ(decoded.storage_position[1], 3u);
    EXPECT_EQ(decoded.storage_position[2], cosine ? 5u : 4u);
    EXPECT_EQ(decoded.addresses[2], StoredIds(*opened.segment, 2)[cosine ? 5 : 4] * 10);
  }
}

TEST(IvfSegment, AnEmptyPartitionDecodesToNothing) {
  for (const int num_bits : {0, 8}) {
    const Opened opened = Open({.num_bits = num_bits});
    format::PartitionRows& stored = opened.files->mutable_partition(0);
    stored.num_rows = 0;
    stored.row_ids = std::make_shared<arrow::Buffer>(nullptr, 0);
    stored.codes = std::make_shared<arrow::Buffer>(nullptr, 0);
    const DecodedPartition decoded = DecodeAll(*opened.segment, 0);
    EXPECT_EQ(decoded.rows.num_rows(), 0);
    EXPECT_TRUE(StoredIds(*opened.segment, 0).empty());
    EXPECT_EQ(opened.segment->Load(0)->size_bytes(), 0u);
  }
}

TEST(IvfSegment, QueriesAreRoundedAndNormalised) {
  const std::vector<double> values = {0.1, -3, 1e-3, 7, 0, 0, 0, 0};
  const auto prepare = [&](const char* metric, ElementType type) {
    const Opened opened = Open(
        {.distance_type = metric, .type = type, .num_bits = 8, .dim = 4, .num_sub_vectors = 2});
    return opened.segment->PrepareQueries(values).values;
  };
  EXPECT_EQ(prepare("l2", ElementType::kFloat64), values);
  const std::vector<double> single = prepare("dot", ElementType::kFloat32);
  EXPECT_EQ(single[0], 0.1f);
  EXPECT_EQ(single[3], 7);
  EXPECT_EQ(prepare("l2", ElementType::kFloat16)[0], RoundToFloat16(0.1));
  const std::vector<double> unit = prepare("cosine", ElementType::kFloat32);
  const double norm = std::sqrt(double{0.1f} * 0.1f + 9 + double{1e-3f} * 1e-3f + 49);
  EXPECT_NEAR(unit[1], -3 / norm, 1e-15);
  EXPECT_NEAR(unit[0], 0.1f / norm, 1e-15);
  EXPECT_THAT(std::vector<double>(unit.begin() + 4, unit.end()), testing::Each(0.0));
  const std::vector<double> half = prepare("cosine", ElementType::kFloat16);
  for (const double value : half) EXPECT_EQ(value, RoundToFloat16(value));
  EXPECT_NEAR(half[3], 7 / norm, 1e-3);
}

// What is left in a wider type than the index's is compared in that type, on every metric.
TEST(IvfSegment, AnExactIndexIsExactForWiderQueries) {
  for (const char* metric : {"l2", "cosine", "dot"}) {
    for (const ElementType type :
         {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
      const SyntheticOptions options{.distance_type = metric, .type = type, .dim = 19};
      SCOPED_TRACE(Describe(options));
      const Opened opened = Open(options);
      const bool exact = type != ElementType::kFloat16 || std::string(metric) != "cosine";
      EXPECT_EQ(opened.segment->is_exact(), exact);
      if (!exact) continue;
      // Beside a stored row, nearer than the type can tell.
      std::vector<double> query(opened.files->decoded(1, 2), opened.files->decoded(1, 2) + 19);
      for (double& value : query) value *= 1 + 1e-9;
      query[3] += 1e-9;
      const QueryBlock block = opened.segment->PrepareQueries(query);
      const DecodedPartition decoded = DecodeAll(*opened.segment, 1);
      const double expected = ReferenceDistance(opened, options, 1, query.data(), 2);
      const double distance = opened.segment->Distance(1, block.query(0), decoded, 2);
      if (opened.segment->metric() == Metric::kL2) {
        EXPECT_GT(expected, 0);
        EXPECT_NEAR(distance / expected, 1, 1e-5);
      } else {
        EXPECT_NEAR(distance, expected, 1e-6 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST(IvfSegment, PartitionsAreRankedInTheIndexsType) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat32}) {
    const Opened opened = Open({.type = type, .dim = 4});
    std::vector<double> query = {0.1, -3, 1e-3, 7};
    std::vector<std::vector<RankedPartition>> wide, narrow;
    opened.segment->RankPartitions(opened.segment->PrepareQueries(query), 0, 1, 5, &wide);
    for (double& value : query) {
      value = type == ElementType::kFloat16 ? RoundToFloat16(value) : static_cast<float>(value);
    }
    opened.segment->RankPartitions(opened.segment->PrepareQueries(query), 0, 1, 5, &narrow);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(wide[0][i].distance, narrow[0][i].distance);
  }
}

TEST(IvfSegment, TinyAndHugeQueriesNormalise) {
  const Opened opened = Open({.distance_type = "cosine", .type = ElementType::kFloat64, .dim = 2});
  const QueryBlock block =
      opened.segment->PrepareQueries(std::vector<double>{3e-200, 4e-200, 3e300, -4e300});
  EXPECT_NEAR(block.values[0], 0.6, 1e-15);
  EXPECT_NEAR(block.values[1], 0.8, 1e-15);
  EXPECT_NEAR(block.values[2], 0.6, 1e-15);
  EXPECT_NEAR(block.values[3], -0.8, 1e-15);
}

TEST(IvfSegment, AllPartitionsEqualBruteForceAtEveryLevel) {
  for (const SyntheticOptions& options : AllKinds()) {
    SCOPED_TRACE(Describe(options));
    std::vector<float> expected;
    for (const std::string& level : kernels::AvailableSimdLevels()) {
      ASSERT_TRUE(kernels::ForceSimdLevel(level).ok());
      const Opened opened = Open(options);
      const QueryBlock queries =
          opened.segment->PrepareQueries(opened.files->MakeQueries(3, options.seed));
      std::vector<float> distances;
      for (int64_t p = 0; p < options.num_partitions; ++p) {
        const DecodedPartition decoded = DecodeAll(*opened.segment, p);
        for (int64_t slot = 0; slot < decoded.rows.num_rows(); ++slot) {
          distances.push_back(opened.segment->Distance(p, queries.query(slot % 3), decoded, slot));
        }
      }
      if (expected.empty()) expected = distances;
      EXPECT_EQ(distances, expected) << level;
    }
  }
  ASSERT_TRUE(kernels::ForceSimdLevel("").ok());
}

TEST(IvfSegment, TellsWhatItIs) {
  const Opened opened = Open({.distance_type = "Euclidean", .num_bits = 8});
  EXPECT_EQ(opened.segment->index_type(), "IVF_PQ");
  EXPECT_EQ(opened.segment->metric(), Metric::kL2);
  EXPECT_EQ(opened.segment->num_partitions(), 5);
  EXPECT_EQ(opened.segment->dim(), 16);
  EXPECT_FALSE(opened.segment->is_exact());
  EXPECT_TRUE(Open({}).segment->is_exact());
  EXPECT_EQ(Open({}).segment->element_type(), ElementType::kFloat32);
}

base::ErrorCode CodeOfMake(std::shared_ptr<SyntheticFiles> files) {
  return base::CodeOf(IvfSegment::Make(std::move(files)).status());
}

TEST(IvfSegment, RefusesWhatItCannotSearch) {
  auto hamming = std::make_shared<SyntheticFiles>(SyntheticOptions{});
  hamming->mutable_ivf().distance_type = "hamming";
  EXPECT_EQ(CodeOfMake(hamming), base::ErrorCode::kNotSupported);
  auto unknown = std::make_shared<SyntheticFiles>(SyntheticOptions{});
  unknown->mutable_ivf().distance_type = "manhattan";
  EXPECT_EQ(CodeOfMake(unknown), base::ErrorCode::kNotSupported);
  auto bytes = std::make_shared<SyntheticFiles>(SyntheticOptions{});
  bytes->mutable_ivf().centroids.type = ElementType::kUint8;
  EXPECT_EQ(CodeOfMake(bytes), base::ErrorCode::kNotSupported);
}

TEST(IvfSegment, RefusesAModelThatIsNotFinite) {
  const float odd = std::numeric_limits<float>::infinity();
  auto codebook = std::make_shared<SyntheticFiles>(SyntheticOptions{.num_bits = 8});
  std::memcpy(codebook->mutable_pq().codebook.data->mutable_data() + 40, &odd, sizeof(odd));
  EXPECT_EQ(CodeOfMake(codebook), base::ErrorCode::kCorrupt);
  auto centroid = std::make_shared<SyntheticFiles>(SyntheticOptions{});
  std::memcpy(centroid->mutable_ivf().centroids.data->mutable_data() + 64, &odd, sizeof(odd));
  EXPECT_EQ(CodeOfMake(centroid), base::ErrorCode::kCorrupt);
  // Without rows the partition is only ranked, last.
  centroid->mutable_ivf().lengths[1] = 0;
  EXPECT_TRUE(IvfSegment::Make(centroid).ok());
}

}  // namespace
}  // namespace kinjo::index
