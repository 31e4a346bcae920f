// RQ segments, coded here from the definition of the format, against that definition.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "index/elements.h"
#include "index/ivf_segment.h"
#include "index/rq_encoder.h"
#include "index/rq_rotation.h"
#include "index/segment_checks.h"
#include "kernels/simd_level.h"

namespace kinjo::index {
namespace {

struct RqOptions {
  std::string metric = "l2";
  int num_bits = 5;
  int64_t dim = 24;
  bool packed = true;
  bool matrix = false;
  double offset = 0;  ///< added to every element
  int64_t num_rows = 150;
};

using Vectors = std::vector<std::vector<double>>;

template <typename T>
std::shared_ptr<arrow::Buffer> ToBuffer(const std::vector<T>& values) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
  std::shared_ptr<arrow::Buffer> buffer = arrow::AllocateBuffer(bytes).ValueOrDie();
  if (bytes > 0) std::memcpy(buffer->mutable_data(), values.data(), static_cast<size_t>(bytes));
  return buffer;
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

/// One row as the format defines it.
struct CodedRow {
  std::vector<uint32_t> codes;
  float add = 0;
  float scale = 0;
};

/// Three partitions of float32 vectors.
class RqFiles final : public format::IndexFiles {
 public:
  static constexpr int64_t kPartitions = 3;

