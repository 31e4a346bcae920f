// The value encodings of a mini-block chunk: from the chunk's value buffers to a ValueBlock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "format/file/bytes.h"
#include "format/file/fsst.h"
#include "format/file/scratch.h"
#include "format/file/value_block.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

/// A tree of encodings made ready once a page. Immutable; thread-safe.
class MiniBlockCodec {
 public:
  /// `not_supported` names an encoding that has no place in a mini-block; `corrupt` when the page
  /// promises another number of buffers than the tree needs.
  static arrow::Result<MiniBlockCodec> Make(const proto::CompressiveEncoding& encoding,
                                            uint64_t num_buffers, const Where& where);

  /// Decodes one chunk of `num_values` values. The block borrows `buffers` and `scratch`.
  arrow::Status Decode(std::span<const Bytes> buffers, uint64_t num_values, const Where& where,
                       Scratch* scratch, ValueBlock* block) const;

 private:
  // One encoding; node i + 1 is the encoding of what node i leaves.
  struct Node {
    proto::CompressiveEncoding::Kind kind = proto::CompressiveEncoding::Kind::kUnknown;
    uint32_t bits = 0;
    uint32_t length_bytes = 0;  // rle: width of a run length
    uint64_t items_per_value = 0;
    bool has_validity = false;
    proto::CompressionScheme scheme = proto::CompressionScheme::kUnspecified;
    std::shared_ptr<const FsstDecoder> fsst;
  };

  arrow::Status AddNode(const proto::CompressiveEncoding& encoding, const Where& where);
  arrow::Status DecodeNode(size_t number, std::span<const Bytes> buffers, uint64_t num_values,
                           const Where& where, Scratch* scratch, ValueBlock* block) const;
  arrow::Status DecodeFixedSizeList(size_t number, std::span<const Bytes> buffers,
                                    uint64_t num_values, const Where& where, Scratch* scratch,
                                    ValueBlock* block) const;

  std::vector<Node> nodes_;
  size_t buffers_needed_ = 0;
};

/// Values back to back; `bits` is not 0.
arrow::Status DecodeFlat(Bytes buffer, uint64_t bits, uint64_t num_values, const Where& where,
                         ValueBlock* block);

/// One FastLanes block of at most 1024 values with its width in front.
arrow::Status DecodeInlineBitpacking(Bytes buffer, uint32_t bits, uint64_t num_values,
                                     const Where& where, Scratch* scratch, ValueBlock* block);

}  // namespace kinjo::format::file
