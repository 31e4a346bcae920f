// IVF_FLAT: the codes are the vectors (divided by their norms under cosine, in the column's type).
// The filter sees them moved by the centroid; the distance is that to the vector as stored.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "index/elements.h"
#include "index/quantizer.h"
#include "index/vector_scratch.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

template <typename T>
class FlatQuantizer final : public Quantizer<T> {
 public:
  FlatQuantizer(int64_t dim, format::ElementType type, kernels::Metric metric)
      : dim_(dim), row_bytes_(dim * format::ElementBytes(type)), type_(type), metric_(metric) {}

  bool is_exact() const override {
    return metric_ != kernels::Metric::kCosine || type_ != format::ElementType::kFloat16;
  }
  void KeepRows(std::span<const uint64_t> addresses, uint64_t dead,
                DecodedPartition* out) const override {
    KeepLiveRows(addresses, dead, out);
    KeepMatchingRows(out);
  }
  void Decode(const T* centroid, const format::PartitionRows&, std::span<const uint64_t> addresses,
              uint64_t dead, DecodedPartition* out) const override;
  double MoveQuery(const T* centroid, const double* query, const DecodedPartition&,
                   float* moved) const override;
  double Distance(const T* centroid, const double* query, const DecodedPartition& rows,
                  int64_t slot) const override;

 private:
  // Row `position` as stored, widened into `out` or, where nothing has to be widened, in place.
  const T* StoredRow(const DecodedPartition& rows, int64_t position, T* out) const {
    const uint8_t* data = rows.codes->data() + position * row_bytes_;
    if (type_ != format::ElementType::kFloat16 &&
        reinterpret_cast<uintptr_t>(data) % sizeof(T) == 0) {
      return reinterpret_cast<const T*>(data);
    }
    WidenElements(type_, data, dim_, out);
    return out;
  }
  void KeepMatchingRows(DecodedPartition* out) const;
  void StoreUnitRows(const T* centroid, DecodedPartition* out) const;

  const int64_t dim_;
  const int64_t row_bytes_;
  const format::ElementType type_;
  const kernels::Metric metric_;
};

// Drops the rows that no distance is defined for. An index holds none, unless its file is odd.
template <typename T>
void FlatQuantizer<T>::KeepMatchingRows(DecodedPartition* out) const {
  VectorScratch<T> scratch(dim_);
  size_t kept = 0;
  for (size_t i = 0; i < out->storage_position.size(); ++i) {
    const T* row = StoredRow(*out, out->storage_position[i], scratch.data());
    out->addresses[kept] = out->addresses[i];
    out->storage_position[kept] = out->storage_position[i];
    bool matches = AllFinite(row, dim_);
    if (metric_ == kernels::Metric::kCosine) {
      matches = matches && std::any_of(row, row + dim_, [](T value) { return value != 0; });
    }
    kept += matches;
  }
  out->addresses.resize(kept);
  out->storage_position.resize(kept);
}

// The filter's identity, l2 = 2 (1 - cos), needs unit vectors; those stored are rounded.
template <typename T>
void FlatQuantizer<T>::StoreUnitRows(const T* centroid, DecodedPartition* out) const {
  const std::vector<double> centre(centroid, centroid + dim_);
  VectorScratch<T> scratch(dim_);
  std::vector<double> unit(static_cast<size_t>(dim_));
  for (int64_t slot = 0; slot < out->rows.num_rows(); ++slot) {
    const T* row = StoredRow(*out, out->storage_position[slot], scratch.data());
    const double norm = std::sqrt(kernels::CanonicalDot(row, row, dim_));
    for (int64_t j = 0; j < dim_; ++j) unit[j] = row[j] / norm;
    out->rows.SetRow(slot, unit.data(), centre.data(), /*dot=*/false);
  }
}

template <typename T>
void FlatQuantizer<T>::Decode(const T* centroid, const format::PartitionRows&,
                              std::span<const uint64_t> addresses, uint64_t dead,
                              DecodedPartition* out) const {
  KeepRows(addresses, dead, out);
  const auto num_rows = static_cast<int64_t>(out->addresses.size());
  out->rows.Reset(num_rows, dim_, out->make_codes);
  if (metric_ == kernels::Metric::kCosine) {
    StoreUnitRows(centroid, out);
    return;
  }
  const bool dot = metric_ == kernels::Metric::kDot;
  const T* centre = dot ? nullptr : centroid;
  VectorScratch<T> scratch(dim_);
  if constexpr (std::is_same_v<T, float>) {
    if (static_cast<uint64_t>(num_rows) == out->num_stored && num_rows > 0 &&
        StoredRow(*out, 0, scratch.data()) != scratch.data()) {
      out->rows.SetRows(0, num_rows, StoredRow(*out, 0, scratch.data()), centre, dot);
      return;
    }
  }
  for (int64_t slot = 0; slot < num_rows; ++slot) {
    const T* row = StoredRow(*out, out->storage_position[slot], scratch.data());
    out->rows.SetRow(slot, row, centre, dot);
  }
}

template <typename T>
double FlatQuantizer<T>::MoveQuery(const T* centroid, const double* query, const DecodedPartition&,
                                   float* moved) const {
  if (metric_ == kernels::Metric::kDot) {
    return kernels::MoveQuery(query, static_cast<const T*>(nullptr), dim_, moved);
  }
  if (metric_ == kernels::Metric::kCosine && type_ == format::ElementType::kFloat16) {
    // Rounded to float16 the query isn't a unit vector any more.
    VectorScratch<double> unit(dim_);
    const double norm = std::sqrt(kernels::CanonicalDot(query, query, dim_));
    for (int64_t j = 0; j < dim_; ++j) unit[j] = norm == 0 ? 0 : query[j] / norm;
    return kernels::MoveQuery(unit.data(), centroid, dim_, moved);
  }
  return kernels::MoveQuery(query, centroid, dim_, moved);
}

template <typename T>
double FlatQuantizer<T>::Distance(const T*, const double* query, const DecodedPartition& rows,
                                  int64_t slot) const {
  VectorScratch<T> scratch(dim_);
  const T* row = StoredRow(rows, rows.storage_position[slot], scratch.data());
  if (metric_ == kernels::Metric::kL2) return kernels::CanonicalL2(query, row, dim_);
  const double dot = kernels::CanonicalDot(query, row, dim_);
  if (metric_ == kernels::Metric::kDot) return 1 - dot;
  const double norms = std::sqrt(kernels::CanonicalDot(query, query, dim_)) *
                       std::sqrt(kernels::CanonicalDot(row, row, dim_));
  // Rounding may leave the cosine of equal directions above 1; the exact path reports 0 for it too.
  return std::max(0.0, 1 - dot / norms);
}

}  // namespace

template <typename T>
std::unique_ptr<Quantizer<T>> MakeFlatQuantizer(const format::IndexFiles& files,
                                                kernels::Metric metric) {
  return std::make_unique<FlatQuantizer<T>>(files.dim(), files.ivf().centroids.type, metric);
}

template std::unique_ptr<Quantizer<float>> MakeFlatQuantizer(const format::IndexFiles&,
                                                             kernels::Metric);
template std::unique_ptr<Quantizer<double>> MakeFlatQuantizer(const format::IndexFiles&,
                                                              kernels::Metric);

}  // namespace kinjo::index
