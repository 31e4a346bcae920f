// The value encodings of mini-block chunks, written: from a page's values to the value buffers of
// its chunks. mini_values.h reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/file/page_content.h"
#include "format/file/page_dictionary.h"
#include "format/file/write_choices.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

/// The values of a page in chunks: chunk c has slots[c] values and, in `bytes`, the buffers
/// sizes[c * num_buffers ...], one after another without gaps.
///
/// With a dictionary the values are indices into its items.
struct MiniValues {
  proto::CompressiveEncoding encoding;
  uint64_t num_buffers = 1;
  std::vector<uint64_t> slots;
  std::vector<uint64_t> sizes;
  std::vector<uint8_t> bytes;
  std::optional<EncodedItems> dictionary;
  uint64_t num_dictionary_items = 0;

  size_t num_chunks() const { return slots.size(); }
};

/// Encodes the values in chunks of at most `most_slots` (a power of two >= 2) values each; every
/// chunk but the last has a power of two of them, at least 2.
arrow::Result<MiniValues> EncodeMiniValues(const PageContent& page, const WriteChoices& choices,
                                           uint64_t most_slots);

/// The values as they are, or fixed-size lists of them with the validity of their items.
MiniValues EncodeFlatValues(const ValueBlock& block, uint64_t most_slots);

/// FSST is tried on strings that have so many bytes and aren't all tiny.
bool WorthFsst(const PageContent& page, uint64_t bytes);

/// What a chunk of fixed-width values may have. Larger chunks save headers, smaller ones read less
/// for a single row.
inline constexpr uint64_t kMiniChunkBytes = 8192;

}  // namespace kinjo::format::file
