// The options of a join as names and texts, the way Spark's settings, data sources and Python's
// keyword arguments give them.
#pragma once

#include <string>
#include <vector>

#include "kinjo/kinjo.hpp"

namespace kinjo::jvm {

/// Reads the text of each named option; names are those of kinjo_join_options. Throws EngineFailure
/// (`invalid`) for a name that isn't one, lists those there are, and for a text that doesn't read
/// as the option's kind. Bounds are judged later, by the engine.
JoinOptions ParseJoinOptions(const std::vector<std::string>& names,
                             const std::vector<std::string>& texts);

}  // namespace kinjo::jvm
