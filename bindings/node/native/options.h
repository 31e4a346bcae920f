// The options of a join as JavaScript hands them on: an object with the names of
// kinjo_join_options, whose types src/options.ts has checked.
#pragma once

#include <napi.h>

#include "kinjo/kinjo.hpp"

namespace kinjo_node {

/// Throws a TypeError for a name that isn't one.
kinjo::JoinOptions ToJoinOptions(const Napi::Object& given);

}  // namespace kinjo_node
