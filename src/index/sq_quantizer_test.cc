// SQ segments against the definition of the format.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "index/ivf_segment.h"
#include "index/segment_checks.h"
#include "kernels/simd_level.h"

namespace kinjo::index {
namespace {

struct SqOptions {
  std::string metric = "l2";
  int64_t dim = 20;
  double start = -2;
  double end = 1.5;
  double offset = 0;  ///< added to elements and bounds
  format::ElementType type = format::ElementType::kFloat32;
};

template <typename T>
std::shared_ptr<arrow::Buffer> ToBuffer(const std::vector<T>& values) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
  std::shared_ptr<arrow::Buffer> buffer = arrow::AllocateBuffer(bytes).ValueOrDie();
  if (bytes > 0) std::memcpy(buffer->mutable_data(), values.data(), static_cast<size_t>(bytes));
  return buffer;
}

/// Two partitions of 60 rows whose codes are random bytes.
class SqFiles final : public format::IndexFiles {
 public:
  static constexpr int64_t kPartitions = 2;
  static constexpr uint64_t kRows = 60;

  explicit SqFiles(const SqOptions& options) : options_(options), random_(5) {
    ivf_ = {.index_type = "IVF_SQ",
            .kind = {format::QuantizerKind::kSq, false},
            .distance_type = options.metric};
    const std::vector<double> centroids = MakeQueries(kPartitions);
    const bool wide = options.type == format::ElementType::kFloat64;
    ivf_.centroids = {
        .type = options.type,
        .rows = kPartitions,
        .cols = static_cast<uint64_t>(options.dim),
        .data = wide ? ToBuffer(centroids)
                     : ToBuffer(std::vector<float>(centroids.begin(), centroids.end()))};
    quantizer_ = format::SqModel{.start = options.start + options.offset,
                                 .end = options.end + options.offset};
    for (int64_t p = 0; p < kPartitions; ++p) {
      std::vector<uint8_t> codes;
      std::vector<uint64_t> row_ids;
      for (uint64_t i = 0; i < kRows * options.dim; ++i) {
        codes.push_back(static_cast<uint8_t>(random_()));
      }
      for (uint64_t i = 0; i < kRows; ++i) row_ids.push_back(i);
      ivf_.offsets.push_back(p * kRows);
      ivf_.lengths.push_back(kRows);
      partitions_.push_back({.num_rows = kRows,
                             .row_ids = ToBuffer(row_ids),
                             .codes = ToBuffer(codes),
                             .code_bytes = static_cast<uint32_t>(options.dim)});
    }
  }

  const format::IvfModel& ivf() const override { return ivf_; }
  const format::QuantizerModel& quantizer() const override { return quantizer_; }
  uint32_t dim() const override { return static_cast<uint32_t>(options_.dim); }
  arrow::Result<format::PartitionRows> ReadRowIds(uint64_t partition) override {
    return format::PartitionRows{.num_rows = partitions_[partition].num_rows,
                                 .row_ids = partitions_[partition].row_ids};
  }
  arrow::Status ReadCodes(uint64_t partition, format::PartitionRows* rows) override {
    *rows = partitions_[partition];
    return arrow::Status::OK();
  }

  /// Some elements lie outside the bounds.
  std::vector<double> MakeQueries(int64_t count) {
    std::normal_distribution<double> normal;
    std::vector<double> values(static_cast<size_t>(count * options_.dim));
    for (double& value : values) value = static_cast<float>(normal(random_) + options_.offset);
    return values;
  }

  /// The distance that the format defines.
  double Define(const double* query, int64_t partition, int64_t position) const {
    const uint8_t* codes = partitions_[partition].codes->data() + position * options_.dim;
    const double start = options_.start + options_.offset;
    const double end = options_.end + options_.offset;
    const double step = static_cast<float>(end - start) / 255.0f;
    double l2 = 0, dot = 0;
    for (int64_t j = 0; j < options_.dim; ++j) {
      double code = 0;
      if (end > start) {
        const auto element = options_.type == format::ElementType::kFloat64
                                 ? query[j]
                                 : static_cast<double>(static_cast<float>(query[j]));
        code = std::floor((element - start) * 255 / (end - start));
        code = std::min(std::max(code, 0.0), 255.0);
      }
      l2 += (code - codes[j]) * (code - codes[j]) * step * step;
      dot += query[j] * (start + step * codes[j]);
    }
    if (options_.metric == "dot") return 1 - dot;
    return options_.metric == "l2" ? l2 : l2 / 2;
  }

