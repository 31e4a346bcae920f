// Patterns of LIKE in the one form that expressions hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kinjo::predicate {

/// The pattern with a backslash before each %, _ and backslash that stands for itself. Without
/// `escape` a backslash before one of these takes it as it is, and is itself elsewhere; an `escape`
/// character takes whatever follows as it is. Nothing when the text ends in the escape character.
std::optional<std::string> CanonicalLikePattern(std::string_view pattern,
                                                std::optional<std::string_view> escape);

}  // namespace kinjo::predicate
