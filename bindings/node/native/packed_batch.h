// One batch as JavaScript takes it: all its buffers copied behind each other into one block of
// memory, so that handing it over costs one ArrayBuffer however many columns there are. Slices are
// cut out and offsets begin at 0, so that the reader needn't know of either.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "kinjo/arrow_c_abi.h"

namespace kinjo_node {

/// The block ends in a directory of float64: for each column, depth first (a dictionary's values
/// behind its indices), length, null count, place of the validity bitmap, place and bytes of the
/// offsets, place and bytes of the values. -1 where there is none; bitmaps begin at bit 0.
struct PackedBatch {
  std::unique_ptr<uint8_t, decltype(&std::free)> block{nullptr, &std::free};
  size_t size = 0;
  size_t directory = 0;  ///< where it begins
  int64_t rows = 0;
};

/// True for the types that can be packed: null, booleans, numbers, decimals, times, texts, binary,
/// lists, maps, structs, dictionaries of such. Else `type` is the format that can't.
bool CanPack(const ArrowSchema& schema, std::string* type);

/// What packing would take.
size_t BytesOf(const ArrowSchema& schema, const ArrowArray& batch);

/// Requires: CanPack. An empty block when memory is short, or an offset doesn't fit into 32 bits.
PackedBatch Pack(const ArrowSchema& schema, const ArrowArray& batch);

}  // namespace kinjo_node
