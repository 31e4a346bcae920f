#include "index/synthetic_segment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "index/elements.h"

namespace kinjo::index {

namespace {

double SquaredDistance(const double* a, const double* b, int64_t dim) {
  double sum = 0;
  for (int64_t j = 0; j < dim; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

double DotProduct(const double* a, const double* b, int64_t dim) {
  double sum = 0;
  for (int64_t j = 0; j < dim; ++j) sum += a[j] * b[j];
  return sum;
}

uint16_t Float16Bits(double value) {
  // `value` is a float16 already, and a normal one or zero.
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(value), &exponent);
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (value == 0 || exponent < -13) return sign;
  const auto fraction = static_cast<uint16_t>(std::ldexp(mantissa, 11)) & 0x3FF;
  return static_cast<uint16_t>(sign | (exponent + 14) << 10 | fraction);
}

double RoundElement(format::ElementType type, double value) {
  if (type == format::ElementType::kFloat64) return value;
  if (type == format::ElementType::kFloat32) return static_cast<float>(value);
  return std::abs(value) < 0x1p-14 ? 0 : RoundToFloat16(value);
}

template <typename T>
std::shared_ptr<arrow::Buffer> ToBuffer(const std::vector<T>& values) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
  std::shared_ptr<arrow::Buffer> buffer = arrow::AllocateBuffer(bytes).ValueOrDie();
  if (bytes > 0) std::memcpy(buffer->mutable_data(), values.data(), static_cast<size_t>(bytes));
  return buffer;
}

std::shared_ptr<arrow::Buffer> ToElements(format::ElementType type,
                                          const std::vector<double>& values) {
  if (type == format::ElementType::kFloat64) return ToBuffer(values);
  if (type == format::ElementType::kFloat32) {
    return ToBuffer(std::vector<float>(values.begin(), values.end()));
  }
  std::vector<uint16_t> bits;
  for (const double value : values) bits.push_back(Float16Bits(value));
  return ToBuffer(bits);
}

}  // namespace

SyntheticFiles::SyntheticFiles(const SyntheticOptions& options) : options_(options) {
  const int64_t dim = options.dim;
  const std::vector<double> rows = MakeRows(options.num_rows, options.seed);
  centroids_.assign(rows.begin(), rows.begin() + options.num_partitions * dim);
  for (double& value : centroids_) value = RoundElement(options.type, value * 1.01);
  ivf_.index_type = options.num_bits == 0 ? "IVF_FLAT" : "IVF_PQ";
  ivf_.kind = format::ParseIndexKind(ivf_.index_type).value();
  ivf_.distance_type = options.distance_type;
  ivf_.centroids = ToTensor(&centroids_, dim);
  const auto num_partitions = static_cast<size_t>(options.num_partitions);
  row_ids_.resize(num_partitions);
  decoded_.resize(num_partitions);
  codes_.resize(num_partitions);
  if (options.num_bits != 0) MakeCodebook(rows);
  for (int64_t i = 0; i < options.num_rows; ++i) {
    const double* row = rows.data() + i * dim;
    AddRow(static_cast<uint64_t>(i) * 3 + 7, {row, row + dim});
  }
  partitions_.resize(num_partitions);
  for (int64_t p = 0; p < options.num_partitions; ++p) Finish(p);
}

std::vector<double> SyntheticFiles::MakeRows(int64_t count, uint64_t seed) const {
  const int64_t dim = options_.dim;
  std::mt19937_64 random(seed);
  std::mt19937_64 random_centres(17);  // the same for rows and queries
  std::normal_distribution<double> normal;
  std::vector<double> clusters(static_cast<size_t>(options_.num_partitions * dim));
  for (double& value : clusters) value = 2 * normal(random_centres) + options_.offset;
  std::vector<double> rows(static_cast<size_t>(count * dim));
  for (int64_t i = 0; i < count; ++i) {
    const auto cluster = static_cast<int64_t>(random() % options_.num_partitions);
    double* row = rows.data() + i * dim;
    for (int64_t j = 0; j < dim; ++j) row[j] = clusters[cluster * dim + j] + normal(random);
    const double norm = cosine() ? std::sqrt(DotProduct(row, row, dim)) : 1;
    for (int64_t j = 0; j < dim; ++j) row[j] = RoundElement(options_.type, row[j] / norm);
  }
  return rows;
}

std::vector<double> SyntheticFiles::MakeQueries(int64_t count, uint64_t seed) const {
  return MakeRows(count, seed + 1000);
}

format::Tensor SyntheticFiles::ToTensor(std::vector<double>* values, int64_t cols) const {
  for (double& value : *values) value = RoundElement(options_.type, value);
  return {.type = options_.type,
          .rows = values->size() / static_cast<size_t>(cols),
          .cols = static_cast<uint64_t>(cols),
          .data = ToElements(options_.type, *values)};
}

std::vector<double> SyntheticFiles::Residual(const double* row, int64_t partition) const {
  std::vector<double> residual(row, row + options_.dim);
  for (int64_t j = 0; residual_codes() && j < options_.dim; ++j) {
    residual[j] -= centroids_[partition * options_.dim + j];
  }
  return residual;
}

int64_t SyntheticFiles::NearestPartition(const double* row) const {
  const int64_t dim = options_.dim;
  int64_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t p = 0; p < options_.num_partitions; ++p) {
    const double* centroid = centroids_.data() + p * dim;
    const double distance = options_.distance_type == "dot" ? -DotProduct(row, centroid, dim)
                                                            : SquaredDistance(row, centroid, dim);
    if (distance < least) {
      least = distance;
      nearest = p;
    }
  }
  return nearest;
}

