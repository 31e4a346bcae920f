// IVF_PQ: a code names one codebook entry for each sub-vector. Decoding writes the entries straight
// into the grouped rows that the block scan multiplies; the distance adds over the same entries.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "index/elements.h"
#include "index/quantizer.h"
#include "index/vector_scratch.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

constexpr int64_t kGroup = kernels::kGroupRows;

template <typename T>
class PqQuantizer final : public Quantizer<T> {
 public:
  PqQuantizer(const format::PqCodebook& pq, kernels::Metric metric)
      : dim_(pq.dim),
        num_sub_vectors_(pq.num_sub_vectors),
        sub_dim_(static_cast<int64_t>(pq.codebook.cols)),
        num_bits_(static_cast<int>(pq.num_bits)),
        code_bytes_(num_sub_vectors_ * num_bits_ / 8),
        transposed_(pq.transposed),
        metric_(metric),
        rounds_residual_(pq.codebook.type == format::ElementType::kFloat16),
        codebook_(WidenTensor<T>(pq.codebook)) {
    if constexpr (!std::is_same_v<T, float>) {
      narrow_codebook_.assign(codebook_.begin(), codebook_.end());
    }
    const float* entries = filter_codebook();
    entry_norms2_.resize(pq.codebook.rows);
    for (double& norm2 : entry_norms2_) {
      for (int64_t j = 0; j < sub_dim_; ++j, ++entries) {
        norm2 += static_cast<double>(*entries) * *entries;
      }
    }
    MakeEntryBytes();
  }

  bool has_finite_codebook() const {
    return AllFinite(codebook_.data(), static_cast<int64_t>(codebook_.size()));
  }

  bool is_exact() const override { return false; }
  /// Entries become bytes once, so that the bytes of a row are made as fast as its floats.
  int64_t queries_for_codes() const override {
    return entry_bytes_.empty() ? Quantizer<T>::queries_for_codes() : 1;
  }
  void Decode(const T* centroid, const format::PartitionRows&, std::span<const uint64_t> addresses,
              uint64_t dead, DecodedPartition* out) const override;
  double MoveQuery(const T* centroid, const double* query, const DecodedPartition&,
                   float* moved) const override;
  double Distance(const T* centroid, const double* query, const DecodedPartition& rows,
                  int64_t slot) const override;

 private:
  // The codebook that rows for the filter are made from: rounded to float where it is double.
  const float* filter_codebook() const {
    if constexpr (std::is_same_v<T, float>) {
      return codebook_.data();
    } else {
      return narrow_codebook_.data();
    }
  }
  // Byte b of stored row i lies at i * row_stride + b * byte_stride.
  int64_t row_stride() const { return transposed_ ? 1 : code_bytes_; }
  int64_t byte_stride(uint64_t num_stored) const {
    return transposed_ ? static_cast<int64_t>(num_stored) : 1;
  }
  // Entry number of the `part`-th sub-vector in a code byte (the low half comes first).
  int64_t EntryOf(uint8_t byte, int64_t sub_vector) const {
    if (num_bits_ == 8) return sub_vector * 256 + byte;
    return sub_vector * 16 + (sub_vector % 2 == 0 ? byte & 15 : byte >> 4);
  }
  void MakeEntryBytes();
  template <int64_t kSubDim>
  void DecodeBytes(DecodedPartition* out) const;
  template <int64_t kSubDim>
  void DecodeGroup(const uint8_t* codes, int64_t byte_stride, const int64_t* row_offsets,
                   float* group, double* norms2) const;
  template <int64_t kSubDim>
  void DecodeRows(DecodedPartition* out) const;
  void GatherRow(const DecodedPartition& rows, int64_t slot, T* row) const;
  template <int64_t kSubDim>
  void GatherEntries(const uint8_t* code, int64_t stride, T* row) const;
  void QueryResidual(const T* centroid, const double* query, double* out) const;
  double L2(const T* centroid, const double* query, const T* row) const;

