// The bytes of a deletion file: the counterpart of dead_rows.h.
#pragma once

#include <cstdint>
#include <memory>

#include "arrow/buffer.h"
#include "base/error.h"
#include "format/table/dead_rows.h"

namespace kinjo::format {

struct EncodedDeletions {
  DeletionFileType type = DeletionFileType::kArrowArray;
  std::shared_ptr<arrow::Buffer> bytes;
};

/// Encodes the dead rows of a fragment of `physical_rows`: few as an Arrow file, many as a Roaring
/// bitmap, as Lance chooses.
arrow::Result<EncodedDeletions> EncodeDeletions(const DeadRows& dead, uint64_t physical_rows);

}  // namespace kinjo::format
