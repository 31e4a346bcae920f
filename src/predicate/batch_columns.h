// The columns of a batch as expressions see them: nested fields found by their path, dictionaries
// and views made plain.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arrow/array/array_primitive.h"
#include "arrow/record_batch.h"
#include "base/error.h"
#include "predicate/expression.h"

namespace kinjo::predicate {

/// The array in ValueType of its type. A struct, list or map is left as it is.
arrow::Result<std::shared_ptr<arrow::Array>> PlainArray(std::shared_ptr<arrow::Array> array);

/// One evaluation's view of a batch, or of some rows of another view; each column is made plain
/// once. One thread.
class BatchColumns {
 public:
  /// `batch` is used until the end.
  explicit BatchColumns(const arrow::RecordBatch& batch) : batch_(&batch) {}
  /// The rows of `base` for which `mask` (no nulls) is true. Both are used until the end.
  BatchColumns(BatchColumns* base, const arrow::BooleanArray& mask) : base_(base), mask_(&mask) {}

  /// Null where a struct on the way is null. A batch without the column, or with another type than
  /// the expression's, is `invalid`.
  arrow::Result<std::shared_ptr<arrow::Array>> Get(const Expression& column);

 private:
  arrow::Result<std::shared_ptr<arrow::Array>> Read(const Expression& column);
  arrow::Result<std::shared_ptr<arrow::Array>> Filter(const Expression& column);

  const arrow::RecordBatch* batch_ = nullptr;
  BatchColumns* base_ = nullptr;
  const arrow::BooleanArray* mask_ = nullptr;
  std::map<std::vector<std::string>, std::shared_ptr<arrow::Array>> plain_;
};

}  // namespace kinjo::predicate
