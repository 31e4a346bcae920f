// Which columns take part: the vector column of each side, and the columns that come out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrow/type.h"
#include "base/error.h"
#include "exec/vector_array.h"
#include "join/options.h"
#include "kernels/metric.h"

namespace kinjo::join {

/// A table of the join, for messages.
struct Side {
  std::string name;    ///< "left" or "right"
  std::string option;  ///< the option that names its vector column
  std::string uri;
  std::shared_ptr<arrow::Schema> schema;
};

/// The vector column of one side.
struct VectorColumn {
  std::string name;  ///< of a column, or a dotted path into structs (dataset/column_path.h)
  std::string root;  ///< the column to read for it
  exec::VectorType type;
  bool multivector = false;  ///< each row is a list of vectors of `type`
  std::string what;          ///< for messages: left column "v"
};

/// Finds the vector column: the one that is named, else the only one of the side. Not found, not a
/// vector, several: an error that lists the columns.
arrow::Result<VectorColumn> ResolveVectorColumn(const Side& side, const std::string& name);

/// Checks that a row of one column can be compared with a row of the other, and under `metric` if
/// one is named: a multivector right takes vectors and lists of vectors, by cosine only; another
/// right takes vectors.
arrow::Status CheckKinds(const VectorColumn& left, const VectorColumn& right,
                         std::optional<kernels::Metric> metric);

/// Checks that the two columns can be compared under `metric`.
arrow::Status CheckComparable(const VectorColumn& left, const VectorColumn& right,
                              kernels::Metric metric);

/// What a result row is made of.
struct OutputLayout {
  std::vector<std::string> left_columns;
  std::vector<std::string> right_columns;  ///< by their names on the right side
  bool row_id = false;
  bool query_index = false;
  bool cluster = false;  ///< the left columns and `_cluster`, in place of matches
  std::shared_ptr<arrow::Schema> schema;
};

/// Left columns, right columns, _distance, _rank, and on request _rowid and _query_index; for
/// clusters the left columns, _cluster, and on request _query_index. A right column whose name is
/// taken gets the suffix; what the suffix can't solve is an error.
arrow::Result<OutputLayout> MakeOutputLayout(const Side& left, const Side& right,
                                             const VectorColumn& right_vector,
                                             const JoinOptions& options);

}  // namespace kinjo::join
