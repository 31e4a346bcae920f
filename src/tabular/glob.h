// Names with wildcards: `*` and `?` match within one path segment, `[a-z]` one character, `**` as a
// whole segment any number of segments.
#pragma once

#include <string>
#include <string_view>

namespace kinjo::tabular {

/// Whether `text` holds a wildcard.
bool HasWildcard(std::string_view text);

/// Whether the relative path `path` (segments separated by '/') matches `pattern` as a whole. A '['
/// without its ']' stands for itself; `[!...]` and `[^...]` match what isn't listed.
bool GlobMatches(std::string_view pattern, std::string_view path);

/// How many segments a match can have; -1 when `**` lets it have any number.
int GlobDepth(std::string_view pattern);

}  // namespace kinjo::tabular
