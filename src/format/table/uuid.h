// UUIDs, as manifests hold them (16 bytes) and as folders and transactions are named (text).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kinjo::format {

/// A random UUID (version 4), 16 bytes; the first byte is the first of the text.
std::string NewUuid();

/// The hyphenated lower-case text of 16 bytes; nothing for another number of bytes.
std::optional<std::string> UuidText(std::string_view bytes);

/// The 16 bytes of a UUID in text form; nothing for another text.
std::optional<std::string> ParseUuid(std::string_view text);

/// The name of a new data file, without its folder: as Lance makes them, 24 binary digits that
/// spread over the prefixes of a store and the rest of a UUID.
std::string NewDataFileName();

}  // namespace kinjo::format
