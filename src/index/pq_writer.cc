// Codes of IVF_PQ: for each sub-vector the nearest entry of its codebook, by squared distance for
// every metric; of the residual for l2 and cosine.
#include <algorithm>
#include <utility>

#include "index/code_writer.h"
#include "index/elements.h"
#include "index/nearest_vectors.h"

namespace kinjo::index {

namespace {

constexpr int64_t kBlockRows = 256;

template <typename T>
class PqWriter final : public CodeWriter<T> {
 public:
  PqWriter(const CodeBasis<T>& basis, const format::PqCodebook& pq, std::vector<T> codebook)
      : basis_(basis),
        num_sub_vectors_(pq.num_sub_vectors),
        sub_dim_(static_cast<int64_t>(pq.codebook.cols)),
        num_bits_(static_cast<int>(pq.num_bits)),
        transposed_(pq.transposed),
        codebook_(std::move(codebook)),
        columns_{{.name = "__pq_code", .width = num_sub_vectors_ * num_bits_ / 8}} {
    entries_.reserve(static_cast<size_t>(num_sub_vectors_));
    const int64_t entries = (int64_t{1} << num_bits_) * sub_dim_;
    for (int64_t m = 0; m < num_sub_vectors_; ++m) {
      entries_.emplace_back(
          std::span<const T>(codebook_.data() + m * entries, static_cast<size_t>(entries)),
          sub_dim_, Nearness::kL2);
    }
  }

  const std::vector<CodeColumn>& columns() const override { return columns_; }
  int64_t Write(const T* rows, const uint32_t* partitions, int64_t count, uint8_t* out,
                int64_t out_stride) const override;
  bool Store(size_t column, const uint8_t* codes, int64_t stride, int64_t num_rows,
             uint8_t* out) const override;

 private:
  void Residuals(const T* rows, const uint32_t* partitions, int64_t count, T* out) const;
  void WriteBlock(const T* values, int64_t count, uint8_t* out, int64_t out_stride) const;

  const CodeBasis<T> basis_;
  const int64_t num_sub_vectors_;
  const int64_t sub_dim_;
  const int num_bits_;
  const bool transposed_;
  const std::vector<T> codebook_;
  const std::vector<CodeColumn> columns_;
  std::vector<NearestVectors<T>> entries_;  // of each sub-vector
};

template <typename T>
void PqWriter<T>::Residuals(const T* rows, const uint32_t* partitions, int64_t count,
                            T* out) const {
  const int64_t dim = basis_.dim;
  for (int64_t i = 0; i < count; ++i) {
    const T* centroid = basis_.centroids.data() + partitions[i] * dim;
    for (int64_t j = 0; j < dim; ++j) out[i * dim + j] = rows[i * dim + j] - centroid[j];
  }
  RoundToElements(basis_.type, out, count * dim);
}

template <typename T>
void PqWriter<T>::WriteBlock(const T* values, int64_t count, uint8_t* out,
                             int64_t out_stride) const {
  uint32_t found[kBlockRows];
  for (int64_t m = 0; m < num_sub_vectors_; ++m) {
    entries_[m].Find(values + m * sub_dim_, basis_.dim, count, found);
    if (num_bits_ == 8) {
      for (int64_t i = 0; i < count; ++i) out[i * out_stride + m] = static_cast<uint8_t>(found[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        uint8_t& byte = out[i * out_stride + m / 2];
        byte = static_cast<uint8_t>(m % 2 == 0 ? found[i] : byte | found[i] << 4);
      }
    }
  }
}

template <typename T>
int64_t PqWriter<T>::Write(const T* rows, const uint32_t* partitions, int64_t count, uint8_t* out,
                           int64_t out_stride) const {
  const bool raw = basis_.metric == kernels::Metric::kDot;
  std::vector<T> residuals;
  if (!raw) residuals.resize(static_cast<size_t>(std::min(count, kBlockRows) * basis_.dim));
  for (int64_t first = 0; first < count; first += kBlockRows) {
    const int64_t some = std::min(kBlockRows, count - first);
    const T* values = rows + first * basis_.dim;
    if (!raw) {
      Residuals(values, partitions + first, some, residuals.data());
      values = residuals.data();
    }
    WriteBlock(values, some, out + first * out_stride, out_stride);
  }
  return 0;
}

template <typename T>
bool PqWriter<T>::Store(size_t, const uint8_t* codes, int64_t stride, int64_t num_rows,
                        uint8_t* out) const {
  if (!transposed_) return false;
  const int64_t code_bytes = columns_[0].width;
  constexpr int64_t kTileRows = 512;  // whose records stay in cache from plane to plane
  for (int64_t first = 0; first < num_rows; first += kTileRows) {
    const int64_t end = std::min(first + kTileRows, num_rows);
    for (int64_t b = 0; b < code_bytes; ++b) {
      for (int64_t i = first; i < end; ++i) out[b * num_rows + i] = codes[i * stride + b];
    }
  }
  return true;
}

}  // namespace

template <typename T>
arrow::Result<std::unique_ptr<CodeWriter<T>>> MakePqWriter(const CodeBasis<T>& basis,
                                                           const format::PqCodebook& pq) {
  const uint64_t entries = uint64_t{pq.num_sub_vectors} << pq.num_bits;
  if ((pq.num_bits != 8 && pq.num_bits != 4) || pq.num_sub_vectors == 0 ||
      basis.dim % pq.num_sub_vectors != 0 || pq.codebook.rows != entries ||
      static_cast<int64_t>(pq.codebook.cols) * pq.num_sub_vectors != basis.dim ||
      pq.codebook.type != basis.type || (pq.num_bits == 4 && pq.num_sub_vectors % 2 != 0)) {
    return base::Invalid("The PQ codebook has ", pq.codebook.rows, " entries of ", pq.codebook.cols,
                         " ", format::ElementTypeName(pq.codebook.type), " for ",
                         pq.num_sub_vectors, " sub-vectors of ", pq.num_bits,
                         " bits, which doesn't fit vectors of ", basis.dim, " ",
                         format::ElementTypeName(basis.type));
  }
  std::vector<T> codebook = WidenTensor<T>(pq.codebook);
  if (!AllFinite(codebook.data(), static_cast<int64_t>(codebook.size()))) {
    return base::Invalid("The PQ codebook holds a NaN or an infinite value");
  }
  return std::make_unique<PqWriter<T>>(basis, pq, std::move(codebook));
}

template arrow::Result<std::unique_ptr<CodeWriter<float>>> MakePqWriter(const CodeBasis<float>&,
                                                                        const format::PqCodebook&);
template arrow::Result<std::unique_ptr<CodeWriter<double>>> MakePqWriter(const CodeBasis<double>&,
                                                                         const format::PqCodebook&);

}  // namespace kinjo::index
