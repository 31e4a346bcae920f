// From the levels and values of leaves to Arrow arrays: validity, list offsets, structs.
//
// Element and entry: layer i of a leaf (counted from the inside) has an element wherever an entry
// starts one. With c(i) the number of list layers among 0..i, entry e starts an element of layer i
// when rep(e) >= c(i), unless its level names a null or empty at a layer j > i with a list layer in
// i + 1..j: then nothing exists below that list. The element is null when the level names the null
// of layer i or of any layer above it.
//
// A fixed-size list of structs is an item layer. Each of its d items has an entry of its own, also
// in a null row, so an element of it or of what is around it starts at every d-th entry only. Lists
// lie neither in nor around one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arrow/array.h"
#include "format/file/lance_file.h"
#include "format/file/page.h"
#include "format/schema.h"

namespace kinjo::format::file {

/// A field of the schema and its part of the columns. Field pointers are borrowed.
struct FieldNode {
  enum class Kind : uint8_t { kLeaf, kStruct, kList, kFixedList, kMissing };
  static constexpr size_t kNoLeaf = SIZE_MAX;

  Kind kind = Kind::kMissing;
  const Field* field = nullptr;
  std::shared_ptr<arrow::DataType> type;
  std::vector<FieldNode> children;
  size_t depth = 0;       ///< 0 for the top-level field
  size_t leaf = kNoLeaf;  ///< the first stored leaf at or below this field
  /// Entries of that leaf for each element of this field, which may lie above fixed-size lists.
  uint64_t stride = 1;
};

/// A leaf that is stored in the file.
struct StoredLeaf {
  const Field* field = nullptr;
  uint32_t column = 0;
  LeafColumn shape;
  /// More than one below fixed-size lists of structs: the column's own rows are entries.
  uint64_t entries_per_row = 1;
};

/// The tree of a top-level field and its stored leaves, in order.
struct FieldPlan {
  FieldNode root;
  std::vector<StoredLeaf> leaves;
};

/// Finds the columns of a field: from the top down to the first field that `columns` has.
arrow::Result<FieldPlan> PlanField(const Field& field, const ColumnMap& columns);

/// Builds the array of `plan` out of what was read of each leaf. `path` is for messages. The values
/// of blobs are read from `blobs`; null: there are none.
arrow::Result<std::shared_ptr<arrow::ArrayData>> BuildArray(
    const FieldPlan& plan, std::vector<std::unique_ptr<ColumnSink>>* sinks, uint64_t num_rows,
    const std::string& path, io::RandomReader* blobs = nullptr);

}  // namespace kinjo::format::file
