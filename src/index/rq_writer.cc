// Codes of IVF_RQ (RaBitQ): the rotated residual r' of a row as sign bits, and with several bits an
// element as whole steps too, beside the factors that make a distance of what the code says:
//     b   = +-1/2 by the sign of r',  A = r'.b,  B = c'.b  for the rotated centroid c'
//     add = |r|^2 + 2 |r|^2 B / A,    scale = -2 |r|^2 / A         (l2, cosine)
//     add = 1 - r'.c' + |r|^2 B / A,  scale = -|r|^2 / A           (dot)
// and the same with the full code f in place of b. The error factor bounds, by chance, what the
// sign bits alone are off by.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "index/code_writer.h"
#include "index/rq_code_fit.h"
#include "index/rq_rotation.h"
#include "index/vector_scratch.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

constexpr double kErrorQuantile = 1.9;

// A code and what it is compared with.
struct Factors {
  float add;
  float scale;
};

template <typename T>
class RqWriter final : public CodeWriter<T> {
 public:
  RqWriter(const CodeBasis<T>& basis, const format::RqModel& rq)
      : basis_(basis),
        ex_bits_(static_cast<int>(rq.ex_bits())),
        packed_(rq.packed),
        rotation_(rq, basis.dim),
        columns_{{.name = "_rabit_codes", .width = basis.dim / 8},
                 {.name = "__add_factors"},
                 {.name = "__scale_factors"},
                 {.name = "__error_factors"}} {
    if (ex_bits_ > 0) {
      const int64_t bytes =
          format::RqExCodeBytes(static_cast<uint32_t>(basis.dim), static_cast<uint32_t>(ex_bits_));
      columns_.push_back({.name = "__blocked_ex_codes", .width = bytes});
      columns_.push_back({.name = "__add_factors_ex"});
      columns_.push_back({.name = "__scale_factors_ex"});
    }
  }

  bool has_finite_rotation() const { return rotation_.is_finite(); }
  void RotateCentroids() {
    rotated_.resize(basis_.centroids.size());
    VectorScratch<double> in(basis_.dim);
    VectorScratch<double> out(basis_.dim);
    for (size_t at = 0; at < rotated_.size(); at += static_cast<size_t>(basis_.dim)) {
      for (int64_t j = 0; j < basis_.dim; ++j) in[j] = basis_.centroids[at + j];
      rotation_.Apply(in.data(), out.data());
      for (int64_t j = 0; j < basis_.dim; ++j) rotated_[at + j] = static_cast<float>(out[j]);
    }
  }

  const std::vector<CodeColumn>& columns() const override { return columns_; }
  int64_t Write(const T* rows, const uint32_t* partitions, int64_t count, uint8_t* out,
                int64_t out_stride) const override;
  bool Store(size_t column, const uint8_t* codes, int64_t stride, int64_t num_rows,
             uint8_t* out) const override;

 private:
  bool dot() const { return basis_.metric == kernels::Metric::kDot; }
  Factors FactorsOf(const double* residual, double norm2, const float* centre,
                    const double* code) const;
  void WriteRow(const double* residual, const float* centre, uint8_t* out) const;
  void WriteExCode(const double* residual, double norm2, const float* centre, uint8_t* out) const;

  const CodeBasis<T> basis_;
  const int ex_bits_;
  const bool packed_;
  const RqRotation rotation_;
  std::vector<CodeColumn> columns_;
  std::vector<float> rotated_;  // the centroids
};

template <typename T>
Factors RqWriter<T>::FactorsOf(const double* residual, double norm2, const float* centre,
                               const double* code) const {
  const double own = kernels::CanonicalDot(residual, code, basis_.dim);
  const double ratio = own == 0 ? 0 : norm2 / own;
  const double with_centre = kernels::CanonicalDot(code, centre, basis_.dim);
  if (dot()) {
    return {static_cast<float>(1 - kernels::CanonicalDot(residual, centre, basis_.dim) +
                               ratio * with_centre),
            static_cast<float>(-ratio)};
  }
  return {static_cast<float>(norm2 + 2 * ratio * with_centre), static_cast<float>(-2 * ratio)};
}

void Append(float value, uint8_t** out) {
  std::memcpy(*out, &value, sizeof(value));
  *out += sizeof(value);
}

