// The left lists of one block that can match anything: their vectors as queries, one list after
// another.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arrow/array.h"
#include "base/error.h"
#include "exec/multivector_array.h"
#include "exec/query_rows.h"

namespace kinjo::exec {

/// List i is the queries [begins[i], begins[i + 1]) of `vectors`, at least one.
struct QueryLists {
  QueryRows vectors;
  std::vector<int64_t> begins = {0};

  int64_t num_lists() const { return static_cast<int64_t>(begins.size()) - 1; }
  int64_t size(int64_t list) const { return begins[list + 1] - begins[list]; }
  /// Elements of a vector.
  int64_t dim() const { return vectors.dim; }
};

/// Appends the lists of an array that can match, each without its vectors that can't (null,
/// non-finite, zero), and the state of every row of the array to `states`.
arrow::Status AppendLists(const FlatLists& lists, const VectorRead& read, QueryLists* out,
                          std::vector<VectorState>* states);

/// Makes every query a list of its own.
QueryLists ListsOfOne(QueryRows vectors);

}  // namespace kinjo::exec
