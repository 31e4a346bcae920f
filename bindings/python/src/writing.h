// Changes of Lance datasets, each a commit of its own.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "handles.h"

namespace kinjo::python {

/// What the caller may say of the files that are written; nothing: the library's choice.
struct WriteOptions {
  std::string mode;
  std::optional<std::string> data_version;
  std::optional<std::string> vector_column;
  std::optional<int64_t> max_rows_per_file;
  std::optional<int64_t> max_bytes_per_file;
  bool stable_row_ids = false;
  std::optional<int64_t> memory_limit_bytes;
};

/// Gives version, rows, fragments, bytes.
nanobind::dict WriteDataset(const std::string& uri, const Table& rows, const WriteOptions& options,
                            nanobind::object progress);
/// Gives version, rows.
nanobind::dict DeleteRows(const std::string& uri, const std::string& where);
/// Gives version, rows, fragments, old_fragments, bytes.
nanobind::dict CompactDataset(const std::string& uri, std::optional<int64_t> target_rows,
                              std::optional<double> deleted_share_max, nanobind::object progress);

}  // namespace kinjo::python