  explicit RqFiles(const RqOptions& options) : options_(options), random_(options.num_bits + 7) {
    centroids_ = MakeVectors(kPartitions);
    ivf_ = {.index_type = "IVF_RQ",
            .kind = {format::QuantizerKind::kRq, false},
            .distance_type = options.metric};
    std::vector<float> elements;
    for (std::vector<double>& centroid : centroids_) {
      elements.insert(elements.end(), centroid.begin(), centroid.end());
    }
    ivf_.centroids = {.type = format::ElementType::kFloat32,
                      .rows = kPartitions,
                      .cols = static_cast<uint64_t>(options.dim),
                      .data = ToBuffer(elements)};
    quantizer_ = MakeModel();
    rotation_ = std::make_unique<RqRotation>(std::get<format::RqModel>(quantizer_), options.dim);
    const Vectors rows = MakeVectors(options.num_rows);
    for (int64_t p = 0; p < kPartitions; ++p) {
      const int64_t first = p * (options.num_rows / kPartitions - 4);
      const int64_t count =
          p == kPartitions - 1 ? options.num_rows - first : options.num_rows / 3 - 4;
      AddPartition({rows.begin() + first, rows.begin() + first + count}, p);
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
  format::PartitionRows& mutable_partition(int64_t partition) { return partitions_[partition]; }
  format::RqModel& mutable_model() { return std::get<format::RqModel>(quantizer_); }

  /// The distance that the format defines, by sums over bits as it states them.
  double Define(const double* query, int64_t partition, int64_t position) const {
    const CodedRow& row = coded_[partition][position];
    const int ex_bits = options_.num_bits - 1;
    const std::vector<double> rotated = Rotate({query, query + options_.dim});
    const std::vector<double> centre = Rotate(centroids_[partition]);
    double set = 0, sum = 0, ex = 0, l2 = 0;
    for (int64_t j = 0; j < options_.dim; ++j) {
      if ((row.codes[j] >> ex_bits & 1) != 0) set += rotated[j];
      ex += (row.codes[j] & ((1u << ex_bits) - 1)) * rotated[j];
      sum += rotated[j];
      l2 += (query[j] - centroids_[partition][j]) * (query[j] - centroids_[partition][j]);
    }
    const double wide = std::ldexp(1, ex_bits);
    const double product = (wide * set + ex - (wide - 0.5) * sum) * row.scale;
    if (options_.metric == "l2") return product + row.add + l2;
    if (options_.metric == "cosine") return (product + row.add + l2) / 2;
    const double with_centre = Dot(rotated, centre);
    const double ratio = with_centre / Dot(centre, centre);
    return product + (std::isfinite(ratio) ? ratio : 0) * (row.add - 1) + 1 - with_centre;
  }

  const std::vector<double>& row(int64_t partition, int64_t position) const {
    return rows_[partition][position];
  }
  std::vector<double> MakeQueries(int64_t count) {
    std::vector<double> queries;
    for (const std::vector<double>& vector : MakeVectors(count)) {
      queries.insert(queries.end(), vector.begin(), vector.end());
    }
    return queries;
  }

 private:
  Vectors MakeVectors(int64_t count) {
    std::normal_distribution<double> normal;
    Vectors vectors(static_cast<size_t>(count));
    for (std::vector<double>& vector : vectors) {
      vector.resize(static_cast<size_t>(options_.dim));
      for (double& value : vector) value = normal(random_) + options_.offset;
      const double norm = options_.metric == "cosine" ? std::sqrt(Dot(vector, vector)) : 1;
      for (double& value : vector) value = static_cast<float>(value / norm);
    }
    return vectors;
  }

  // An orthogonal matrix: a product of reflections.
  std::vector<float> MakeMatrix() {
    const int64_t dim = options_.dim;
    Vectors rows(static_cast<size_t>(dim), std::vector<double>(static_cast<size_t>(dim)));
    for (int64_t i = 0; i < dim; ++i) rows[i][i] = 1;
    std::normal_distribution<double> normal;
    for (int reflection = 0; reflection < 4; ++reflection) {
      std::vector<double> mirror(static_cast<size_t>(dim));
      for (double& value : mirror) value = normal(random_);
      for (std::vector<double>& row : rows) {
        const double factor = 2 * Dot(row, mirror) / Dot(mirror, mirror);
        for (int64_t j = 0; j < dim; ++j) row[j] -= factor * mirror[j];
      }
    }
    std::vector<float> matrix;
    for (const std::vector<double>& row : rows) matrix.insert(matrix.end(), row.begin(), row.end());
    return matrix;
  }

  format::RqModel MakeModel() {
    format::RqModel model{.num_bits = static_cast<uint32_t>(options_.num_bits),
                          .packed = options_.packed};
    if (options_.matrix) {
      const auto dim = static_cast<uint64_t>(options_.dim);
      model.matrix = {.type = format::ElementType::kFloat32,
                      .rows = dim,
                      .cols = dim,
                      .data = ToBuffer(MakeMatrix())};
      return model;
    }
    for (int64_t i = 0; i < 4 * options_.dim / 8; ++i) {
      model.signs.push_back(static_cast<uint8_t>(random_()));
    }
    return model;
  }

  std::vector<double> Rotate(const std::vector<double>& vector) const {
    std::vector<double> out(vector.size());
    rotation_->Apply(vector.data(), out.data());
    return out;
  }

  CodedRow Code(const std::vector<double>& row, int64_t partition) const {
    const int ex_bits = options_.num_bits - 1;
    std::vector<double> residual = row;
    for (size_t j = 0; j < row.size(); ++j) residual[j] -= centroids_[partition][j];
    const std::vector<double> rotated = Rotate(residual);
    const std::vector<double> centre = Rotate(centroids_[partition]);
    double largest = 0;
    for (const double value : rotated) largest = std::max(largest, std::abs(value));
    const auto most = static_cast<uint32_t>((1 << ex_bits) - 1);
    CodedRow coded;
    std::vector<double> full;
    for (const double value : rotated) {
      const double steps = largest == 0 ? 0 : std::abs(value) / largest * (most + 1);
      uint32_t code = std::min(static_cast<uint32_t>(steps), most);
      if (value < 0) code = ~code & most;
      if (value >= 0) code |= 1u << ex_bits;
      coded.codes.push_back(code);
      full.push_back(code - (std::ldexp(1, ex_bits) - 0.5));
    }
    const double norm2 = Dot(rotated, rotated);
    const double own = Dot(rotated, full);
    const double other = own == 0 ? 0 : norm2 * Dot(centre, full) / own;
    const double scale = own == 0 ? 0 : -norm2 / own;
    if (options_.metric == "dot") {
      coded.add = static_cast<float>(1 - Dot(rotated, centre) + other);
      coded.scale = static_cast<float>(scale);
    } else {
      coded.add = static_cast<float>(norm2 + 2 * other);
      coded.scale = static_cast<float>(2 * scale);
    }
    return coded;
  }

  void AddPartition(const Vectors& rows, int64_t partition) {
    std::vector<uint32_t> codes;
    std::vector<uint64_t> row_ids;
    std::vector<float> adds, scales;
    coded_.emplace_back();
    rows_.push_back(rows);
    for (const std::vector<double>& row : rows) {
      coded_.back().push_back(Code(row, partition));
      const CodedRow& coded = coded_.back().back();
      codes.insert(codes.end(), coded.codes.begin(), coded.codes.end());
      adds.push_back(coded.add);
      scales.push_back(coded.scale);
      row_ids.push_back(row_ids.size() + 100 * static_cast<uint64_t>(partition));
    }
    const int ex_bits = options_.num_bits - 1;
    ivf_.offsets.push_back(partition == 0 ? 0 : ivf_.offsets.back() + ivf_.lengths.back());
    ivf_.lengths.push_back(rows.size());
    partitions_.push_back(
        {.num_rows = rows.size(),
         .row_ids = ToBuffer(row_ids),
         .codes = ToBuffer(EncodeSigns(codes, options_.dim, ex_bits, options_.packed)),
         .code_bytes = static_cast<uint32_t>(options_.dim / 8),
         .add_factors = ToBuffer(adds),
         .scale_factors = ToBuffer(scales)});
    if (ex_bits > 0) {
      partitions_.back().ex_codes = ToBuffer(EncodeExCodes(codes, options_.dim, ex_bits));
    }
  }

  const RqOptions options_;
  std::mt19937_64 random_;
  format::IvfModel ivf_;
  format::QuantizerModel quantizer_;
  std::unique_ptr<RqRotation> rotation_;
  Vectors centroids_;
  std::vector<Vectors> rows_;  // of each partition
  std::vector<std::vector<CodedRow>> coded_;
  std::vector<format::PartitionRows> partitions_;
};

std::vector<RqOptions> AllKinds() {
  std::vector<RqOptions> kinds;
  for (const char* metric : {"l2", "cosine", "dot"}) {
    for (int num_bits = 1; num_bits <= 9; ++num_bits) {
      kinds.push_back({.metric = metric, .num_bits = num_bits, .packed = num_bits % 2 == 1});
    }
    kinds.push_back({.metric = metric, .num_bits = 1, .dim = 72, .matrix = true});
    kinds.push_back({.metric = metric, .num_bits = 3, .dim = 64, .packed = false});
  }
  return kinds;
}

std::string Describe(const RqOptions& options) {
  return base::Concat(options.metric, " ", options.num_bits, " bits, width ", options.dim,
                      options.packed ? ", packed" : "", options.matrix ? ", matrix" : "");
}

// `few`: ties, or what a byte can't tell.
void ExpectFilterKeepsNeighbours(const IvfSegment& segment, const std::vector<double>& queries,
                                 bool make_codes, int64_t few) {
  const FilterCheck check = CheckFilter(segment, queries, make_codes);
  EXPECT_EQ(check.lost, 0);
  EXPECT_LE(check.others_max, few);
}

TEST(RqQuantizer, DistancesEqualTheDefinition) {
  for (const RqOptions& options : AllKinds()) {
    SCOPED_TRACE(Describe(options));
    const auto files = std::make_shared<RqFiles>(options);
    const auto segment = IvfSegment::Make(files).ValueOrDie();
    const QueryBlock queries = segment->PrepareQueries(files->MakeQueries(4));
    for (int64_t p = 0; p < RqFiles::kPartitions; ++p) {
      const DecodedPartition decoded = DecodeAll(*segment, p);
      ASSERT_EQ(decoded.rows.num_rows(), static_cast<int64_t>(segment->partition_rows(p)));
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
}

// How far distances are from those of the vectors themselves, on average, over their own average.
double MeanError(const char* metric, int num_bits) {
  const auto files = std::make_shared<RqFiles>(RqOptions{.metric = metric, .num_bits = num_bits});
  const auto segment = IvfSegment::Make(files).ValueOrDie();
  const QueryBlock queries = segment->PrepareQueries(files->MakeQueries(3));
  const DecodedPartition decoded = DecodeAll(*segment, 1);
  double error = 0, sum = 0;
  for (int64_t slot = 0; slot < decoded.rows.num_rows(); ++slot) {
    const std::vector<double>& row = files->row(1, slot);
    for (int64_t q = 0; q < queries.num_queries; ++q) {
      const double* query = queries.ranked_query(q);
      double dot = 0, l2 = 0;
      for (size_t j = 0; j < row.size(); ++j) {
        dot += query[j] * row[j];
        l2 += (query[j] - row[j]) * (query[j] - row[j]);
      }
      const double truth = segment->metric() == kernels::Metric::kL2 ? l2 : 1 - dot;
      error += std::abs(segment->Distance(1, queries.query(q), decoded, slot) - truth);
      sum += std::abs(truth);
    }
  }
  return error / sum;
}

TEST(RqQuantizer, BitsComeNearTheTrueDistance) {
  for (const char* metric : {"l2", "cosine", "dot"}) {
    const double one = MeanError(metric, 1);
    const double three = MeanError(metric, 3);
    const double nine = MeanError(metric, 9);
    EXPECT_LT(three, one / 2) << metric;
    EXPECT_LT(nine, three / 10) << metric;
    EXPECT_LT(nine, 0.005) << metric;
  }
}

TEST(RqQuantizer, TheFilterKeepsEveryNeighbour) {
  for (const RqOptions& options : AllKinds()) {
    for (const bool make_codes : {false, true}) {
      SCOPED_TRACE(Describe(options));
      const auto files = std::make_shared<RqFiles>(options);
      const auto segment = IvfSegment::Make(files).ValueOrDie();
      ExpectFilterKeepsNeighbours(*segment, files->MakeQueries(6), make_codes, make_codes ? 20 : 5);
    }
  }
}

TEST(RqQuantizer, TheFilterWorksFarFromTheOrigin) {
  for (const int num_bits : {1, 5}) {
    const auto files = std::make_shared<RqFiles>(RqOptions{.num_bits = num_bits, .offset = 1000});
    const auto segment = IvfSegment::Make(files).ValueOrDie();
    ExpectFilterKeepsNeighbours(*segment, files->MakeQueries(6), /*make_codes=*/false, /*few=*/5);
  }
}

TEST(RqQuantizer, RowsWithOddFactorsAreNotKept) {
  const auto files = std::make_shared<RqFiles>(RqOptions{});
  format::PartitionRows& stored = files->mutable_partition(1);
  reinterpret_cast<float*>(stored.add_factors->mutable_data())[2] = std::nanf("");
  reinterpret_cast<float*>(stored.scale_factors->mutable_data())[4] = -INFINITY;
  const auto segment = IvfSegment::Make(files).ValueOrDie();
  const DecodedPartition decoded = DecodeAll(*segment, 1, {0});
  ASSERT_EQ(decoded.rows.num_rows(), static_cast<int64_t>(stored.num_rows) - 3);
  EXPECT_EQ(decoded.storage_position[0], 1u);
  EXPECT_EQ(decoded.storage_position[1], 3u);
  EXPECT_EQ(decoded.storage_position[2], 5u);
  EXPECT_EQ(decoded.addresses[2], StoredIds(*segment, 1)[5] * 10);
}

// Factors that no writer makes: whatever they say is kept by the filter too.
TEST(RqQuantizer, TheFilterKeepsNeighboursOfWildFactors) {
  for (const char* metric : {"l2", "dot"}) {
    const auto files = std::make_shared<RqFiles>(RqOptions{.metric = metric});
    std::mt19937_64 random(4);
    std::uniform_real_distribution<float> exponent(-30, 30);
    format::PartitionRows& stored = files->mutable_partition(0);
    auto* adds = reinterpret_cast<float*>(stored.add_factors->mutable_data());
    auto* scales = reinterpret_cast<float*>(stored.scale_factors->mutable_data());
    for (uint64_t i = 0; i < stored.num_rows; ++i) {
      adds[i] = (random() % 2 == 0 ? 1.0f : -1.0f) * std::exp2(exponent(random));
      scales[i] = (random() % 2 == 0 ? 1.0f : -1.0f) * std::exp2(exponent(random));
    }
    const auto segment = IvfSegment::Make(files).ValueOrDie();
    ExpectFilterKeepsNeighbours(*segment, files->MakeQueries(6), /*make_codes=*/false, /*few=*/20);
  }
}

TEST(RqQuantizer, ACentroidAtTheOrigin) {
  for (const char* metric : {"l2", "dot"}) {
    const auto files = std::make_shared<RqFiles>(RqOptions{.metric = metric});
    std::memset(const_cast<uint8_t*>(files->ivf().centroids.data->data()), 0,
                static_cast<size_t>(files->ivf().centroids.data->size()));
    const auto segment = IvfSegment::Make(files).ValueOrDie();
    const QueryBlock queries = segment->PrepareQueries(files->MakeQueries(1));
    const DecodedPartition decoded = DecodeAll(*segment, 0);
    for (int64_t slot = 0; slot < decoded.rows.num_rows(); ++slot) {
      EXPECT_TRUE(std::isfinite(segment->Distance(0, queries.query(0), decoded, slot)));
    }
  }
}

TEST(RqQuantizer, EverySimdLevelGivesTheSameDistances) {
  for (const RqOptions& options : AllKinds()) {
    SCOPED_TRACE(Describe(options));
    std::vector<float> expected;
    for (const std::string& level : kernels::AvailableSimdLevels()) {
      ASSERT_TRUE(kernels::ForceSimdLevel(level).ok());
      const auto files = std::make_shared<RqFiles>(options);
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

TEST(RqQuantizer, RefusesAMatrixThatIsNotFinite) {
  const auto files = std::make_shared<RqFiles>(RqOptions{.matrix = true});
  auto* values = reinterpret_cast<float*>(files->mutable_model().matrix.data->mutable_data());
  values[7] = INFINITY;
  EXPECT_EQ(base::CodeOf(IvfSegment::Make(files).status()), base::ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace kinjo::index
