// The value encodings of mini-block chunks, written: from a page's values to the value buffers of
// its chunks. mini_values.h reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "format/file/page_content.h"
#include "format/file/write_choices.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

/// The values of a page in chunks: chunk c has slots[c] values and, in `bytes`, the buffers
/// sizes[c * num_buffers ...], one after another without gaps.
struct MiniValues {
  proto::CompressiveEncoding encoding;
  uint64_t num_buffers = 1;
  std::vector<uint64_t> slots;
  std::vector<uint64_t> sizes;
  std::vector<uint8_t> bytes;

  size_t num_chunks() const { return slots.size(); }
};

/// Encodes the values in chunks of at most `most_slots` (a power of two >= 2) values each; every
/// chunk but the last has a power of two of them, at least 2.
arrow::Result<MiniValues> EncodeMiniValues(const PageContent& page, const WriteChoices& choices,
                                           uint64_t most_slots);

}  // namespace kinjo::format::file
