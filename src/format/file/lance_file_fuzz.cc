// Fuzz target: arbitrary bytes as a data file. Everything that the file says it holds is read, up
// to a number of rows that no honest input of this size needs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "arrow/buffer.h"
#include "format/file/lance_file.h"
#include "io/random_reader.h"

namespace {

using kinjo::format::Field;
using kinjo::format::LanceFile;
using kinjo::format::RowRange;

constexpr uint64_t kMaxRows = 4096;

// Reads the rows twice: from the start, and in two pieces.
void ReadField(LanceFile* file, const Field& field) {
  const uint64_t rows = std::min(file->num_rows(), kMaxRows);
  const std::vector<RowRange> whole{{0, rows}};
  auto array = file->ReadRows(field, file->own_columns(), whole);
  if (array.ok() && !(*array)->Validate().ok()) __builtin_trap();
  const uint64_t last = file->num_rows();
  const std::vector<RowRange> pieces{{rows / 3, rows / 2},
                                     {last - std::min<uint64_t>(last, 1), last}};
  if (pieces[0].end <= pieces[1].begin) {
    array = file->ReadRows(field, file->own_columns(), pieces);
    if (array.ok() && !(*array)->Validate().ok()) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto reader = kinjo::io::OpenBuffer(arrow::Buffer::Wrap(data, size), "fuzz");
  auto file = LanceFile::Open(reader);
  if (!file.ok()) return 0;
  for (const Field& field : (*file)->schema().fields) ReadField(file->get(), field);
  const uint32_t columns = std::min<uint32_t>((*file)->num_columns(), 64);
  for (uint32_t column = 0; column < columns; ++column) {
    (*file)->DescribePages(column).status().ok();
  }
  for (int buffer = 0; buffer < std::min((*file)->num_global_buffers(), 64); ++buffer) {
    (*file)->ReadGlobalBuffer(buffer).status().ok();
  }
  return 0;
}
