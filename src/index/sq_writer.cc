// Codes of IVF_SQ: a byte an element, where it lies between two bounds, rounded down.
#include <algorithm>

#include "index/code_writer.h"

namespace kinjo::index {

namespace {

constexpr double kSteps = 255;

template <typename T>
class SqWriter final : public CodeWriter<T> {
 public:
  SqWriter(const CodeBasis<T>& basis, const format::SqModel& sq)
      : dim_(basis.dim),
        start_(sq.start),
        end_(sq.end),
        columns_{{.name = "__sq_code", .width = basis.dim}} {}

  const std::vector<CodeColumn>& columns() const override { return columns_; }
  int64_t Write(const T* rows, const uint32_t*, int64_t count, uint8_t* out,
                int64_t out_stride) const override {
    int64_t outside = 0;
    for (int64_t i = 0; i < count; ++i) {
      const T* row = rows + i * dim_;
      uint8_t* code = out + i * out_stride;
      for (int64_t j = 0; j < dim_; ++j) code[j] = CodeOf(row[j]);
      const auto [least, most] = std::minmax_element(row, row + dim_);
      outside += *least < start_ || *most > end_;
    }
    return outside;
  }

 private:
  uint8_t CodeOf(double value) const {
    if (start_ == end_) return 0;
    const double steps = (value - start_) * kSteps / (end_ - start_);
    return static_cast<uint8_t>(static_cast<int32_t>(std::clamp(steps, 0.0, kSteps)));
  }

  const int64_t dim_;
  const double start_;
  const double end_;
  const std::vector<CodeColumn> columns_;
};

}  // namespace

template <typename T>
std::unique_ptr<CodeWriter<T>> MakeSqWriter(const CodeBasis<T>& basis, const format::SqModel& sq) {
  return std::make_unique<SqWriter<T>>(basis, sq);
}

template std::unique_ptr<CodeWriter<float>> MakeSqWriter(const CodeBasis<float>&,
                                                         const format::SqModel&);
template std::unique_ptr<CodeWriter<double>> MakeSqWriter(const CodeBasis<double>&,
                                                          const format::SqModel&);

}  // namespace kinjo::index
