// Run-length encoding: values of some byte width, each with the number of times it repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "format/file/bytes.h"
#include "format/file/scratch.h"

namespace kinjo::format::file {

/// The two halves of a run-length encoded piece. Widths are 1, 2, 4 or 8 bytes (values may also
/// have any other whole number of bytes).
struct Runs {
  Bytes values;
  uint32_t value_width = 0;
  Bytes lengths;
  uint32_t length_width = 0;
};

/// Expands the runs to exactly `num_values` values. The runs may add up to `num_values` plus a
/// multiple of 65536 (`wrapped`): older writers counted levels in 16 bits.
arrow::Result<Bytes> ExpandRuns(const Runs& runs, uint64_t num_values, bool wrapped,
                                const Where& where, Scratch* scratch);

/// Runs as a writer makes them, with lengths of 8 bits: a longer run is split.
struct OwnRuns {
  std::vector<uint8_t> values;
  std::vector<uint8_t> lengths;
};

/// The runs of `count` values of `width` (1, 2, 4 or 8) bytes.
OwnRuns FindRuns(const uint8_t* values, uint32_t width, uint64_t count);

}  // namespace kinjo::format::file
