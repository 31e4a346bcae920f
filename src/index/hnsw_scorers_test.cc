// What steers a search in a graph agrees with the distance that is reported, for each kind of code.
#include "index/hnsw_scorers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "index/byte_segment.h"
#include "index/ivf_segment.h"
#include "index/synthetic_segment.h"

namespace kinjo::index {
namespace {

// All rows of a partition, scored both ways; together and one by one.
void ExpectAgreement(const IvfSegment& segment, const std::vector<double>& vectors,
                     double relative) {
  ASSERT_TRUE(segment.has_graph());
  const QueryBlock queries = segment.PrepareQueries(vectors);
  for (int64_t p = 0; p < segment.num_partitions(); ++p) {
    const format::PartitionRows stored = segment.Load(p).ValueOrDie();
    std::vector<uint32_t> nodes(stored.num_rows);
    std::iota(nodes.begin(), nodes.end(), 0u);
    DecodedPartition rows;
    rows.codes = stored.codes;
    rows.num_stored = stored.num_rows;
    rows.storage_position = nodes;
    std::vector<float> distances(nodes.size());
    for (int64_t q = 0; q < queries.num_queries; ++q) {
      const auto scorer = segment.MakeScorer(p, queries.query(q), stored);
      scorer->Score(nodes, distances.data());
      for (size_t i = 0; i < nodes.size(); ++i) {
        const float reported = segment.Distance(p, queries.query(q), rows, static_cast<int64_t>(i));
        EXPECT_NEAR(distances[i], reported, relative * (1 + std::abs(reported)))
            << segment.index_type() << " partition " << p << " row " << i;
        float alone = 0;
        scorer->Score({&nodes[i], 1}, &alone);
        EXPECT_EQ(alone, distances[i]);
      }
    }
  }
}

std::shared_ptr<IvfSegment> MakeGraphSegment(std::shared_ptr<SyntheticFiles> files) {
  files->mutable_ivf().kind.has_graph = true;
  return IvfSegment::Make(std::move(files)).ValueOrDie();
}

TEST(HnswScorers, FlatVectorsOfEachType) {
  for (const char* metric : {"l2", "cosine", "dot"}) {
    for (const auto type : {format::ElementType::kFloat16, format::ElementType::kFloat32,
                            format::ElementType::kFloat64}) {
      const SyntheticOptions options{.distance_type = metric, .type = type, .dim = 37};
      const auto files = std::make_shared<SyntheticFiles>(options);
      ExpectAgreement(*MakeGraphSegment(files), files->MakeQueries(4, 3), 2e-5);
    }
  }
}

TEST(HnswScorers, ProductCodesOfBothSizes) {
  for (const char* metric : {"l2", "cosine", "dot"}) {
    for (const int bits : {4, 8}) {
      for (const int64_t sub_vectors : {2, 6, 12}) {
        const SyntheticOptions options{.distance_type = metric,
                                       .num_bits = bits,
                                       .dim = 24,
                                       .num_sub_vectors = sub_vectors,
                                       .transposed = false};
        const auto files = std::make_shared<SyntheticFiles>(options);
        ExpectAgreement(*MakeGraphSegment(files), files->MakeQueries(4, 3), 2e-5);
      }
    }
  }
}

TEST(HnswScorers, BytesThatStandForElements) {
  for (const char* metric : {"l2", "cosine", "dot"}) {
    const auto files = std::make_shared<ByteFiles>(
        ByteFiles::Options{.metric = metric, .quantizer = format::SqModel{-2, 1.5}, .dim = 33});
    std::vector<double> vectors;
    for (int i = 0; i < 2 * 33; ++i) vectors.push_back(std::sin(i * 0.7) - 0.2);
    ExpectAgreement(*IvfSegment::Make(files).ValueOrDie(), vectors, 2e-5);
  }
}

TEST(HnswScorers, Bits) {
  const auto files = std::make_shared<ByteFiles>(ByteFiles::Options{});
  std::vector<double> vectors;
  for (int i = 0; i < 3 * 20; ++i) vectors.push_back(i * 41 % 256);
  ExpectAgreement(*IvfSegment::Make(files).ValueOrDie(), vectors, 0);
}

TEST(HnswScorers, RowsThatCanNotMatchAreDropped) {
  const SyntheticOptions options{.distance_type = "cosine", .num_partitions = 1};
  const auto files = std::make_shared<SyntheticFiles>(options);
  format::PartitionRows stored = files->ReadPartition(0).ValueOrDie();
  auto values = stored.codes->CopySlice(0, stored.codes->size()).ValueOrDie();
  auto* floats = reinterpret_cast<float*>(values->mutable_data());
  std::fill_n(floats + 2 * options.dim, options.dim, 0.0f);
  floats[5 * options.dim + 3] = std::nanf("");
  stored.codes = values;
  std::vector<uint64_t> addresses(stored.num_rows);
  std::iota(addresses.begin(), addresses.end(), uint64_t{100});
  addresses[7] = 0;  // dead before
  MakeGraphSegment(files)->DropUnmatchable(stored, addresses, 0);
  for (size_t i = 0; i < addresses.size(); ++i) {
    const bool dead = i == 2 || i == 5 || i == 7;
    EXPECT_EQ(addresses[i], dead ? 0 : 100 + i);
  }
}

}  // namespace
}  // namespace kinjo::index
