// What is asked of an index, as names and texts.
#pragma once

#include <string>
#include <vector>

#include "kinjo/kinjo.hpp"
#include "kinjo/writing.hpp"

namespace kinjo::jvm {

/// Reads the text of each named option; names are those of kinjo_index_options, with errors as
/// ParseJoinOptions has them.
IndexOptions ParseIndexOptions(const std::vector<std::string>& names,
                               const std::vector<std::string>& texts);

}  // namespace kinjo::jvm
