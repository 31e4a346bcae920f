// Writers of the messages of a Lance data file; file_messages.h has the structs and the parsers.
// What was parsed and is written again says the same, field for field.
#pragma once

#include <string>

#include "format/proto/file_messages.h"

namespace kinjo::format::proto {

/// The bytes of one message.
std::string Write(const FileDescriptor& descriptor);
std::string Write(const ColumnMetadata& metadata);
std::string Write(const CompressiveEncoding& encoding);
std::string Write(const PageLayout& layout);
std::string Write(const ArrayEncoding& encoding);

}  // namespace kinjo::format::proto
