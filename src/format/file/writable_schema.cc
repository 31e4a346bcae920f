#include "format/file/writable_schema.h"

#include <string>
#include <unordered_set>

#include "arrow/type.h"
#include "format/file/dictionary_column.h"
#include "format/file/leaf_type.h"

namespace kinjo::format::file {

namespace {

template <typename... Parts>
arrow::Status Refuse(const std::string& path, const Parts&... why) {
  return base::NotSupported("field '", path, "' can't be written: ", why...);
}

bool IsTrue(const Field& field, const std::string& key) {
  const auto found = field.metadata.find(key);
  return found != field.metadata.end() && (found->second == "true" || found->second == "1");
}

arrow::Status CheckField(const Field& field, const std::string& path, FileVersion version) {
  ARROW_ASSIGN_OR_RAISE(const auto type, ToArrowType(field));
  const auto name = base::Concat("in data files of version ", version.major, ".", version.minor);
  if (IsTrue(field, "lance-encoding:blob") || BlobFormOf(field) != BlobForm::kNone) {
    return Refuse(path, "its metadata asks for the blob encoding");
  }
  if (IsTrue(field, "lance-encoding:packed") || IsTrue(field, "packed")) {
    return Refuse(path, "its metadata asks for a packed struct");
  }
  switch (type->id()) {
    case arrow::Type::STRUCT:
      if (field.children.empty()) return Refuse(path, "a struct without fields");
      break;
    case arrow::Type::MAP:
      if (version.minor < 2) return Refuse(path, "there are no maps ", name);
      break;
    case arrow::Type::DICTIONARY: {
      const auto values = StoredType(type)->id();
      const bool text = values == arrow::Type::STRING || values == arrow::Type::BINARY ||
                        values == arrow::Type::LARGE_STRING || values == arrow::Type::LARGE_BINARY;
      if (version.minor == 0 && !text) {
        return Refuse(path, "dictionaries of ", StoredType(type)->ToString(), " aren't written ",
                      name);
      }
      return MakeLeafType(path, StoredType(type)).status();
    }
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
      break;
    default: {
      if (!field.children.empty())
        return Refuse(path, "fixed-size lists of structs aren't written");
      return MakeLeafType(path, StoredType(type)).status();
    }
  }
  for (const Field& child : field.children) {
    ARROW_RETURN_NOT_OK(CheckField(child, path + "." + child.name, version));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status NullNotAllowed(const Field& field, const std::string& path) {
  return base::MakeError(base::ErrorCode::kInvalid,
                         base::Concat("writing field '", field.name,
                                      "': a value is null, where the schema allows none"),
                         path);
}

arrow::Status CheckWritable(const Schema& schema, FileVersion version) {
  std::unordered_set<std::string> names;
  for (const Field& field : schema.fields) {
    if (field.name.find('.') != std::string::npos) {
      return Refuse(field.name, "a column's name can't hold a dot");
    }
    if (!names.insert(field.name).second) {
      return base::Invalid("two columns have the name '", field.name, "'");
    }
    ARROW_RETURN_NOT_OK(CheckField(field, field.name, version));
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::format::file
