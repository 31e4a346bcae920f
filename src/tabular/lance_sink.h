// Result rows as a Lance dataset: one new version, there as a whole or not at all.
#pragma once

#include <memory>
#include <string>

#include "arrow/type.h"
#include "base/error.h"
#include "tabular/table_sink.h"

namespace kinjo::tabular {

/// `invalid` names an option that a dataset has no use for.
arrow::Status CheckLanceOptions(const SinkOptions& options);

/// What OpenLanceSink would refuse of the place; makes nothing.
arrow::Status CheckLancePlace(const std::string& path, const SinkOptions& options);

/// A sink for rows of `schema`. Finish() commits them: as the first version where there is no
/// dataset, else (with `overwrite`) as its next one, whose rows are these alone.
arrow::Result<std::unique_ptr<TableSink>> OpenLanceSink(const std::string& path,
                                                        const arrow::Schema& schema,
                                                        const SinkOptions& options);

}  // namespace kinjo::tabular
