// Lance datasets written and changed, and their indexes made and kept: each call one commit.
#pragma once

#include <napi.h>

namespace kinjo_node {

/// Adds the functions that change a dataset, and those of a watch, which each of them is given.
void ExportChanges(Napi::Env env, Napi::Object exports);

}  // namespace kinjo_node