template <typename T>
void RqWriter<T>::WriteRow(const double* residual, const float* centre, uint8_t* out) const {
  const int64_t dim = basis_.dim;
  VectorScratch<double> code(dim);
  std::fill(out, out + dim / 8, uint8_t{0});
  for (int64_t j = 0; j < dim; ++j) {
    const bool above = !std::signbit(residual[j]);
    code[j] = above ? 0.5 : -0.5;
    out[j / 8] = static_cast<uint8_t>(out[j / 8] | (above ? 1 : 0) << j % 8);
  }
  out += dim / 8;
  const double norm2 = kernels::CanonicalDot(residual, residual, dim);
  const Factors factors = FactorsOf(residual, norm2, centre, code.data());
  Append(factors.add, &out);
  Append(factors.scale, &out);
  const double own = kernels::CanonicalDot(residual, code.data(), dim);
  const auto width = static_cast<double>(dim);
  const double spread = own == 0 ? 0 : std::max(norm2 * width / 4 / (own * own) - 1, 0.0);
  const double error = std::sqrt(norm2) * kErrorQuantile * std::sqrt(spread / (width - 1));
  Append(static_cast<float>(dot() ? error : 2 * error), &out);
  if (ex_bits_ > 0) WriteExCode(residual, norm2, centre, out);
}

template <typename T>
void RqWriter<T>::WriteExCode(const double* residual, double norm2, const float* centre,
                              uint8_t* out) const {
  const int64_t dim = basis_.dim;
  VectorScratch<float> magnitudes(dim);
  const double scale = norm2 == 0 ? 0 : 1 / std::sqrt(norm2);
  for (int64_t j = 0; j < dim; ++j) {
    magnitudes[j] = static_cast<float>(std::abs(residual[j]) * scale);
  }
  VectorScratch<uint8_t> steps(dim);
  FitRqCode(magnitudes.data(), dim, ex_bits_, steps.data());
  VectorScratch<double> code(dim);
  const int most = (1 << ex_bits_) - 1;
  for (int64_t j = 0; j < dim; ++j) {
    const bool above = !std::signbit(residual[j]);
    code[j] = above ? steps[j] + 0.5 : -(steps[j] + 0.5);
    if (!above) steps[j] = static_cast<uint8_t>(most - steps[j]);
  }
  PackRqExCodes(steps.data(), dim, ex_bits_, out);
  out += columns_[4].width;
  const Factors factors = FactorsOf(residual, norm2, centre, code.data());
  Append(factors.add, &out);
  Append(factors.scale, &out);
}

template <typename T>
int64_t RqWriter<T>::Write(const T* rows, const uint32_t* partitions, int64_t count, uint8_t* out,
                           int64_t out_stride) const {
  const int64_t dim = basis_.dim;
  VectorScratch<double> residual(dim);
  VectorScratch<double> rotated(dim);
  for (int64_t i = 0; i < count; ++i) {
    const T* centroid = basis_.centroids.data() + partitions[i] * dim;
    for (int64_t j = 0; j < dim; ++j) {
      residual[j] = static_cast<double>(rows[i * dim + j]) - centroid[j];
    }
    rotation_.Apply(residual.data(), rotated.data());
    WriteRow(rotated.data(), rotated_.data() + partitions[i] * dim, out + i * out_stride);
  }
  return 0;
}

template <typename T>
bool RqWriter<T>::Store(size_t column, const uint8_t* codes, int64_t stride, int64_t num_rows,
                        uint8_t* out) const {
  if (column != 0 || !packed_) return false;
  PackRqSigns(codes, stride, num_rows, columns_[0].width, out);
  return true;
}

}  // namespace

template <typename T>
arrow::Result<std::unique_ptr<CodeWriter<T>>> MakeRqWriter(const CodeBasis<T>& basis,
                                                           const format::RqModel& rq) {
  const auto dim = static_cast<uint64_t>(basis.dim);
  const bool fits = rq.matrix.data != nullptr ? rq.matrix.rows == dim && rq.matrix.cols == dim
                                              : rq.signs.size() == 4 * ((dim + 7) / 8);
  if (rq.num_bits < 1 || rq.num_bits > 9 || dim % 8 != 0 || !fits) {
    return base::Invalid("RaBitQ codes of ", rq.num_bits, " bits can't be made of vectors of ", dim,
                         " elements: 1 to 9 bits, a multiple of 8 elements and a rotation of ",
                         "as many are needed");
  }
  auto writer = std::make_unique<RqWriter<T>>(basis, rq);
  if (!writer->has_finite_rotation()) {
    return base::Invalid("The rotation of the RaBitQ codes holds a NaN or an infinite value");
  }
  writer->RotateCentroids();
  return writer;
}

template arrow::Result<std::unique_ptr<CodeWriter<float>>> MakeRqWriter(const CodeBasis<float>&,
                                                                        const format::RqModel&);
template arrow::Result<std::unique_ptr<CodeWriter<double>>> MakeRqWriter(const CodeBasis<double>&,
                                                                         const format::RqModel&);

}  // namespace kinjo::index
