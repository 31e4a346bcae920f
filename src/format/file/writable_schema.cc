#include "format/file/writable_schema.h"

#include <string>
#include <unordered_set>

#include "arrow/type.h"
#include "format/file/dictionary_column.h"
#include "format/file/leaf_type.h"

namespace kinjo::format::file {

namespace {

constexpr char kListInFixedList[] = "Lance doesn't read lists within fixed-size lists of structs";

template <typename... Parts>
arrow::Status Refuse(const std::string& path, const Parts&... why) {
  return base::NotSupported("field '", path, "' can't be written: ", why...);
}

// Where a field lies: Lance reads a fixed-size list of structs back at the top, and in another one.
enum class Above : uint8_t { kTop, kFixedList, kOther };

arrow::Status CheckFixedList(const std::string& path, Above above, FileVersion version) {
  if (version.minor < 2) {
    return Refuse(path, "there are no fixed-size lists of structs in data files of version ",
                  version.major, ".", version.minor);
  }
  if (above != Above::kOther) return arrow::Status::OK();
  return Refuse(path, "Lance doesn't read fixed-size lists of structs within structs or lists");
}

arrow::Status CheckField(const Field& field, const std::string& path, Above above,
                         FileVersion version) {
  ARROW_ASSIGN_OR_RAISE(const auto type, ToArrowType(field));
  const auto name = base::Concat("in data files of version ", version.major, ".", version.minor);
  if (BlobFormOf(field) != BlobForm::kNone) {
    return Refuse(path, "its metadata asks for the blob encoding");
  }
  if (IsPackedStruct(field)) return Refuse(path, "its metadata asks for a packed struct");
  switch (type->id()) {
    case arrow::Type::STRUCT:
      if (field.children.empty()) return Refuse(path, "a struct without fields");
      break;
    case arrow::Type::MAP:
      if (version.minor < 2) return Refuse(path, "there are no maps ", name);
      if (above == Above::kFixedList) return Refuse(path, kListInFixedList);
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
      if (above == Above::kFixedList) return Refuse(path, kListInFixedList);
      break;
    default:
      if (field.children.empty()) return MakeLeafType(path, StoredType(type)).status();
      ARROW_RETURN_NOT_OK(CheckFixedList(path, above, version));
  }
  const bool in_fixed_list = type->id() == arrow::Type::FIXED_SIZE_LIST ||
                             (type->id() == arrow::Type::STRUCT && above == Above::kFixedList);
  for (const Field& child : field.children) {
    ARROW_RETURN_NOT_OK(CheckField(child, path + "." + child.name,
                                   in_fixed_list ? Above::kFixedList : Above::kOther, version));
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
    ARROW_RETURN_NOT_OK(CheckField(field, field.name, Above::kTop, version));
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::format::file
