// A Lance dataset as a table: for a left side, or anywhere a file could stand.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tabular/table_source.h"

namespace kinjo::tabular {

/// Opens one version (nothing: the latest). Rows are the live ones in address order; ordinals count
/// them.
arrow::Result<std::shared_ptr<TableSource>> OpenLanceTable(const std::string& uri,
                                                           std::optional<uint64_t> version,
                                                           int64_t batch_rows);

}  // namespace kinjo::tabular