  const int64_t dim_;
  const int64_t num_sub_vectors_;
  const int64_t sub_dim_;
  const int num_bits_;
  const int64_t code_bytes_;
  const bool transposed_;
  const kernels::Metric metric_;
  const bool rounds_residual_;
  const std::vector<T> codebook_;       // [sub-vector][entry][sub_dim]
  std::vector<float> narrow_codebook_;  // the same in float; empty where T is float
  std::vector<double> entry_norms2_;    // [sub-vector][entry], of the floats

  // The codebook as the scan over bytes wants it (kernels::RowCodes), under one scale; empty where
  // the scan doesn't run on bytes or the codebook is too odd for them.
  std::vector<uint8_t> entry_bytes_;  // [sub-vector][entry][sub_dim]
  std::vector<float> entry_rests2_;   // [sub-vector][entry]: what the bytes leave, squared
  float byte_scale_ = 0;
};

// Decodes kGroup rows; their codes begin at codes[row_offsets[i]]. Adds to norms2[kGroup]. kSubDim
// is the width of a sub-vector, so that its loop unrolls, or 0 for any width.
template <typename T>
template <int64_t kSubDim>
void PqQuantizer<T>::DecodeGroup(const uint8_t* codes, int64_t byte_stride,
                                 const int64_t* row_offsets, float* group, double* norms2) const {
  const float* codebook = filter_codebook();
  const int64_t sub_dim = kSubDim == 0 ? sub_dim_ : kSubDim;
  const int64_t sub_vectors_per_byte = 8 / num_bits_;
  for (int64_t m = 0; m < num_sub_vectors_; ++m) {
    const uint8_t* plane = codes + m / sub_vectors_per_byte * byte_stride;
    const float* entries[kGroup];
    for (int64_t i = 0; i < kGroup; ++i) {
      const int64_t entry = EntryOf(plane[row_offsets[i]], m);
      entries[i] = codebook + entry * sub_dim;
      norms2[i] += entry_norms2_[entry];
    }
    if constexpr (kSubDim == 0) {
      for (int64_t j = 0; j < sub_dim; ++j) {
        for (int64_t i = 0; i < kGroup; ++i) group[j * kGroup + i] = entries[i][j];
      }
    } else {
      for (int64_t i = 0; i < kGroup; ++i) {
        for (int64_t j = 0; j < kSubDim; ++j) group[j * kGroup + i] = entries[i][j];
      }
    }
    group += kGroup * sub_dim;
  }
}

template <typename T>
void PqQuantizer<T>::MakeEntryBytes() {
  constexpr float kLargestMin = 0x1p-60f;
  constexpr float kLargestMax = 0x1p40f;
  // Wider sub-vectors come in whole steps of the scan, and two of 2 elements make one.
  if (!kernels::ScansCodes(dim_) || (sub_dim_ != 2 && sub_dim_ % 4 != 0)) return;
  const float* entries = filter_codebook();
  const std::span<const float> elements(entries, codebook_.size());
  float largest = 0;
  for (const float element : elements) largest = std::max(largest, std::abs(element));
  if (!(largest > kLargestMin && largest < kLargestMax)) return;
  byte_scale_ = largest / 127;
  entry_bytes_.resize(elements.size());
  entry_rests2_.resize(entry_norms2_.size());
  for (size_t entry = 0; entry < entry_rests2_.size(); ++entry) {
    double rest2 = 0;
    for (size_t j = entry * sub_dim_; j < (entry + 1) * sub_dim_; ++j) {
      const double code = std::clamp(std::round(elements[j] / byte_scale_), -127.0f, 127.0f);
      const double rest = elements[j] - code * byte_scale_;
      rest2 += rest * rest;
      entry_bytes_[j] = static_cast<uint8_t>(static_cast<int>(code) + 128);
    }
    entry_rests2_[entry] = static_cast<float>(rest2 * (1 + 0x1p-20));
  }
}

