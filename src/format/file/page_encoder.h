// How a page of version 2.1 or 2.2 is laid out: constant, mini-block or full-zip, by what its rows
// hold and what the schema's metadata asks for.
#pragma once

#include "format/file/page_content.h"
#include "format/file/write_choices.h"

namespace kinjo::format::file {

/// Encodes a page of at least one row.
arrow::Result<EncodedPage> EncodePage(const PageContent& page, const WriteChoices& choices);

}  // namespace kinjo::format::file
