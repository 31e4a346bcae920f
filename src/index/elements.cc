#include "index/elements.h"

#include <cstring>
#include <type_traits>

#include "arrow/util/float16.h"

namespace kinjo::index {

template <typename T>
void WidenElements(format::ElementType type, const uint8_t* data, int64_t count, T* out) {
  if (type == format::ElementType::kFloat16) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<T>(arrow::util::Float16::FromBytes(data + 2 * i).ToFloat());
    }
    return;
  }
  if (count > 0) std::memcpy(out, data, static_cast<size_t>(count) * sizeof(T));
}

template <typename T>
std::vector<T> WidenTensor(const format::Tensor& tensor) {
  std::vector<T> values(tensor.rows * tensor.cols);
  WidenElements(tensor.type, tensor.data->data(), static_cast<int64_t>(values.size()),
                values.data());
  return values;
}

template <typename T>
bool AllFinite(const T* values, int64_t count) {
  // By the bits of the exponent, so that the loop has no early exit and can be vectorised.
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr Bits kExponent =
      sizeof(T) == 4 ? Bits{0x7F800000u} : static_cast<Bits>(0x7FF0000000000000ull);
  Bits odd = 0;
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    odd |= static_cast<Bits>((bits & kExponent) == kExponent);
  }
  return odd == 0;
}

double RoundToFloat16(double value) { return arrow::util::Float16::FromDouble(value).ToDouble(); }

template void WidenElements(format::ElementType, const uint8_t*, int64_t, float*);
template void WidenElements(format::ElementType, const uint8_t*, int64_t, double*);
template std::vector<float> WidenTensor(const format::Tensor&);
template std::vector<double> WidenTensor(const format::Tensor&);
template bool AllFinite(const float*, int64_t);
template bool AllFinite(const double*, int64_t);

}  // namespace kinjo::index
