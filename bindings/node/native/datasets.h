// Lance datasets as values that JavaScript holds: opened, described, counted, scanned.
#pragma once

#include <napi.h>

namespace kinjo_node {

void ExportDatasets(Napi::Env env, Napi::Object exports);

}  // namespace kinjo_node
