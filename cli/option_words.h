// The library speaks of options by the names that all faces share ("refine_factor = 0"). Here they
// become what is typed ("--refine-factor 0").
#pragma once

#include <string>

namespace kinjo::cli {

/// The library's message with its options as flags. In a message an option's name stands bare: one
/// with an underscore anywhere, any other only where it is given a value or a bound ("k = 3", "k
/// must", "metric is 'x'", "k * ", "by can't be given together", "a run without by"), or as the
/// message's first word before a colon. What stands in
/// double quotes, in a list of columns or in a predicate is the user's, and stays.
std::string WithFlags(const std::string& message);

}  // namespace kinjo::cli
