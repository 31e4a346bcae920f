// What a leaf column holds, as far as the decoders need to know: a width, or bytes with offsets.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arrow/type.h"
#include "base/error.h"
#include "format/schema.h"

namespace kinjo::format::file {

struct LeafType {
  enum class Kind : uint8_t { kNull, kFixed, kVariable };
  Kind kind = Kind::kNull;
  std::shared_ptr<arrow::DataType> type;
  uint64_t bits_per_value = 0;  ///< fixed: the whole vector of a fixed-size list
  /// Fixed: items that one value owns at each fixed-size-list level, outermost first.
  std::vector<uint64_t> items_per_value;
  bool large_offsets = false;  ///< variable: 64-bit offsets
};

/// Describes the leaf of Arrow type `type`; `not_supported` names the field.
arrow::Result<LeafType> MakeLeafType(const std::string& field_name,
                                     const std::shared_ptr<arrow::DataType>& type);

}  // namespace kinjo::format::file
