// Vector indexes: made and kept, each change a commit of its own.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "options.h"

namespace kinjo::python {

/// `options` by the names of kinjo_index_options; `centroids` and `codebook` are buffers of
/// elements of the column's type, whose sizes the caller has checked. Gives JSON.
std::string CreateIndex(const std::string& uri, const Options& options, nanobind::object progress);
/// `options` by the names of kinjo_index_optimize_options. Gives JSON.
std::string OptimizeIndex(const std::string& uri, nanobind::handle name, const Options& options,
                          nanobind::object progress);
/// Gives the version that was committed.
int64_t DropIndex(const std::string& uri, nanobind::handle name);
int64_t RenameIndex(const std::string& uri, nanobind::handle name, nanobind::handle new_name);

}  // namespace kinjo::python
