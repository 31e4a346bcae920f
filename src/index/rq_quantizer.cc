// IVF_RQ (RaBitQ): a row is the rotated residual r' of its partition's centroid c, as a code f of
// few bits an element and two factors that correct what the code leaves out. The format defines a
// distance to the rotated query q' that is linear in it:
//     l2:  |q - c|^2 + add + scale f.q'
//     dot: 1 - q'.c' + (q'.c' / |c'|^2) (add - 1) + scale f.q'
// Written with the query's own residual z = q' - c', l2 is |z - x|^2 + term where
//     x = -scale / 2 f    and    term = add + scale f.c' - |x|^2,
// and dot is 1 - q'.x where
//     x = term c' - scale f    and    term = 1 - (add - 1) / |c'|^2    (1 where c' is 0).
// So the rows for the filter are these x: those of l2 start their scores at (|x|^2 + term) / 2
// instead of |x|^2 / 2. All bits count, always: Lance first looks at the sign bits alone and may
// lose a true neighbour by it.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "index/quantizer.h"
#include "index/rq_codes.h"
#include "index/rq_rotation.h"
#include "index/vector_scratch.h"
#include "kernels/canonical_distance.h"
#include "kernels/code_rows.h"

namespace kinjo::index {

namespace {

// The numbers of a row that its codes are multiplied with.
struct RowFactors {
  double scale;  // of half a step of the code
  double term;
  double norm2;  // of x; l2 only
};

template <typename T>
class RqQuantizer final : public Quantizer<T> {
 public:
  RqQuantizer(const format::RqModel& rq, int64_t dim, kernels::Metric metric)
      : dim_(dim),
        ex_bits_(static_cast<int>(rq.ex_bits())),
        packed_(rq.packed),
        metric_(metric),
        rotation_(rq, dim) {}

  bool has_finite_rotation() const { return rotation_.is_finite(); }

  bool is_exact() const override { return false; }
  void CodeQueries(QueryBlock* block) const override;
  void Decode(const T* centroid, const format::PartitionRows& stored,
              std::span<const uint64_t> addresses, uint64_t dead,
              DecodedPartition* out) const override;
  double MoveQuery(const T* centroid, const double* query, const DecodedPartition& rows,
                   float* moved) const override;
  double Distance(const T* centroid, const double* query, const DecodedPartition& rows,
                  int64_t slot) const override;

 private:
  bool dot() const { return metric_ == kernels::Metric::kDot; }
  RqCodes CodesOf(const DecodedPartition& rows) const {
    return {.signs = rows.codes->data(),
            .ex_codes = ex_bits_ == 0 ? nullptr : rows.ex_codes->data(),
            .num_rows = static_cast<int64_t>(rows.num_stored),
            .dim = dim_,
            .ex_bits = ex_bits_,
            .packed = packed_};
  }
  RowFactors FactorsOf(double add, double scale, const float* doubled, const double* centre,
                       double centre_norm2) const;
  void MakeRow(const float* doubled, double scale, double term, const double* centre,
               double* row) const;
  static void DropRowsThatAreOdd(const format::PartitionRows& stored, DecodedPartition* out);

