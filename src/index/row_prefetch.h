// Rows of a graph asked for before they are scored: a search jumps among them, so that few are in
// the cache when they are wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kinjo::index {

/// Rows scored at a time: the next ones come from memory meanwhile.
inline constexpr size_t kScoredTogether = 4;

/// Asks for the cache lines of the rows (row_bytes each, back to back at `rows`) of some nodes.
inline void PrefetchRows(const uint8_t* rows, int64_t row_bytes, std::span<const uint32_t> nodes) {
  constexpr int64_t kLineBytes = 64;
  for (const uint32_t node : nodes) {
    const uint8_t* row = rows + int64_t{node} * row_bytes;
    for (int64_t at = 0; at < row_bytes; at += kLineBytes) __builtin_prefetch(row + at);
  }
}

}  // namespace kinjo::index
