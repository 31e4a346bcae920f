// What somebody who mistyped a word may have meant.
#pragma once

#include <string>
#include <vector>

namespace kinjo::cli {

/// "; did you mean NAME?" with the name that is nearest to `word`, or "" when none is near.
std::string DidYouMean(const std::string& word, const std::vector<std::string>& names);

}  // namespace kinjo::cli