 private:
  const SqOptions options_;
  std::mt19937_64 random_;
  format::IvfModel ivf_;
  format::QuantizerModel quantizer_;
  std::vector<format::PartitionRows> partitions_;
};

std::vector<SqOptions> AllKinds() {
  std::vector<SqOptions> kinds;
  for (const char* metric : {"l2", "cosine", "dot"}) {
    kinds.push_back({.metric = metric});
    kinds.push_back({.metric = metric, .dim = 65, .start = 0, .end = 1});
    kinds.push_back({.metric = metric, .type = format::ElementType::kFloat64});
  }
  kinds.push_back({.offset = 1000});
  return kinds;
}

std::string Describe(const SqOptions& options) {
  return base::Concat(options.metric, " width ", options.dim, " of ",
                      format::ElementTypeName(options.type), " from ",
                      options.start + options.offset);
}

void ExpectDefinition(const SqOptions& options) {
  SCOPED_TRACE(Describe(options));
  const auto files = std::make_shared<SqFiles>(options);
  const auto segment = IvfSegment::Make(files).ValueOrDie();
  const QueryBlock queries = segment->PrepareQueries(files->MakeQueries(4));
  for (int64_t p = 0; p < SqFiles::kPartitions; ++p) {
    const DecodedPartition decoded = DecodeAll(*segment, p);
    ASSERT_EQ(decoded.rows.num_rows(), static_cast<int64_t>(SqFiles::kRows));
    EXPECT_EQ(segment->Load(p)->size_bytes(), segment->partition_bytes(p));
    for (int64_t slot = 0; slot < decoded.rows.num_rows(); ++slot) {
      for (int64_t q = 0; q < queries.num_queries; ++q) {
        const double expected = files->Define(queries.ranked_query(q), p, slot);
        EXPECT_NEAR(segment->Distance(p, queries.query(q), decoded, slot), expected,
                    2e-7 * (1 + std::abs(expected)));
      }
    }
  }
}

// `few`: ties, or what a byte can't tell.
void ExpectFilterKeepsNeighbours(const IvfSegment& segment, const std::vector<double>& queries,
                                 bool make_codes, int64_t few) {
  const FilterCheck check = CheckFilter(segment, queries, make_codes);
  EXPECT_EQ(check.lost, 0);
  EXPECT_LE(check.others_max, few);
}

TEST(SqQuantizer, DistancesEqualTheDefinition) {
  for (const SqOptions& options : AllKinds()) ExpectDefinition(options);
}

TEST(SqQuantizer, BoundsWithNothingBetweenThem) {
  for (const char* metric : {"l2", "cosine", "dot"}) {
    ExpectDefinition({.metric = metric, .start = 0.25, .end = 0.25});
  }
  const auto files = std::make_shared<SqFiles>(SqOptions{.start = 1, .end = 1});
  const auto segment = IvfSegment::Make(files).ValueOrDie();
  const QueryBlock queries = segment->PrepareQueries(files->MakeQueries(1));
  const DecodedPartition decoded = DecodeAll(*segment, 0);
  EXPECT_EQ(segment->Distance(0, queries.query(0), decoded, 7), 0);
  std::vector<float> moved(20);
  const double norm2 = segment->MoveQuery(0, queries.query(0), decoded, moved.data());
  // All rows tie, so all survive.
  EXPECT_EQ(Survivors(decoded, moved, {kernels::L2Bound(0, norm2, 20)}).size(), SqFiles::kRows);
}

TEST(SqQuantizer, QueriesAreCodedRoundedDownAndHeldInTheBounds) {
  const auto files = std::make_shared<SqFiles>(SqOptions{.dim = 5, .start = 0, .end = 255});
  const auto segment = IvfSegment::Make(files).ValueOrDie();
  const QueryBlock block = segment->PrepareQueries(std::vector<double>{-3, 0.99, 7, 254.9, 300});
  EXPECT_EQ(block.coded, (std::vector<double>{0, 0, 7, 254, 255}));
  EXPECT_EQ(block.ranked_query(0)[4], 300);
  const auto dot =
      IvfSegment::Make(std::make_shared<SqFiles>(SqOptions{.metric = "dot", .dim = 5}));
  EXPECT_TRUE((*dot)->PrepareQueries(std::vector<double>{1, 2, 3, 4, 5}).coded.empty());
}

TEST(SqQuantizer, ElementsThatAreNoNumberAreCodedAsZero) {
  const auto files = std::make_shared<SqFiles>(SqOptions{.dim = 2, .start = 0, .end = 255});
  const auto segment = IvfSegment::Make(files).ValueOrDie();
  const QueryBlock block = segment->PrepareQueries(std::vector<double>{std::nan(""), 3});
  EXPECT_EQ(block.coded, (std::vector<double>{0, 3}));
}

TEST(SqQuantizer, TheFilterKeepsEveryNeighbour) {
  for (const SqOptions& options : AllKinds()) {
    for (const bool make_codes : {false, true}) {
      SCOPED_TRACE(Describe(options));
      const auto files = std::make_shared<SqFiles>(options);
      const auto segment = IvfSegment::Make(files).ValueOrDie();
      ExpectFilterKeepsNeighbours(*segment, files->MakeQueries(6), make_codes, make_codes ? 20 : 5);
    }
  }
}

TEST(SqQuantizer, EverySimdLevelGivesTheSameDistances) {
  for (const SqOptions& options : AllKinds()) {
    SCOPED_TRACE(Describe(options));
    std::vector<float> expected;
    for (const std::string& level : kernels::AvailableSimdLevels()) {
      ASSERT_TRUE(kernels::ForceSimdLevel(level).ok());
      const auto files = std::make_shared<SqFiles>(options);
      const auto segment = IvfSegment::Make(files).ValueOrDie();
      const QueryBlock queries = segment->PrepareQueries(files->MakeQueries(2));
      std::vector<float> distances;
      const DecodedPartition decoded = DecodeAll(*segment, 1);
      for (int64_t slot = 0; slot < decoded.rows.num_rows(); ++slot) {
        distances.push_back(segment->Distance(1, queries.query(slot % 2), decoded, slot));
      }
      if (expected.empty()) expected = distances;
      EXPECT_EQ(distances, expected) << level;
    }
  }
  ASSERT_TRUE(kernels::ForceSimdLevel("").ok());
}

TEST(SqQuantizer, RefusesBoundsTooFarApart) {
  const auto files = std::make_shared<SqFiles>(SqOptions{.start = -1e300, .end = 1e300});
  EXPECT_EQ(base::CodeOf(IvfSegment::Make(files).status()), base::ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace kinjo::index
