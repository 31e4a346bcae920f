// Many files as one table: one schema for all, files in the order of their paths, the partition
// columns of their folders, and ordinals across files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tabular/file_list.h"
#include "tabular/table_file.h"
#include "tabular/table_source.h"

namespace kinjo::tabular {

/// How the files of a format come together.
struct FileFormat {
  std::string name;
  OpenTableFile open;
  /// The files don't say their types, each is guessed: then a column that is whole numbers in one
  /// file and fractions in another, or has no value in one, still is one column.
  bool guesses_types = false;
};

/// Looks at every file, and makes their schemas one. Columns are matched by name and may come in
/// any order; one that is missing, is in excess or has another type is an `invalid` error that
/// names the file and the column.
arrow::Result<std::shared_ptr<TableSource>> OpenTableFiles(const std::string& uri,
                                                           const FileList& list, FileFormat format,
                                                           int64_t batch_rows);

/// The named fields of a schema in the order asked (nullopt: all). A name that isn't there is
/// `not_found`, with the names that are.
arrow::Result<arrow::FieldVector> FindFields(const arrow::Schema& schema,
                                             const std::optional<std::vector<std::string>>& columns,
                                             const std::string& uri);

}  // namespace kinjo::tabular