// A step of the scan is four elements, and so a word, of each of 16 rows.
template <typename T>
template <int64_t kSubDim>
void PqQuantizer<T>::DecodeBytes(DecodedPartition* out) const {
  const int64_t num_rows = out->rows.num_rows();
  const bool dot = metric_ == kernels::Metric::kDot;
  const int64_t stride = byte_stride(out->num_stored);
  const int64_t sub_vectors_per_byte = 8 / num_bits_;
  const int64_t sub_dim = kSubDim == 0 ? sub_dim_ : kSubDim;
  const int64_t steps = kernels::CodeSteps(dim_);
  for (int64_t first = 0; first < num_rows; first += kGroup) {
    uint8_t* group = out->rows.mutable_codes() + first * steps * 4;
    const int64_t count = std::min(kGroup, num_rows - first);
    if (dim_ % 4 != 0) std::memset(group + (steps - 1) * kGroup * 4, 128, kGroup * 4);
    int64_t row_offsets[kGroup];
    for (int64_t i = 0; i < kGroup; ++i) {
      row_offsets[i] = out->storage_position[first + std::min(i, count - 1)] * row_stride();
    }
    double norms2[kGroup] = {};
    double rests2[kGroup] = {};
    for (int64_t m = 0; m < num_sub_vectors_; ++m) {
      const uint8_t* plane = out->codes->data() + m / sub_vectors_per_byte * stride;
      uint8_t* line = group + m * sub_dim / 4 * kGroup * 4 + m * sub_dim % 4;
      for (int64_t i = 0; i < kGroup; ++i) {
        const int64_t entry = EntryOf(plane[row_offsets[i]], m);
        norms2[i] += entry_norms2_[entry];
        rests2[i] += entry_rests2_[entry];
        const uint8_t* bytes = entry_bytes_.data() + entry * sub_dim;
        if constexpr (kSubDim == 2) {
          std::memcpy(line + i * 4, bytes, 2);
        } else {
          for (int64_t word = 0; word < sub_dim / 4; ++word) {
            std::memcpy(line + (word * kGroup + i) * 4, bytes + word * 4, 4);
          }
        }
      }
    }
    out->rows.SetCodedRows(first, count, byte_scale_, norms2, rests2, dot);
  }
}

template <typename T>
void PqQuantizer<T>::Decode(const T*, const format::PartitionRows&,
                            std::span<const uint64_t> addresses, uint64_t dead,
                            DecodedPartition* out) const {
  KeepLiveRows(addresses, dead, out);
  if (out->make_codes && !entry_bytes_.empty() && kernels::ScansCodes(dim_)) {
    out->rows.ResetCoded(static_cast<int64_t>(out->addresses.size()), dim_);
    switch (sub_dim_) {
      case 2:
        return DecodeBytes<2>(out);
      case 4:
        return DecodeBytes<4>(out);
      case 8:
        return DecodeBytes<8>(out);
      default:
        return DecodeBytes<0>(out);
    }
  }
  out->rows.Reset(static_cast<int64_t>(out->addresses.size()), dim_, out->make_codes);
  switch (sub_dim_) {
    case 2:
      return DecodeRows<2>(out);
    case 4:
      return DecodeRows<4>(out);
    case 8:
      return DecodeRows<8>(out);
    default:
      return DecodeRows<0>(out);
  }
}

template <typename T>
template <int64_t kSubDim>
void PqQuantizer<T>::DecodeRows(DecodedPartition* out) const {
  const int64_t num_rows = out->rows.num_rows();
  const bool dot = metric_ == kernels::Metric::kDot;
  float* group = out->rows.mutable_rows();
  float* init = out->rows.mutable_init();
  for (int64_t first = 0; first < num_rows; first += kGroup, group += kGroup * dim_) {
    const int64_t count = std::min(kGroup, num_rows - first);
    int64_t row_offsets[kGroup];
    for (int64_t i = 0; i < kGroup; ++i) {
      // Padding rows repeat the last one: finite, and their init says that they never survive.
      row_offsets[i] = out->storage_position[first + std::min(i, count - 1)] * row_stride();
    }
    double norms2[kGroup] = {};
    DecodeGroup<kSubDim>(out->codes->data(), byte_stride(out->num_stored), row_offsets, group,
                         norms2);
    for (int64_t i = 0; i < count; ++i) {
      init[first + i] = kernels::RowInit(norms2[i], dim_, dot);
    }
  }
}

