// Rows from elsewhere in the form of a table's columns: columns found by name, lists of equal
// length as vectors, values cast where none is lost.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "base/error.h"
#include "format/schema.h"

namespace kinjo::dataset {

/// Turns batches of one schema into batches of a table's fields. Immutable; thread-safe.
class RowAlignment {
 public:
  /// Fits batches of `source` to `table`. Columns of the table that `source` lacks are left out
  /// where they may be null. A missing column that mayn't be null, a column that the table hasn't,
  /// and a type that can't be cast are `invalid` and name the column.
  static arrow::Result<RowAlignment> Make(const arrow::Schema& source, const format::Schema& table,
                                          const std::string& uri);

  /// The part of the table's schema that batches come out with.
  const format::Schema& schema() const { return schema_; }

  /// `invalid` names the column whose values don't fit.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Apply(const arrow::RecordBatch& batch) const;

 private:
  struct Column {
    int source = 0;
    std::shared_ptr<arrow::DataType> type;
  };

  format::Schema schema_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
  std::vector<Column> columns_;
  std::string uri_;
};

/// One array as another type: a list as a fixed-size list where every list has its length, values
/// by a cast that loses nothing. `what` names it in errors.
arrow::Result<std::shared_ptr<arrow::Array>> CastColumn(
    const std::shared_ptr<arrow::Array>& values, const std::shared_ptr<arrow::DataType>& type,
    const std::string& what);

/// The stream with its column `name`, a list of numbers, as vectors: of `dimension` numbers, or of
/// as many as the first list that isn't null has. A stream whose column is a vector already comes
/// back as it is. `not_found` when there is no such column.
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> WithVectorColumn(
    std::shared_ptr<arrow::RecordBatchReader> rows, const std::string& name);

}  // namespace kinjo::dataset
