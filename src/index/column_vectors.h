// Vectors of the indexed column as a build takes them in: as they lie in memory, turned into the
// numbers that models are trained on and rows are coded from. Rows that an index doesn't hold are
// left out here and nowhere else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "format/index_file/index_files.h"
#include "kernels/aligned_vector.h"
#include "kernels/metric.h"

namespace kinjo::index {

/// Rows of a fixed-size-list column, borrowed: [num_rows][dim] elements, which may be unaligned.
struct ColumnVectors {
  format::ElementType type = format::ElementType::kFloat32;
  const uint8_t* data = nullptr;
  int64_t num_rows = 0;
  int64_t dim = 0;
  /// Arrow's bitmap, its first bit being bit `validity_offset`; null = every row is valid.
  const uint8_t* validity = nullptr;
  int64_t validity_offset = 0;

  bool is_valid(int64_t i) const {
    const int64_t bit = validity_offset + i;
    return validity == nullptr || (validity[bit / 8] >> bit % 8 & 1) != 0;
  }
  const uint8_t* row(int64_t i) const { return data + i * dim * format::ElementBytes(type); }
};

/// Why rows were left out.
struct LeftOutRows {
  int64_t null_rows = 0;
  int64_t odd_rows = 0;   ///< with an element that is NaN or infinite
  int64_t zero_rows = 0;  ///< of zeros only, under cosine

  int64_t total() const { return null_rows + odd_rows + zero_rows; }
  LeftOutRows& operator+=(const LeftOutRows& other);
};

/// Sets `kept` to the positions of the rows that an index of this metric holds, rising.
void FindIndexedRows(const ColumnVectors& vectors, kernels::Metric metric,
                     std::vector<uint32_t>* kept, LeftOutRows* left_out);

/// Writes the rows at `positions` to out[positions.size()][dim] as the index computes with them:
/// for cosine divided by their norms (in double), rounded to the column's element type. T is float
/// for float16 and float32 columns, double for float64. Rows must be such as FindIndexedRows keeps.
/// Not for uint8.
template <typename T>
void PrepareVectors(const ColumnVectors& vectors, kernels::Metric metric,
                    std::span<const uint32_t> positions, T* out);

/// Rounds numbers to what `type` holds.
template <typename T>
void RoundToElements(format::ElementType type, T* values, int64_t count);

/// Stores numbers as elements of `type`, rounded, at `out`, which may be unaligned.
template <typename T>
void StoreElements(format::ElementType type, const T* values, int64_t count, uint8_t* out);

/// The same as a matrix of its own, values.size() / cols rows.
template <typename T>
format::Tensor MakeTensor(format::ElementType type, std::span<const T> values, int64_t cols);

/// `count` of the numbers 0 to total - 1 by chance, rising: which rows of a column to train on. All
/// of them where there are no more. The same ones for the same arguments, on every machine.
std::vector<int64_t> SamplePositions(int64_t total, int64_t count, uint64_t seed);

}  // namespace kinjo::index
