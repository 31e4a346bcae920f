// The columns of a batch as expressions see them: nested fields found by their path, dictionaries
// and views made plain.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arrow/array/array_base.h"
#include "arrow/record_batch.h"
#include "base/error.h"
#include "predicate/expression.h"

namespace kinjo::predicate {

/// The array in ValueType of its type. A struct, list or map is left as it is.
arrow::Result<std::shared_ptr<arrow::Array>> PlainArray(std::shared_ptr<arrow::Array> array);

/// One evaluation's view of a batch; each column is made plain once. One thread.
class BatchColumns {
 public:
  /// `batch` is used until the end.
  explicit BatchColumns(const arrow::RecordBatch& batch) : batch_(batch) {}

  /// Null where a struct on the way is null. A batch without the column, or with another type than
  /// the expression's, is `invalid`.
  arrow::Result<std::shared_ptr<arrow::Array>> Get(const Expression& column);

  /// The rows for which `mask` (no nulls) is true, of the top-level columns in `names`.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Filtered(const std::vector<std::string>& names,
                                                              const arrow::Array& mask) const;
  int64_t num_rows() const { return batch_.num_rows(); }

 private:
  const arrow::RecordBatch& batch_;
  std::map<std::vector<std::string>, std::shared_ptr<arrow::Array>> plain_;
};

}  // namespace kinjo::predicate
