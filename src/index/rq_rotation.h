// The orthogonal map that RaBitQ applies to vectors before it codes them: four rounds of sign flips
// and Walsh-Hadamard transforms, or a matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "format/index_file/index_files.h"

namespace kinjo::index {

/// Immutable and thread-safe.
class RqRotation {
 public:
  RqRotation(const format::RqModel& model, int64_t dim);

  /// False for a matrix with an element that isn't finite.
  bool is_finite() const;
  /// Writes the map of in[dim] to out[dim]; the two may not overlap. In double, in a fixed order.
  void Apply(const double* in, double* out) const;
  /// The maps of kernels::kRotatedRows vectors in place, the same bits as Apply's: element j of
  /// vector i is x[j * kRotatedRows + i].
  void ApplyToRows(double* x) const;

 private:
  void ApplyRounds(double* x) const;

  const int64_t dim_;
  const std::vector<uint8_t> signs_;  // [round][ceil(dim / 8)]; empty for a matrix
  std::vector<double> matrix_;        // [dim][dim], row-major; empty when fast
};

}  // namespace kinjo::index
