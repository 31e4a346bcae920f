// Changes of Lance datasets, each a commit of its own.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "handles.h"

namespace kinjo::python {

/// A report's numbers by their names.
using Told = nanobind::typed<nanobind::dict, nanobind::str, int64_t>;

/// `options` by the names of kinjo_write_options; None is the library's choice. Gives version,
/// rows, fragments, bytes.
Told WriteDataset(const std::string& uri, const Table& rows, const Options& options,
                  nanobind::object progress);
/// Gives version, rows.
Told DeleteRows(const std::string& uri, nanobind::handle where);
/// Gives version, rows, fragments, old_fragments, bytes.
Told CompactDataset(const std::string& uri, nanobind::handle target_rows,
                    nanobind::handle deleted_share_max, nanobind::object progress);

}  // namespace kinjo::python
