// General compression of a buffer: LZ4 (a u32 size before a raw block) and ZSTD (a u64 size before
// a frame, or a bare frame).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/file/bytes.h"
#include "format/file/scratch.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

/// Decompresses one buffer into memory of `scratch`. The size that the bytes claim is believed only
/// as far as the codec can expand them.
arrow::Result<Bytes> Decompress(proto::CompressionScheme scheme, Bytes compressed,
                                const Where& where, Scratch* scratch);

/// Compresses one buffer, with the size in front that Decompress expects. `level`: the codec's own
/// scale; nothing for its default.
arrow::Result<std::vector<uint8_t>> Compress(proto::CompressionScheme scheme,
                                             std::optional<int> level, Bytes bytes);

}  // namespace kinjo::format::file
