// The "block" encodings: one buffer that is decoded as a whole. Levels and dictionaries use them.
#pragma once

#include <cstdint>

#include "format/file/bytes.h"
#include "format/file/scratch.h"
#include "format/file/value_block.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

/// Decodes `num_values` values out of `buffer`. The block borrows both `buffer` and `scratch`.
/// `wrapped_runs` is for levels, see ExpandRuns.
arrow::Status DecodeBlock(const proto::CompressiveEncoding& encoding, Bytes buffer,
                          uint64_t num_values, bool wrapped_runs, const Where& where,
                          Scratch* scratch, ValueBlock* block);

}  // namespace kinjo::format::file
