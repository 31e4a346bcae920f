// From Arrow arrays to the levels and value slots of one leaf: the way back of nested.h.
//
// A row enters as one entry. Going down from the top, a struct or an item that is null gives its
// entry the layer's definition level; a list that is null or empty does the same and ends the entry
// there; any other list turns it into one entry an item, of which the first keeps the repetition
// level, and a fixed-size list of structs, null or not, into one an item. What reaches the leaf,
// null or not, owns a value slot.
#pragma once

#include <cstdint>

#include "arrow/array/data.h"
#include "format/file/nested.h"

namespace kinjo::format::file {

/// Adds rows [begin, begin + count) of `array`, counted from the array's own start, to what `sink`
/// holds of leaf number `leaf` of `plan`. The array has the plan's type, down to where extension
/// types are storage (see AdaptArray in adapted_array.h). Levels are numbered as levels.h says. A
/// null where the schema has none is `invalid`.
arrow::Status ShredLeaf(const FieldPlan& plan, size_t leaf, const arrow::ArrayData& array,
                        int64_t begin, int64_t count, const std::string& path, ColumnSink* sink);

}  // namespace kinjo::format::file
