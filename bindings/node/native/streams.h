// Streams as JavaScript sees them: promises of packed batches.
#pragma once

#include <napi.h>

#include <memory>

#include "loop.h"

namespace kinjo_node {

/// A value for JavaScript that ends the stream when it is collected. Takes `running` over, which
/// has a stream. Throws where a column's type can't be handed over.
Napi::Value WrapStream(Napi::Env env, const std::shared_ptr<Running>& running);

/// {name, format, nullable, children, dictionary}, as the Arrow C schema has them.
Napi::Value SchemaValue(Napi::Env env, const ArrowSchema& schema);

/// Adds the functions that take a stream.
void ExportStreams(Napi::Env env, Napi::Object exports);

}  // namespace kinjo_node
