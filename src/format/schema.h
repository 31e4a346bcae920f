// A Lance schema: the tree of fields as manifests and data files store it, and its Arrow form.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arrow/type.h"
#include "base/error.h"

namespace kinjo::format {

/// One field. Ids are those of the manifest; children are in order.
struct Field {
  int32_t id = -1;
  int32_t parent_id = -1;
  std::string name;
  std::string logical_type;  ///< Lance's type text, e.g. "fixed_size_list:float:128"
  bool nullable = true;
  std::map<std::string, std::string> metadata;
  /// Fields of the message that have no member here, encoded, so that a writer can keep them.
  std::string unread;
  std::vector<Field> children;
};

/// Top-level fields in order.
struct Schema {
  std::vector<Field> fields;
  std::map<std::string, std::string> metadata;

  /// The field whose dotted path is `path` ("a" or "a.b"), or null.
  const Field* FindPath(const std::string& path) const;
  /// The field with this id at any depth, or null.
  const Field* FindId(int32_t id) const;
};

/// Builds the tree from the depth-first list that files store. A child without its parent is an
/// error.
arrow::Result<Schema> MakeSchema(std::vector<Field> flat,
                                 std::map<std::string, std::string> metadata);

/// How a column of blobs says where its values lie: by position and size (data files of versions
/// 2.0 and 2.1), or by descriptors of several kinds (2.2). Its Arrow type is that of the values.
enum class BlobForm : uint8_t { kNone, kPlaces, kDescriptors };
BlobForm BlobFormOf(const Field& field);

/// The field's metadata asks for a packed struct: one column stores its rows (packed_struct.h).
bool IsPackedStruct(const Field& field);

/// The Arrow type of a field; `not_supported` names the field and its logical type.
arrow::Result<std::shared_ptr<arrow::DataType>> ToArrowType(const Field& field);
arrow::Result<std::shared_ptr<arrow::Field>> ToArrowField(const Field& field);

}  // namespace kinjo::format