  const int64_t dim_;
  const int ex_bits_;
  const bool packed_;
  const kernels::Metric metric_;
  const RqRotation rotation_;
};

template <typename T>
void RqQuantizer<T>::CodeQueries(QueryBlock* block) const {
  block->coded.resize(block->values.size());
  for (int64_t i = 0; i < block->num_queries; ++i) {
    rotation_.Apply(block->ranked_query(i), block->coded.data() + i * dim_);
  }
}

template <typename T>
void RqQuantizer<T>::DropRowsThatAreOdd(const format::PartitionRows& stored,
                                        DecodedPartition* out) {
  const auto* adds = reinterpret_cast<const float*>(stored.add_factors->data());
  const auto* scales = reinterpret_cast<const float*>(stored.scale_factors->data());
  size_t kept = 0;
  for (size_t i = 0; i < out->storage_position.size(); ++i) {
    const uint32_t position = out->storage_position[i];
    out->addresses[kept] = out->addresses[i];
    out->storage_position[kept] = position;
    kept += std::isfinite(adds[position]) && std::isfinite(scales[position]);
  }
  out->addresses.resize(kept);
  out->storage_position.resize(kept);
}

template <typename T>
RowFactors RqQuantizer<T>::FactorsOf(double add, double scale, const float* doubled,
                                     const double* centre, double centre_norm2) const {
  RowFactors factors{};
  if (dot()) {
    factors.scale = -scale / 2;
    factors.term = centre_norm2 == 0 ? 1 : 1 - (add - 1) / centre_norm2;
    return factors;
  }
  factors.scale = -scale / 4;
  factors.norm2 = factors.scale * factors.scale * kernels::CanonicalDot(doubled, doubled, dim_);
  const double with_centre = scale / 2 * kernels::CanonicalDot(centre, doubled, dim_);
  factors.term = add + with_centre - factors.norm2;
  return factors;
}

template <typename T>
void RqQuantizer<T>::MakeRow(const float* doubled, double scale, double term, const double* centre,
                             double* row) const {
  if (dot()) {
    for (int64_t j = 0; j < dim_; ++j) row[j] = term * centre[j] + scale * doubled[j];
  } else {
    for (int64_t j = 0; j < dim_; ++j) row[j] = scale * doubled[j];
  }
}

template <typename T>
void RqQuantizer<T>::Decode(const T* centroid, const format::PartitionRows& stored,
                            std::span<const uint64_t> addresses, uint64_t dead,
                            DecodedPartition* out) const {
  KeepLiveRows(addresses, dead, out);
  DropRowsThatAreOdd(stored, out);
  const auto num_rows = static_cast<int64_t>(out->addresses.size());
  out->rows.Reset(num_rows, dim_, out->make_codes);
  out->centre.resize(static_cast<size_t>(dim_));
  const std::vector<double> wide(centroid, centroid + dim_);
  rotation_.Apply(wide.data(), out->centre.data());
  const double* centre = out->centre.data();
  const double centre_norm2 = kernels::CanonicalDot(centre, centre, dim_);
  out->row_scales.resize(static_cast<size_t>(num_rows));
  out->row_terms.resize(static_cast<size_t>(num_rows));
  const auto* adds = reinterpret_cast<const float*>(stored.add_factors->data());
  const auto* scales = reinterpret_cast<const float*>(stored.scale_factors->data());
  const RqCodes codes = CodesOf(*out);
  const int64_t stride = RqRowRoom(dim_);
  std::vector<float> doubled(static_cast<size_t>(kernels::kGroupRows * stride));
  for (int64_t group = 0; group < out->rows.num_groups(); ++group) {
    const int64_t first = group * kernels::kGroupRows;
    const int64_t count = std::min(kernels::kGroupRows, num_rows - first);
    RowFactors factors[kernels::kGroupRows];
    double row_scales[kernels::kGroupRows] = {};
    double row_terms[kernels::kGroupRows] = {};
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t position = out->storage_position[first + i];
      float* codes_of_row = doubled.data() + i * stride;
      ReadRqRow(codes, position, codes_of_row);
      factors[i] = FactorsOf(adds[position], scales[position], codes_of_row, centre, centre_norm2);
      out->row_scales[first + i] = row_scales[i] = factors[i].scale;
      out->row_terms[first + i] = row_terms[i] = factors[i].term;
    }
    kernels::StoreScaledRows({.rows = doubled.data(),
                              .stride = stride,
                              .scales = row_scales,
                              .terms = row_terms,
                              .centre = dot() ? centre : nullptr},
                             group, count, dot(), &out->rows);
    if (dot()) continue;
    for (int64_t i = 0; i < count; ++i) {
      out->rows.mutable_init()[first + i] =
          kernels::RowInitFrom((factors[i].norm2 + factors[i].term) / 2, factors[i].norm2, dim_);
    }
  }
}

template <typename T>
double RqQuantizer<T>::MoveQuery(const T*, const double* query, const DecodedPartition& rows,
                                 float* moved) const {
  return kernels::MoveQuery(query, dot() ? nullptr : rows.centre.data(), dim_, moved);
}

template <typename T>
double RqQuantizer<T>::Distance(const T*, const double* query, const DecodedPartition& rows,
                                int64_t slot) const {
  VectorScratch<float> doubled(RqRowRoom(dim_));
  ReadRqRow(CodesOf(rows), rows.storage_position[slot], doubled.data());
  const double* centre = rows.centre.data();
  const double term = rows.row_terms[slot];
  VectorScratch<double> row(dim_);
  MakeRow(doubled.data(), rows.row_scales[slot], term, centre, row.data());
  if (dot()) return 1 - kernels::CanonicalDot(query, row.data(), dim_);
  VectorScratch<double> residual(dim_);
  for (int64_t j = 0; j < dim_; ++j) residual[j] = query[j] - centre[j];
  const double l2 = kernels::CanonicalL2(residual.data(), row.data(), dim_) + term;
  return metric_ == kernels::Metric::kCosine ? l2 / 2 : l2;
}

}  // namespace

template <typename T>
arrow::Result<std::unique_ptr<Quantizer<T>>> MakeRqQuantizer(const format::IndexFiles& files,
                                                             kernels::Metric metric) {
  const auto& rq = std::get<format::RqModel>(files.quantizer());
  auto quantizer = std::make_unique<RqQuantizer<T>>(rq, files.dim(), metric);
  if (!quantizer->has_finite_rotation()) {
    return base::MakeError(base::ErrorCode::kCorrupt,
                           "The rotation matrix of the index holds a NaN or an infinite value");
  }
  return std::unique_ptr<Quantizer<T>>(std::move(quantizer));
}

template arrow::Result<std::unique_ptr<Quantizer<float>>> MakeRqQuantizer(const format::IndexFiles&,
                                                                          kernels::Metric);
template arrow::Result<std::unique_ptr<Quantizer<double>>> MakeRqQuantizer(
    const format::IndexFiles&, kernels::Metric);

}  // namespace kinjo::index
