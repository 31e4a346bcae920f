// Leaf pages of version 2.0, written: a tree of array encodings over whole buffers. array_page.cc
// reads them; docs/format/data-file.md has the shapes.
#pragma once

#include <memory>
#include <vector>

#include "format/file/page_content.h"
#include "format/file/write_choices.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

struct EncodedArrayPage {
  std::vector<std::shared_ptr<arrow::Buffer>> buffers;
  proto::ArrayEncoding encoding;
};

/// Encodes a page without lists or structs above the leaf. Requires: an Arrow dictionary has items
/// of variable width.
EncodedArrayPage EncodeArrayPage(const PageContent& page, const WriteChoices& choices);

/// Flat values of `bits` bits in the page's buffer `number`, none of them null.
proto::ArrayEncoding FlatWithoutNulls(uint64_t bits, size_t number);

/// A buffer of 64-bit numbers.
std::shared_ptr<arrow::Buffer> BufferOfNumbers(const std::vector<uint64_t>& numbers);

}  // namespace kinjo::format::file
