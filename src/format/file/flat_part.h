// A flat buffer of a version 2.0 page: values of one width back to back, maybe compressed as a
// whole. Slices of it are read where it isn't; what is compressed is read whole and opened once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/file/bytes.h"
#include "format/file/page.h"
#include "format/file/scratch.h"
#include "format/proto/file_messages.h"
#include "io/random_reader.h"

namespace kinjo::format::file {

/// A compressed buffer of a page.
struct CompressedBuffer {
  io::ByteRange range;
  proto::CompressionScheme scheme = proto::CompressionScheme::kUnspecified;
};

/// The compressed buffers of a page, opened.
class OpenedBuffers {
 public:
  /// `stored` holds the bytes of each of `buffers`, which aren't kept.
  arrow::Status Open(const std::vector<CompressedBuffer>& buffers, Buffers stored,
                     const Where& where);

  Bytes buffer(size_t number) const { return buffers_[number]; }
  uint64_t bytes() const { return memory_.taken_bytes(); }

 private:
  Scratch memory_;
  std::vector<Bytes> buffers_;
};

struct FlatPart {
  uint64_t bits = 0;
  io::ByteRange buffer;
  std::optional<size_t> compressed;  ///< its number among the page's compressed buffers

  /// Takes the flat encoding apart, through a nullable without nulls if there is one; a packed
  /// struct is a value as wide as its children together. Adds its
  /// buffer to `compressed` when it is.
  static arrow::Result<FlatPart> Make(const proto::ArrayEncoding& encoding,
                                      const std::vector<io::ByteRange>& buffers, const Where& where,
                                      std::vector<CompressedBuffer>* compressed);

  /// The bytes of values [begin, end) to be read: none when compressed. Requires: begin * bits is a
  /// multiple of 8.
  arrow::Result<io::ByteRange> Slice(uint64_t begin, uint64_t end, const Where& where) const;

  /// The values [begin, end), out of the bytes of Slice(begin, end) or out of what was opened.
  arrow::Result<Bytes> Find(Bytes slice, const OpenedBuffers& opened, uint64_t begin, uint64_t end,
                            const Where& where) const;
};

}  // namespace kinjo::format::file
