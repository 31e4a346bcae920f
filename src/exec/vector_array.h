// Arrow's vector columns as rows of numbers: fixed-size lists and lists of floats and integers,
// widened to float where that is exact and to double otherwise. A 64-bit integer that double can't
// hold is refused: nothing is rounded unsaid.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/type.h"
#include "base/error.h"

namespace kinjo::exec {

/// A column type that can hold vectors.
struct VectorType {
  arrow::Type::type element;
  std::optional<int64_t> width;  ///< nothing for lists: each row tells

  /// True when float32 holds every element exactly.
  bool widens_to_float() const;
};

/// Nothing when `type` isn't a (fixed-size, large) list of floats or integers.
std::optional<VectorType> VectorTypeOf(const arrow::DataType& type);

/// Elements of one row of a list array (fixed-size, list or large list); 0 for null.
int64_t ListLength(const arrow::Array& array, int64_t row);

enum class VectorState : uint8_t { kValid, kNull, kNonFinite };

/// What to read of a vector array.
struct VectorRead {
  std::string what;       ///< the side and the column, for messages: left column "v"
  int64_t first_row = 0;  ///< ordinal of the array's first row, for messages
  int64_t width = -1;     ///< what each row must have; -1 = the width of the first row not null
  std::string expected;   ///< whose width that is, for messages
};

/// The rows of one array. Rows that aren't valid hold zeros (or, where the array's own memory is
/// used, anything).
template <typename T>
struct VectorRows {
  int64_t num_rows = 0;
  int64_t width = -1;  ///< -1 while no row has told it
  std::vector<VectorState> states;
  const T* row(int64_t i) const { return base + i * width; }

  const T* base = nullptr;             ///< [num_rows][width]
  std::vector<T> own;                  ///< backs `base` when the elements were converted
  std::shared_ptr<arrow::Array> keep;  ///< backs `base` when they weren't
};

/// Reads a vector array of VectorTypeOf's types. A vector with a null element counts as null. A row
/// of another width, or with an integer that T can't hold exactly, is `invalid` and named.
template <typename T>
arrow::Result<VectorRows<T>> ReadVectors(const std::shared_ptr<arrow::Array>& array,
                                         const VectorRead& read);

extern template arrow::Result<VectorRows<float>> ReadVectors(const std::shared_ptr<arrow::Array>&,
                                                             const VectorRead&);
extern template arrow::Result<VectorRows<double>> ReadVectors(const std::shared_ptr<arrow::Array>&,
                                                              const VectorRead&);
/// For uint8 arrays only.
extern template arrow::Result<VectorRows<uint8_t>> ReadVectors(const std::shared_ptr<arrow::Array>&,
                                                               const VectorRead&);

}  // namespace kinjo::exec
