// How well whole steps of one size tell the direction of a vector: what is tried many times for
// each row that RaBitQ codes.
#pragma once

#include <cstdint>

namespace kinjo::kernels {

/// The code of an element x is floor(x * scale + edge), at most `most`, and stands for a half more.
struct CodeFit {
  const float* elements;  ///< [count], >= 0; one below 0 doesn't count
  int64_t count;          ///< a multiple of kFitLanes
  float edge;
  float most;
};
inline constexpr int64_t kFitLanes = 16;

/// The product of the elements with their codes divided by the norm of the codes; the same bits at
/// every SIMD level.
double CodeCosine(const CodeFit& fit, float scale);

}  // namespace kinjo::kernels
