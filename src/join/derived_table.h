// A table that stands for rows of another one: the rows of the right side that matched, or a left
// side whose first rows were read beforehand. Says how its rows are read; all else is told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrow/record_batch.h"
#include "base/error.h"
#include "tabular/table_source.h"

namespace kinjo::join {

/// What the methods of such a table give.
struct DerivedTable {
  std::string uri;
  std::string format;
  std::shared_ptr<arrow::Schema> schema;
  std::optional<int64_t> num_rows;
  std::function<arrow::Result<std::shared_ptr<arrow::RecordBatchReader>>(
      const std::optional<std::vector<std::string>>& columns)>
      read;
  std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals)>
      take;
};

std::shared_ptr<tabular::TableSource> MakeDerivedTable(DerivedTable table);

/// A reader of batches that `next` gives, until it gives null.
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> MakeReader(
    std::shared_ptr<arrow::Schema> schema,
    std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>()> next);

}  // namespace kinjo::join
