// A copy of a segment's two files in which rows have other ids: what a compaction needs where ids
// are addresses. Codes and graphs stay as they are, so every search finds what it found.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "arrow/io/interfaces.h"
#include "base/cancel_token.h"
#include "base/error.h"
#include "format/index_file/segment_writer.h"
#include "io/random_reader.h"

namespace kinjo::format {

/// Changes row ids in place, a batch of them at a time.
using RowIdChange = std::function<void(std::span<uint64_t> row_ids)>;

/// Copies the files of the folder `from` to the two streams, which it neither flushes nor closes:
/// index.idx byte by byte, auxiliary.idx row by row in the file version that it has. Memory: a page
/// of each column, and a batch. After an error the copies are of no use.
arrow::Result<WrittenSegment> CopySegment(const io::Location& from, arrow::io::OutputStream* index,
                                          std::shared_ptr<arrow::io::OutputStream> auxiliary,
                                          const RowIdChange& change,
                                          const base::CancelToken& cancel);

}  // namespace kinjo::format
