// Stored elements (float16, float32, float64) as the numbers that the index room computes in: float
// for the first two, double for the last. Widening is exact.
#pragma once

#include <cstdint>
#include <vector>

#include "format/index_file/index_files.h"

namespace kinjo::index {

/// Widens `count` elements. T is float for float16 and float32, double for float64. `data` may be
/// unaligned.
template <typename T>
void WidenElements(format::ElementType type, const uint8_t* data, int64_t count, T* out);

/// All elements of a tensor, row-major.
template <typename T>
std::vector<T> WidenTensor(const format::Tensor& tensor);

/// True when no element is NaN or infinite.
template <typename T>
bool AllFinite(const T* values, int64_t count);

/// The float16 nearest to `value`, ties to even.
double RoundToFloat16(double value);

}  // namespace kinjo::index
