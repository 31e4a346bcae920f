// Streams as JavaScript sees them: promises of packed batches.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <string>

#include "loop.h"

namespace kinjo_node {

/// A value for JavaScript that ends the stream when it is collected. Takes `running` over, which
/// has a stream.
Napi::Value WrapStream(Napi::Env env, const std::shared_ptr<Running>& running);

/// Starts the running's stream on a worker, and gives a promise of it as above. `start` may store
/// the format of a column that CanPack refuses instead of a stream, which then is `not_supported`.
using StartStream =
    std::function<bool(Running* running, std::string* refused, kinjo_error** error)>;
Napi::Value PromisedStream(Napi::Env env, StartStream start);

/// {name, format, nullable, children, dictionary}, as the Arrow C schema has them.
Napi::Value SchemaValue(Napi::Env env, const ArrowSchema& schema);

/// Adds the functions that take a stream.
void ExportStreams(Napi::Env env, Napi::Object exports);

}  // namespace kinjo_node