// Entries are sub-vectors of rows drawn at random.
void SyntheticFiles::MakeCodebook(const std::vector<double>& rows) {
  const int64_t entries = int64_t{1} << options_.num_bits;
  const int64_t sub_dim = options_.dim / options_.num_sub_vectors;
  std::mt19937_64 random(options_.seed + 5);
  for (int64_t m = 0; m < options_.num_sub_vectors; ++m) {
    for (int64_t k = 0; k < entries; ++k) {
      const auto i = static_cast<int64_t>(random() % options_.num_rows);
      const double* row = rows.data() + i * options_.dim;
      const std::vector<double> residual = Residual(row, NearestPartition(row));
      codebook_.insert(codebook_.end(), residual.begin() + m * sub_dim,
                       residual.begin() + (m + 1) * sub_dim);
    }
  }
  quantizer_ =
      format::PqCodebook{.num_bits = static_cast<uint32_t>(options_.num_bits),
                         .num_sub_vectors = static_cast<uint32_t>(options_.num_sub_vectors),
                         .dim = static_cast<uint32_t>(options_.dim),
                         .transposed = options_.transposed,
                         .codebook = ToTensor(&codebook_, sub_dim)};
}

void SyntheticFiles::AddRow(uint64_t row_id, const std::vector<double>& row) {
  const int64_t partition = NearestPartition(row.data());
  row_ids_[partition].push_back(row_id);
  if (options_.num_bits == 0) {
    decoded_[partition].insert(decoded_[partition].end(), row.begin(), row.end());
    return;
  }
  const int64_t entries = int64_t{1} << options_.num_bits;
  const int64_t sub_dim = options_.dim / options_.num_sub_vectors;
  const std::vector<double> residual = Residual(row.data(), partition);
  for (int64_t m = 0; m < options_.num_sub_vectors; ++m) {
    int64_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (int64_t k = 0; k < entries; ++k) {
      const double* entry = codebook_.data() + (m * entries + k) * sub_dim;
      const double distance = SquaredDistance(residual.data() + m * sub_dim, entry, sub_dim);
      if (distance < least) {
        least = distance;
        nearest = k;
      }
    }
    const double* entry = codebook_.data() + (m * entries + nearest) * sub_dim;
    decoded_[partition].insert(decoded_[partition].end(), entry, entry + sub_dim);
    if (options_.num_bits == 4 && m % 2 == 1) {
      codes_[partition].back() |= static_cast<uint8_t>(nearest << 4);
    } else {
      codes_[partition].push_back(static_cast<uint8_t>(nearest));
    }
  }
}

void SyntheticFiles::Finish(int64_t partition) {
  format::PartitionRows& stored = partitions_[partition];
  stored.num_rows = row_ids_[partition].size();
  stored.row_ids = ToBuffer(row_ids_[partition]);
  stored.code_bytes = code_bytes();
  ivf_.offsets.push_back(ivf_.offsets.empty() ? 0 : ivf_.offsets.back() + ivf_.lengths.back());
  ivf_.lengths.push_back(stored.num_rows);
  if (options_.num_bits == 0) {
    stored.codes = ToElements(options_.type, decoded_[partition]);
    return;
  }
  if (!options_.transposed) {
    stored.codes = ToBuffer(codes_[partition]);
    return;
  }
  std::vector<uint8_t> planes;
  for (uint64_t b = 0; b < stored.code_bytes; ++b) {
    for (uint64_t i = 0; i < stored.num_rows; ++i) {
      planes.push_back(codes_[partition][i * stored.code_bytes + b]);
    }
  }
  stored.codes = ToBuffer(planes);
}

TEST(SyntheticSegment, HoldsEveryRowOnce) {
  SyntheticFiles files({.num_bits = 4, .num_sub_vectors = 8});
  uint64_t rows = 0;
  for (int64_t p = 0; p < 5; ++p) {
    const format::PartitionRows stored = files.ReadPartition(p).ValueOrDie();
    EXPECT_EQ(stored.num_rows, files.ivf().lengths[p]);
    EXPECT_EQ(static_cast<uint64_t>(stored.codes->size()), stored.num_rows * 4);
    EXPECT_EQ(static_cast<uint64_t>(stored.codes->size() + stored.row_ids->size()),
              files.partition_bytes(p));
    rows += stored.num_rows;
  }
  EXPECT_EQ(rows, 300u);
}

TEST(SyntheticSegment, WritesFloat16AsTheLibraryReadsIt) {
  for (const double value : {0.0, 1.0, -1.5, 0.333251953125, 65504.0, -0.0001220703125}) {
    const uint16_t bits = Float16Bits(value);
    float read = 0;
    WidenElements(format::ElementType::kFloat16, reinterpret_cast<const uint8_t*>(&bits), 1, &read);
    EXPECT_EQ(read, value);
  }
}

}  // namespace kinjo::index
