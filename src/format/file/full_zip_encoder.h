// Full-zip pages, written: wide values row after row, each behind its control word.
// full_zip_page.cc reads them; docs/format/data-file.md has the bytes.
#pragma once

#include "format/file/page_content.h"
#include "format/file/write_choices.h"

namespace kinjo::format::file {

/// Encodes a page as full-zip. Requires: values of whole bytes, or single bits (which become
/// bytes).
arrow::Result<EncodedPage> EncodeFullZip(const PageContent& page, const WriteChoices& choices);

}  // namespace kinjo::format::file
