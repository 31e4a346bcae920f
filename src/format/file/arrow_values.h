// The values of an Arrow array of a leaf's type, as the writer takes them: a block over the array's
// own buffers, whatever offsets the array and its children have.
#pragma once

#include <cstdint>
#include <vector>

#include "arrow/array/data.h"
#include "format/file/page.h"
#include "format/file/value_block.h"
#include "format/file/value_sink.h"

namespace kinjo::format::file {

/// Borrows the array. Elements are counted from the array's own start.
class ArrowValues {
 public:
  /// Requires: `array` is of the leaf's type, or a dictionary of it.
  arrow::Status Open(const LeafColumn& leaf, const arrow::ArrayData& array);

  /// A dictionary with null items.
  bool HasNullItems() const { return item_bits_ != nullptr; }
  /// The item that a valid element of a dictionary points at is null.
  bool ItemIsNull(int64_t element) const;

  /// Adds elements [begin, begin + count), null or not, to `sink`.
  arrow::Status Append(int64_t begin, int64_t count, const Where& where, ValueSink* sink) const;

 private:
  arrow::Status OpenPlain(const LeafType& leaf, const arrow::ArrayData& array);
  arrow::Status OpenFixedSizeList(const LeafType& leaf, const arrow::ArrayData& array);
  uint64_t Index(int64_t element) const;

  ValueBlock block_;
  int64_t first_ = 0;  // of the array, in the block
  // Bitmaps that had to be moved to begin at a byte.
  std::vector<std::shared_ptr<arrow::Buffer>> moved_;
  // Of a dictionary, whose block has its items.
  const uint8_t* indices_ = nullptr;
  uint32_t index_width_ = 0;
  const uint8_t* index_validity_ = nullptr;
  int64_t index_offset_ = 0;
  const uint8_t* item_bits_ = nullptr;
  int64_t item_offset_ = 0;
};

/// The block over an array whose offsets are all 0, as ValueSink::Finish gives it. Borrows it.
ValueBlock BlockOf(const LeafType& leaf, const arrow::ArrayData& array);

}  // namespace kinjo::format::file
