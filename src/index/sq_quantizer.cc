// IVF_SQ: a code says where each element lies between two bounds, in 255 steps, rounded down. For
// l2 and cosine the query is coded too, and the distance is that of the two codes: integers, whose
// sum is exact in any order; where the machine scans bytes those codes are all that is scanned. The
// filter of floats sees codes relative to the centroid's, times the step. For dot the query keeps
// its elements, and a code stands for start + step * code.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "index/quantizer.h"
#include "index/vector_scratch.h"
#include "kernels/canonical_distance.h"
#include "kernels/code_rows.h"

namespace kinjo::index {

namespace {

constexpr double kSteps = 255;

template <typename T>
class SqQuantizer final : public Quantizer<T> {
 public:
  SqQuantizer(const format::SqModel& sq, int64_t dim, format::ElementType type,
              kernels::Metric metric)
      : dim_(dim),
        start_(sq.start),
        range_(sq.end - sq.start),
        step_(static_cast<float>(range_) / static_cast<float>(kSteps)),
        rounds_query_(type == format::ElementType::kFloat32),
        metric_(metric) {}

  bool has_finite_step() const { return std::isfinite(step_) && std::isfinite(range_); }

  bool is_exact() const override { return false; }
  bool scans_bytes() const override {
    return metric_ != kernels::Metric::kDot && kernels::ScansBytes(dim_);
  }
  void CodeQueries(QueryBlock* block) const override;
  void Decode(const T* centroid, const format::PartitionRows& stored,
              std::span<const uint64_t> addresses, uint64_t dead,
              DecodedPartition* out) const override;
  double MoveQuery(const T* centroid, const double* query, const DecodedPartition& rows,
                   float* moved) const override;
  double Distance(const T* centroid, const double* query, const DecodedPartition& rows,
                  int64_t slot) const override;

 private:
  // The code of an element, as Lance makes it: outside the bounds the nearest one, of nothing
  // between them, and NaN (the centroid of a partition without rows), 0.
  double CodeOf(double value) const {
    if (range_ == 0) return 0;
    const double steps = (value - start_) * kSteps / range_;
    return steps > 0 ? static_cast<int32_t>(std::min(steps, kSteps)) : 0;
  }
  void GroupBytes(DecodedPartition* out) const;
  const uint8_t* RowOf(const DecodedPartition& rows, int64_t slot) const {
    return rows.codes->data() + int64_t{rows.storage_position[slot]} * dim_;
  }

