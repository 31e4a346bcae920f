// The container of a data file: footer, tables and descriptor. It knows where things lie, not what
// the pages mean.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "format/file/lance_file.h"
#include "format/proto/file_messages.h"
#include "io/random_reader.h"

namespace kinjo::format::file {

/// The last 40 bytes of a file.
struct Footer {
  uint64_t first_column = 0;  ///< position of column 0's metadata; readers find it in the table
  uint64_t column_table = 0;
  uint64_t global_table = 0;
  uint32_t num_global_buffers = 0;
  uint32_t num_columns = 0;
  FileVersion version;  ///< 2.0 for files whose footer says 0.3
};
std::vector<uint8_t> WriteFooter(const Footer& footer);

/// What Open read, all of it checked to lie in the file.
struct Container {
  FileVersion version;                 ///< 2.0 for files whose footer says 0.3
  std::vector<io::ByteRange> columns;  ///< metadata of each column
  std::vector<io::ByteRange> global_buffers;
  Schema schema;
  uint64_t num_rows = 0;
  io::ByteRange kept_range;  ///< the part of the file that is kept in `kept`
  std::shared_ptr<arrow::Buffer> kept;

  static arrow::Result<Container> Open(io::RandomReader* reader);

  /// Reads a range, from what is kept when that holds it.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(io::RandomReader* reader,
                                                     io::ByteRange range) const;

 private:
  /// Lets go of all but the column metadata and the global buffers that may still be asked for.
  arrow::Status KeepWhatIsRead();
};

/// Where the fields of a schema lie in a file that stores them all: leaves depth first from version
/// 2.1 on, all fields in 2.0.
ColumnMap NumberColumns(const Schema& schema, FileVersion version);

}  // namespace kinjo::format::file
