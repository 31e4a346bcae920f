// Codes of IVF_FLAT: the vectors themselves (unit vectors for cosine) in the column's type.
#include "index/code_writer.h"

namespace kinjo::index {

namespace {

template <typename T>
class FlatWriter final : public CodeWriter<T> {
 public:
  explicit FlatWriter(const CodeBasis<T>& basis)
      : dim_(basis.dim),
        type_(basis.type),
        columns_{{.name = "flat", .type = basis.type, .width = basis.dim}} {}

  const std::vector<CodeColumn>& columns() const override { return columns_; }
  int64_t Write(const T* rows, const uint32_t*, int64_t count, uint8_t* out,
                int64_t out_stride) const override {
    for (int64_t i = 0; i < count; ++i) {
      StoreElements(type_, rows + i * dim_, dim_, out + i * out_stride);
    }
    return 0;
  }

 private:
  const int64_t dim_;
  const format::ElementType type_;
  const std::vector<CodeColumn> columns_;
};

}  // namespace

template <typename T>
std::unique_ptr<CodeWriter<T>> MakeFlatWriter(const CodeBasis<T>& basis) {
  return std::make_unique<FlatWriter<T>>(basis);
}

template std::unique_ptr<CodeWriter<float>> MakeFlatWriter(const CodeBasis<float>&);
template std::unique_ptr<CodeWriter<double>> MakeFlatWriter(const CodeBasis<double>&);

}  // namespace kinjo::index
