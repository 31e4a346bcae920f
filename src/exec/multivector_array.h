// Multivector columns: each row is a list of vectors. Here the lists of an Arrow array are taken
// apart into one array of vectors and the place of each row in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "arrow/array.h"
#include "arrow/type.h"
#include "base/error.h"
#include "exec/vector_array.h"

namespace kinjo::exec {

/// The type of the vectors in the lists of a column; nothing when `type` isn't a (large,
/// fixed-size) list of VectorTypeOf's types.
std::optional<VectorType> MultivectorTypeOf(const arrow::DataType& type);

/// The vectors of all rows of one array, in order: row i has vectors [begins[i], begins[i + 1]).
struct FlatLists {
  std::shared_ptr<arrow::Array> vectors;
  std::vector<int64_t> begins;  ///< [rows + 1]; null rows have no vector
  int64_t width = -1;           ///< elements of every vector; -1 while none has told it

  int64_t num_rows() const { return static_cast<int64_t>(begins.size()) - 1; }
};

/// Takes the array of a MultivectorTypeOf column apart. A vector of another width than `read` wants
/// is `invalid` and named with its row.
arrow::Result<FlatLists> FlattenLists(const std::shared_ptr<arrow::Array>& array,
                                      const VectorRead& read);

/// The first rows of a MultivectorTypeOf column that have at most so many vectors together.
arrow::Result<int64_t> CountListsWithin(const arrow::Array& array, int64_t vectors);

/// How to read `lists.vectors`, as vectors of the column that `read` names.
VectorRead ReadOfVectors(const VectorRead& read, const FlatLists& lists);

/// What a row whose vectors have these states is: valid when one of them is, null when all of them
/// are null (or there is none), else non-finite.
VectorState StateOfList(std::span<const VectorState> states);

}  // namespace kinjo::exec
