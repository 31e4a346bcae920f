// Where decoded values go: the buffers of one Arrow array, grown as the values come.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arrow/array.h"
#include "arrow/buffer.h"
#include "format/file/bytes.h"
#include "format/file/leaf_type.h"
#include "format/file/value_block.h"

namespace kinjo::format::file {

/// A bitmap that grows.
class BitSink {
 public:
  arrow::Status Append(const uint8_t* bits, uint64_t offset, uint64_t count);
  arrow::Status AppendRepeated(bool value, uint64_t count);
  uint64_t size() const { return size_; }
  /// The bitmap cut to its size; null when nothing was ever allocated.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Finish();

 private:
  arrow::Status Grow(uint64_t count);
  std::shared_ptr<arrow::ResizableBuffer> buffer_;
  uint64_t size_ = 0;
};

/// Collects the value slots of one leaf. Memory grows with what was decoded, never with what a file
/// claims. Not thread-safe.
class ValueSink {
 public:
  explicit ValueSink(const LeafType& leaf) : leaf_(leaf) {}

  uint64_t size() const { return size_; }
  /// Bytes gathered so far: values, offsets, validity of items.
  uint64_t gathered_bytes() const;

  /// Room for `values` more values and, when they are variable, `bytes` more bytes. Only a hint for
  /// speed; the caller answers for its size.
  arrow::Status Reserve(uint64_t values, uint64_t bytes);

  /// Copies values [start, start + count) of `block`; `corrupt` when the block isn't of this leaf's
  /// width.
  arrow::Status Append(const ValueBlock& block, uint64_t start, uint64_t count, const Where& where);
  /// Copies value items[i] of `block` for each i; every item is below block.num_values.
  arrow::Status AppendPicked(const ValueBlock& block, std::span<const uint64_t> items,
                             const Where& where);
  /// Copies value 0 of `block` `count` times.
  arrow::Status AppendRepeated(const ValueBlock& block, uint64_t count, const Where& where);
  /// Adds slots whose content doesn't matter (zeros, empty strings).
  arrow::Status AppendEmpty(uint64_t count);
  /// Adds zeros of fixed width, whose items' validity was added before (AppendItemValidity). What
  /// no stored byte stands for has a bound: beyond it `capacity`.
  arrow::Status AppendZeros(uint64_t count);
  /// Adds `count` values of fixed width, whole bytes, without nulls among items; the caller fills
  /// the memory that it gets.
  arrow::Result<uint8_t*> AppendFixed(uint64_t count);
  /// Adds the validity of the items of `count` values at one fixed-size-list level, from bit
  /// `offset` of `bits` (null: all valid). Call it before the values themselves are added.
  arrow::Status AppendItemValidity(size_t level, const uint8_t* bits, uint64_t offset,
                                   uint64_t count);
  /// Adds one value of variable width.
  arrow::Status AppendVariable(Bytes value, const Where& where);
  /// Uses `buffer` as all `count` values of fixed width. Requires: nothing was added yet.
  void Adopt(std::shared_ptr<arrow::Buffer> buffer, uint64_t count);

  const LeafType& leaf() const { return leaf_; }

  /// The values with this validity (null: all valid), which has one bit a value.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Finish(std::shared_ptr<arrow::Buffer> validity,
                                                          int64_t null_count);

 private:
  arrow::Status AppendFixedBlock(const ValueBlock& block, uint64_t start, uint64_t count,
                                 const Where& where);
  arrow::Status AppendVariableBlock(const ValueBlock& block, uint64_t start, uint64_t count,
                                    const Where& where);
  arrow::Status AppendPickedVariable(const ValueBlock& block, std::span<const uint64_t> items,
                                     const Where& where);
  arrow::Status AppendBits(const ValueBlock& block, uint64_t start, uint64_t count);
  arrow::Status GrowBytes(std::shared_ptr<arrow::ResizableBuffer>* buffer, uint64_t used,
                          uint64_t more);
  arrow::Result<uint8_t*> GrowOffsets(uint64_t count);
  arrow::Status CheckDataSize(uint64_t more, const Where& where) const;
  arrow::Result<std::shared_ptr<arrow::ArrayData>> FinishFixed(
      const std::shared_ptr<arrow::Buffer>& validity, int64_t null_count);

  const LeafType& leaf_;
  uint64_t size_ = 0;
  std::shared_ptr<arrow::Buffer> adopted_;
  std::shared_ptr<arrow::ResizableBuffer> values_;  // fixed: values, variable: bytes
  uint64_t value_bytes_ = 0;                        // of values_ in use
  std::shared_ptr<arrow::ResizableBuffer> offsets_;
  BitSink bits_;                        // fixed width that isn't whole bytes
  std::vector<BitSink> item_validity_;  // empty until an item is null
};

}  // namespace kinjo::format::file