  const int64_t dim_;
  const double start_;
  const double range_;
  const double step_;        // in float32, as Lance has it
  const bool rounds_query_;  // unit vectors too are coded as floats
  const kernels::Metric metric_;
};

template <typename T>
void SqQuantizer<T>::CodeQueries(QueryBlock* block) const {
  if (metric_ == kernels::Metric::kDot) return;
  block->coded.resize(block->values.size());
  std::transform(
      block->values.begin(), block->values.end(), block->coded.begin(), [this](double value) {
        return CodeOf(rounds_query_ ? static_cast<double>(static_cast<float>(value)) : value);
      });
  block->bytes.assign(block->coded.begin(), block->coded.end());
}

template <typename T>
void SqQuantizer<T>::GroupBytes(DecodedPartition* out) const {
  const auto num_rows = static_cast<int64_t>(out->addresses.size());
  out->bytes.Reset(num_rows, dim_);
  for (int64_t group = 0; group < out->bytes.num_groups(); ++group) {
    const uint8_t* rows[kernels::kGroupRows];
    const int64_t first = group * kernels::kGroupRows;
    for (int64_t i = 0; i < kernels::kGroupRows; ++i) {
      rows[i] = RowOf(*out, std::min(first + i, num_rows - 1));
    }
    out->bytes.StoreGroup(group, rows);
  }
  out->has_bytes = true;
  out->byte_unit = step_ * step_ / (metric_ == kernels::Metric::kCosine ? 2 : 1);
}

template <typename T>
void SqQuantizer<T>::Decode(const T* centroid, const format::PartitionRows&,
                            std::span<const uint64_t> addresses, uint64_t dead,
                            DecodedPartition* out) const {
  KeepLiveRows(addresses, dead, out);
  if (out->make_bytes && scans_bytes()) {
    GroupBytes(out);
    return;
  }
  out->rows.Reset(static_cast<int64_t>(out->addresses.size()), dim_, out->make_codes);
  const bool dot = metric_ == kernels::Metric::kDot;
  out->centre.assign(static_cast<size_t>(dim_), 0.0);
  if (!dot) {
    std::transform(centroid, centroid + dim_, out->centre.begin(),
                   [this](T value) { return CodeOf(static_cast<double>(value)); });
  }
  const double start = dot ? start_ : 0;
  const int64_t num_rows = out->rows.num_rows();
  const uint8_t* rows[kernels::kGroupRows];
  const kernels::ByteRows from{
      .rows = rows, .centre = out->centre.data(), .start = start, .step = step_};
  for (int64_t group = 0; group < out->rows.num_groups(); ++group) {
    const int64_t first = group * kernels::kGroupRows;
    const int64_t count = std::min(kernels::kGroupRows, num_rows - first);
    for (int64_t i = 0; i < kernels::kGroupRows; ++i) {
      rows[i] = RowOf(*out, first + std::min(i, count - 1));
    }
    kernels::StoreByteRows(from, group, count, dot, &out->rows);
  }
}

template <typename T>
double SqQuantizer<T>::MoveQuery(const T*, const double* query, const DecodedPartition& rows,
                                 float* moved) const {
  if (metric_ == kernels::Metric::kDot)
    return kernels::MoveQuery(query, static_cast<const T*>(nullptr), dim_, moved);
  VectorScratch<double> steps(dim_);
  for (int64_t j = 0; j < dim_; ++j) steps[j] = (query[j] - rows.centre[j]) * step_;
  return kernels::MoveQuery(steps.data(), static_cast<const T*>(nullptr), dim_, moved);
}

template <typename T>
double SqQuantizer<T>::Distance(const T*, const double* query, const DecodedPartition& rows,
                                int64_t slot) const {
  const uint8_t* code = RowOf(rows, slot);
  if (metric_ == kernels::Metric::kDot) {
    VectorScratch<double> row(dim_);
    for (int64_t j = 0; j < dim_; ++j) row[j] = start_ + code[j] * step_;
    return 1 - kernels::CanonicalDot(query, row.data(), dim_);
  }
  // Short runs in 32 bits, which are added side by side.
  constexpr int64_t kRun = 1 << 14;
  int64_t sum = 0;
  for (int64_t first = 0; first < dim_; first += kRun) {
    const int64_t last = std::min(first + kRun, dim_);
    int32_t run = 0;
    for (int64_t j = first; j < last; ++j) {
      const int32_t difference = static_cast<int32_t>(query[j]) - code[j];
      run += difference * difference;
    }
    sum += run;
  }
  const double l2 = static_cast<double>(sum) * (step_ * step_);
  return metric_ == kernels::Metric::kCosine ? l2 / 2 : l2;
}

}  // namespace

template <typename T>
arrow::Result<std::unique_ptr<Quantizer<T>>> MakeSqQuantizer(const format::IndexFiles& files,
                                                             kernels::Metric metric) {
  const auto& sq = std::get<format::SqModel>(files.quantizer());
  auto quantizer =
      std::make_unique<SqQuantizer<T>>(sq, files.dim(), files.ivf().centroids.type, metric);
  if (!quantizer->has_finite_step()) {
    return base::MakeError(base::ErrorCode::kCorrupt,
                           base::Concat("The bounds of the SQ quantizer of the index, ", sq.start,
                                        " and ", sq.end, ", are too far apart"));
  }
  return std::unique_ptr<Quantizer<T>>(std::move(quantizer));
}

template arrow::Result<std::unique_ptr<Quantizer<float>>> MakeSqQuantizer(const format::IndexFiles&,
                                                                          kernels::Metric);
template arrow::Result<std::unique_ptr<Quantizer<double>>> MakeSqQuantizer(
    const format::IndexFiles&, kernels::Metric);

}  // namespace kinjo::index
