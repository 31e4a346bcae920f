#include "index/hamming_segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "index/byte_segment.h"
#include "kernels/every_simd_level.h"

namespace kinjo::index {
namespace {

constexpr int64_t kDim = 20;
constexpr uint64_t kDead = ~uint64_t{0};

int64_t Bits(const double* query, const uint8_t* row) {
  int64_t bits = 0;
  for (int64_t j = 0; j < kDim; ++j) {
    bits += std::popcount(static_cast<unsigned>(static_cast<uint8_t>(query[j]) ^ row[j]));
  }
  return bits;
}

std::vector<double> SomeVectors(int64_t count) {
  std::vector<double> vectors;
  for (int64_t i = 0; i < count * kDim; ++i) vectors.push_back(static_cast<double>(i * 91 % 256));
  return vectors;
}

TEST(HammingSegment, IsChosenForUint8) {
  const auto segment = IvfSegment::Make(std::make_shared<ByteFiles>(ByteFiles::Options{}));
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_EQ((*segment)->metric(), kernels::Metric::kHamming);
  EXPECT_EQ((*segment)->element_type(), format::ElementType::kUint8);
  EXPECT_TRUE((*segment)->is_exact());
  EXPECT_TRUE((*segment)->has_graph());
  auto other = std::make_shared<ByteFiles>(ByteFiles::Options{});
  other->mutable_ivf().distance_type = "l2";
  EXPECT_EQ(base::CodeOf(IvfSegment::Make(other).status()), base::ErrorCode::kNotSupported);
}

TEST(HammingSegment, RanksByBitsThenByPartition) {
  const auto files = std::make_shared<ByteFiles>(ByteFiles::Options{});
  const auto segment = MakeHammingSegment(files);
  std::vector<double> vectors = SomeVectors(6);
  // The last query lies on the centroid of partition 2, the one before it halfway between two.
  const uint8_t* centroids = files->centroids().data();
  std::copy_n(centroids + 2 * kDim, kDim, vectors.begin() + 5 * kDim);
  const QueryBlock queries = segment->PrepareQueries(vectors);
  EXPECT_TRUE(kernels::AtEverySimdLevel([&](const std::string& level) {
    SCOPED_TRACE(level);
    std::vector<std::vector<RankedPartition>> ranked;
    segment->RankPartitions(queries, 1, 6, 2, &ranked);
    ASSERT_EQ(ranked.size(), 5u);
    for (int64_t q = 1; q < 6; ++q) {
      std::vector<std::pair<int64_t, uint32_t>> expected;
      for (uint32_t p = 0; p < 3; ++p) {
        expected.emplace_back(Bits(vectors.data() + q * kDim, centroids + p * kDim), p);
      }
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(ranked[q - 1].size(), 2u);
      for (size_t rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(ranked[q - 1][rank].partition, expected[rank].second);
        EXPECT_EQ(ranked[q - 1][rank].distance, static_cast<float>(expected[rank].first));
      }
    }
    EXPECT_EQ(ranked[4][0].partition, 2u);
    EXPECT_EQ(ranked[4][0].distance, 0);
  }));
}

TEST(HammingSegment, KeepsLiveRowsWhereTheyLie) {
  const auto files = std::make_shared<ByteFiles>(ByteFiles::Options{});
  const auto segment = MakeHammingSegment(files);
  const QueryBlock queries = segment->PrepareQueries(SomeVectors(2));
  for (const size_t p : {0, 1, 2}) {
    const format::PartitionRows stored = segment->Load(static_cast<int64_t>(p)).ValueOrDie();
    std::vector<uint64_t> addresses(stored.num_rows);
    for (size_t i = 0; i < addresses.size(); ++i) addresses[i] = i % 3 == 1 ? kDead : 7 * i;
    DecodedPartition decoded;
    segment->Decode(static_cast<int64_t>(p), stored, addresses, kDead, &decoded);
    size_t slot = 0;
    for (size_t i = 0; i < addresses.size(); ++i) {
      if (i % 3 == 1) continue;
      ASSERT_LT(slot, decoded.addresses.size());
      EXPECT_EQ(decoded.addresses[slot], 7 * i);
      EXPECT_EQ(segment->Distance(static_cast<int64_t>(p), queries.query(1), decoded,
                                  static_cast<int64_t>(slot)),
                static_cast<float>(Bits(queries.query(1), files->row(p, i))));
      ++slot;
    }
    EXPECT_EQ(decoded.addresses.size(), slot);
    EXPECT_EQ(decoded.num_stored, addresses.size());
  }
}

}  // namespace
}  // namespace kinjo::index
