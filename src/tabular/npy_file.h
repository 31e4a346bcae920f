// A NumPy array file (.npy) as a table of vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tabular/table_file.h"

namespace kinjo::tabular {

/// What the header of a .npy file says.
struct NpyHeader {
  std::shared_ptr<arrow::DataType> element;  ///< float16/32/64, int8 or uint8
  bool fortran_order = false;
  int64_t rows = 0;
  int64_t width = 0;
  int64_t data_offset = 0;
};

/// Reads the header at the start of a file. `head` holds its first bytes: all of the file, or at
/// least as many as kNpyHeaderBytes. A one-dimensional array of n numbers is one vector of width n.
/// The sizes are checked against `file_size` (`corrupt`); other shapes and types are
/// `not_supported`.
arrow::Result<NpyHeader> ParseNpyHeader(std::string_view head, int64_t file_size,
                                        const std::string& uri);
inline constexpr int64_t kNpyHeaderBytes = 1 << 16;

/// The table has one column, `vector`: fixed-size lists of the element type, never null.
arrow::Result<std::shared_ptr<TableFile>> OpenNpyFile(const io::Location& file);

}  // namespace kinjo::tabular
