// Mini-block pages, written: the values in chunks of a few KiB, each with its levels.
// mini_block_page.cc reads them; docs/format/data-file.md has the bytes.
#pragma once

#include <optional>

#include "format/file/page_content.h"
#include "format/file/write_choices.h"

namespace kinjo::format::file {

/// Encodes a page as mini-blocks; nothing when it doesn't fit them: more levels between two values,
/// or wider values, than a chunk can hold.
arrow::Result<std::optional<EncodedPage>> EncodeMiniBlock(const PageContent& page,
                                                          const WriteChoices& choices);

}  // namespace kinjo::format::file
