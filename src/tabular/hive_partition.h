// Partition columns that live in folder names: `year=2024/country=NZ/part-0.parquet`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrow/scalar.h"
#include "arrow/type.h"
#include "base/error.h"

namespace kinjo::tabular {

/// The partition columns of a table, and their value for each file.
struct HivePartitions {
  arrow::FieldVector fields;  ///< in the order of the folders; none when nothing is partitioned
  std::vector<arrow::ScalarVector> values;  ///< values[file][field]
};

/// Reads the keys from the folders of `relative_paths`. A column is int64 when every value of it is
/// a whole number, else a string; `__HIVE_DEFAULT_PARTITION__` is null; %XX is decoded. Files that
/// don't all have the same keys are an error that names two of them.
arrow::Result<HivePartitions> ReadHivePartitions(const std::vector<std::string>& relative_paths);

}  // namespace kinjo::tabular
