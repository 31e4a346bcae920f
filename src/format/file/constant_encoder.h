// Constant pages, written: nothing but nulls, or one value everywhere. constant_page.cc reads them;
// docs/format/data-file.md has the cases.
#pragma once

#include <optional>

#include "format/file/page_content.h"
#include "format/file/write_choices.h"

namespace kinjo::format::file {

/// Encodes a page without a valid value, or (2.2) one whose rows all hold the same; nothing when
/// the page is neither.
arrow::Result<std::optional<EncodedPage>> EncodeConstant(const PageContent& page,
                                                         const WriteChoices& choices);

}  // namespace kinjo::format::file