// A float16 index keeps residuals in float16, as Lance does: its distances follow that rounding.
template <typename T>
void PqQuantizer<T>::QueryResidual(const T* centroid, const double* query, double* out) const {
  for (int64_t j = 0; j < dim_; ++j) out[j] = query[j] - centroid[j];
  if (rounds_residual_) std::transform(out, out + dim_, out, RoundToFloat16);
}

template <typename T>
double PqQuantizer<T>::MoveQuery(const T* centroid, const double* query, const DecodedPartition&,
                                 float* moved) const {
  if (metric_ == kernels::Metric::kDot)
    return kernels::MoveQuery(query, static_cast<const T*>(nullptr), dim_, moved);
  if (!rounds_residual_) return kernels::MoveQuery(query, centroid, dim_, moved);
  VectorScratch<double> residual(dim_);
  QueryResidual(centroid, query, residual.data());
  return kernels::MoveQuery(residual.data(), static_cast<const T*>(nullptr), dim_, moved);
}

template <typename T>
template <int64_t kSubDim>
void PqQuantizer<T>::GatherEntries(const uint8_t* code, int64_t stride, T* row) const {
  const int64_t sub_dim = kSubDim == 0 ? sub_dim_ : kSubDim;
  const int64_t sub_vectors_per_byte = 8 / num_bits_;
  for (int64_t m = 0; m < num_sub_vectors_; ++m, row += sub_dim) {
    const int64_t entry = EntryOf(code[m / sub_vectors_per_byte * stride], m);
    std::memcpy(row, codebook_.data() + entry * sub_dim, static_cast<size_t>(sub_dim) * sizeof(T));
  }
}

template <typename T>
void PqQuantizer<T>::GatherRow(const DecodedPartition& rows, int64_t slot, T* row) const {
  const uint8_t* code = rows.codes->data() + rows.storage_position[slot] * row_stride();
  const int64_t stride = byte_stride(rows.num_stored);
  switch (sub_dim_) {
    case 2:
      return GatherEntries<2>(code, stride, row);
    case 4:
      return GatherEntries<4>(code, stride, row);
    case 8:
      return GatherEntries<8>(code, stride, row);
    default:
      return GatherEntries<0>(code, stride, row);
  }
}

template <typename T>
double PqQuantizer<T>::L2(const T* centroid, const double* query, const T* row) const {
  if constexpr (std::is_same_v<T, float>) {
    if (!rounds_residual_) return kernels::CanonicalL2OfResidual(query, centroid, row, dim_);
  }
  VectorScratch<double> residual(dim_);
  QueryResidual(centroid, query, residual.data());
  return kernels::CanonicalL2(residual.data(), row, dim_);
}

template <typename T>
double PqQuantizer<T>::Distance(const T* centroid, const double* query,
                                const DecodedPartition& rows, int64_t slot) const {
  VectorScratch<T> row(dim_);
  GatherRow(rows, slot, row.data());
  if (metric_ == kernels::Metric::kDot) return 1 - kernels::CanonicalDot(query, row.data(), dim_);
  const double l2 = L2(centroid, query, row.data());
  return metric_ == kernels::Metric::kCosine ? l2 / 2 : l2;
}

}  // namespace

template <typename T>
arrow::Result<std::unique_ptr<Quantizer<T>>> MakePqQuantizer(const format::IndexFiles& files,
                                                             kernels::Metric metric) {
  auto quantizer =
      std::make_unique<PqQuantizer<T>>(std::get<format::PqCodebook>(files.quantizer()), metric);
  if (!quantizer->has_finite_codebook()) {
    return base::MakeError(base::ErrorCode::kCorrupt,
                           "The PQ codebook of the index holds a NaN or an infinite value");
  }
  return std::unique_ptr<Quantizer<T>>(std::move(quantizer));
}

template arrow::Result<std::unique_ptr<Quantizer<float>>> MakePqQuantizer(const format::IndexFiles&,
                                                                          kernels::Metric);
template arrow::Result<std::unique_ptr<Quantizer<double>>> MakePqQuantizer(
    const format::IndexFiles&, kernels::Metric);

}  // namespace kinjo::index
