// Columns whose equal values say which rows of the two sides belong together (`by`) or are one
// (`exclude_self`).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "base/error.h"
#include "join/columns.h"

namespace kinjo::join {

/// A column of one side, by name or dotted path (dataset/column_path.h).
struct KeyColumn {
  std::string name;
  std::string root;  ///< the column to read for it
  std::shared_ptr<arrow::DataType> type;
};

/// The key columns of both sides, in pairs of equal kinds of values.
struct KeyColumns {
  std::vector<KeyColumn> left;
  std::vector<KeyColumn> right;
};

/// Finds the columns that `names` ("a", or "a:b" where the right side calls it b) name. An unknown
/// column, one whose values can't be keys, and two of different kinds are errors that name `option`
/// and the columns. Integers of every width are one kind, so are floats, strings, decimals,
/// timestamps of every unit.
arrow::Result<KeyColumns> ResolveKeys(const char* option, const std::vector<std::string>& names,
                                      const Side& left, const Side& right);

/// The keys of some rows as bytes: equal exactly when every column's values are. A value that
/// equals nothing (null, NaN) makes the key one of nobody.
struct KeyBytes {
  std::vector<std::string> keys;
  std::vector<bool> is_key;  ///< false: equals nothing
};
arrow::Result<KeyBytes> ReadKeys(const arrow::RecordBatch& batch,
                                 const std::vector<KeyColumn>& columns);

/// Bytes that one key takes, estimated from the types.
int64_t KeySize(const std::vector<KeyColumn>& columns);

}  // namespace kinjo::join
