// The little of XML that object stores answer with: elements with text in them, and no attribute
// that matters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kinjo::io {

/// What lies between <name ...> and </name>, of all elements of that name in `xml`, in their order
/// and not unescaped. An element may not lie in one of its own name; what isn't closed is left out.
std::vector<std::string_view> XmlElements(std::string_view xml, std::string_view name);

/// The text of the first element of that name.
std::optional<std::string> XmlText(std::string_view xml, std::string_view name);

/// Text as it stands in XML.
std::string XmlEscaped(std::string_view text);

/// Seconds since the epoch of 2024-02-29T12:34:56(.789)Z; nothing for other text.
std::optional<int64_t> SecondsOfIsoTime(std::string_view text);

/// The same of Thu, 29 Feb 2024 12:34:56 GMT, as HTTP has it.
std::optional<int64_t> SecondsOfHttpTime(std::string_view text);

}  // namespace kinjo::io
