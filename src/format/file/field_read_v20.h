// Fields of version 2.0 files: structs and lists own columns, and are read from the top down: the
// ends of the lists first, then the items that they name.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "arrow/array.h"
#include "format/file/column.h"
#include "format/file/list_column.h"
#include "format/schema.h"

namespace kinjo::format::file {

/// Opens columns by number; `num_rows` is what the column must hold.
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;
  virtual arrow::Result<std::shared_ptr<Column>> OpenColumn(uint32_t number, uint64_t num_rows) = 0;
  virtual arrow::Result<std::shared_ptr<ListColumn>> OpenListColumn(uint32_t number,
                                                                    uint64_t num_rows) = 0;
};

/// The file of a read, by its path and columns, what a scan has at hand of it (may be null), and
/// where the values of blobs are read from.
struct ReadSource {
  const std::string& path;
  ColumnSource* columns;
  PagesAtHand* at_hand;
  io::RandomReader* blobs;
};

/// Reads `ranges` (rising, none empty) of a field whose column has `num_rows` rows.
arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadFieldV20(const Field& field,
                                                              const ColumnMap& columns,
                                                              std::span<const RowRange> ranges,
                                                              uint64_t num_rows,
                                                              const ReadSource& source);

}  // namespace kinjo::format::file
