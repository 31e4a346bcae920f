// A result stream whose source is a test's: what the stream asks of it goes to a JavaScript
// function, and the test answers when and as it likes. Only in the addon of the tests.
#pragma once

#include <napi.h>

namespace kinjo_node {

/// scriptedStream(complete, (kind, request) => void) -> a stream of one int64 column, n;
/// answerRequest(request, BigInt64Array or null) and failRequest(request, code number, message).
void ExportScript(Napi::Env env, Napi::Object exports);

}  // namespace kinjo_node
