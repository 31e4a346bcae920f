// Variable-width values of a version 2.0 page: a buffer of u64 end offsets (without a leading 0; a
// null's has the null adjustment added) and a buffer of bytes, maybe FSST-coded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "format/file/flat_part.h"
#include "format/file/fsst.h"
#include "format/file/value_block.h"

namespace kinjo::format::file {

/// Values of some rows on the way: first their places, then their bytes.
struct BinaryRows {
  std::vector<uint64_t> offsets;  ///< in the bytes buffer, one more than values
  std::vector<bool> is_null;
  ValueBlock block;  ///< once the bytes are read; borrows them and `offsets`
};

class BinaryPart {
 public:
  /// Takes a binary encoding apart, or an FSST one around it.
  static arrow::Result<BinaryPart> Make(const proto::ArrayEncoding& encoding,
                                        const std::vector<io::ByteRange>& buffers,
                                        const Where& where,
                                        std::vector<CompressedBuffer>* compressed);

  /// The bytes of the end offsets of rows [begin, end), and of the row before.
  arrow::Result<io::ByteRange> EndsRange(uint64_t begin, uint64_t end, const Where& where) const;
  /// Fills offsets and is_null out of the bytes of EndsRange.
  arrow::Status ReadEnds(Bytes ends, const OpenedBuffers& opened, uint64_t begin, uint64_t end,
                         const Where& where, BinaryRows* rows) const;
  /// The bytes of the values.
  arrow::Result<io::ByteRange> BytesRange(const BinaryRows& rows, const Where& where) const;
  /// Fills the block out of the bytes of BytesRange.
  arrow::Status ReadBytes(Bytes bytes, const OpenedBuffers& opened, const Where& where,
                          Scratch* scratch, BinaryRows* rows) const;

  /// The bytes of all values of the page.
  io::ByteRange AllBytes() const {
    return {bytes_.buffer.offset, bytes_.compressed ? 0 : bytes_.buffer.length};
  }

 private:
  FlatPart ends_;
  FlatPart bytes_;
  uint64_t null_adjustment_ = 0;
  std::shared_ptr<const FsstDecoder> fsst_;
};

}  // namespace kinjo::format::file
