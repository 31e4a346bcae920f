// A flat buffer of a version 2.0 page: values of one width back to back, maybe compressed as a
// whole. Slices of it are read where it isn't.
#pragma once

#include <cstdint>
#include <vector>

#include "format/file/bytes.h"
#include "format/file/scratch.h"
#include "format/proto/file_messages.h"
#include "io/random_reader.h"

namespace kinjo::format::file {

struct FlatPart {
  uint64_t bits = 0;
  io::ByteRange buffer;
  proto::CompressionScheme scheme = proto::CompressionScheme::kUnspecified;

  bool compressed() const { return scheme != proto::CompressionScheme::kUnspecified; }

  /// Takes the flat encoding apart, through a nullable without nulls if there is one.
  static arrow::Result<FlatPart> Make(const proto::ArrayEncoding& encoding,
                                      const std::vector<io::ByteRange>& buffers,
                                      const Where& where);

  /// The bytes of values [begin, end): all of them when compressed. Requires: begin * bits is a
  /// multiple of 8.
  arrow::Result<io::ByteRange> Slice(uint64_t begin, uint64_t end, const Where& where) const;

  /// The values [begin, end) out of the bytes of Slice(begin, end).
  arrow::Result<Bytes> Open(Bytes slice, uint64_t begin, uint64_t end, const Where& where,
                            Scratch* scratch) const;
};

}  // namespace kinjo::format::file
