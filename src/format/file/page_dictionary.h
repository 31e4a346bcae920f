// The distinct values of a page, for columns that repeat few of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/file/page_content.h"
#include "format/file/write_choices.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

/// For each slot the number of its item, and where each item first stands.
struct PageDictionary {
  std::vector<uint32_t> indices;  ///< a null's is that of a neighbour
  std::vector<uint64_t> item_slots;
  uint64_t item_bytes = 0;  ///< of the items, without offsets
};

/// Finds the distinct valid values, of fixed width (whole bytes) or variable width; nothing once
/// there are more than `most_items`, or they have more than `most_bytes`.
std::optional<PageDictionary> FindDistinct(const PageContent& page, uint64_t most_items,
                                           uint64_t most_bytes);

/// The items as a block (block_values.h), compressed where the version has that and it helps.
struct EncodedItems {
  proto::CompressiveEncoding encoding;
  std::vector<uint8_t> bytes;
};
arrow::Result<EncodedItems> EncodeItems(const PageContent& page, const PageDictionary& dictionary,
                                        const WriteChoices& choices);

}  // namespace kinjo::format::file
