#include "format/arrow_schema.h"

#include <algorithm>
#include <string>
#include <utility>

#include "arrow/extension_type.h"
#include "arrow/type_traits.h"
#include "arrow/util/key_value_metadata.h"
#include "format/proto/wire_writer.h"

namespace kinjo::format {
namespace {

using arrow::Type;
using TypePointer = std::shared_ptr<arrow::DataType>;

constexpr const char* kExtensionName = "ARROW:extension:name";
constexpr const char* kExtensionMetadata = "ARROW:extension:metadata";

// Field.encoding: a hint from before version 2, which Lance still writes.
constexpr uint32_t kEncodingNumber = 7;
enum class OldEncoding : uint8_t { kNone = 0, kPlain = 1, kVarBinary = 2, kDictionary = 3 };

std::string UnitText(arrow::TimeUnit::type unit) {
  constexpr const char* kUnits[] = {"s", "ms", "us", "ns"};
  return kUnits[unit];
}

/// The name of a type whose name in Arrow is Lance's too, or "".
std::string PlainName(const arrow::DataType& type) {
  switch (type.id()) {
    case Type::STRING:
    case Type::STRING_VIEW:
      return "string";
    case Type::BINARY_VIEW:
      return "binary";
    case Type::LARGE_STRING:
      return "large_string";
    case Type::LARGE_BINARY:
      return "large_binary";
    case Type::DATE32:
      return "date32:day";
    case Type::DATE64:
      return "date64:ms";
    case Type::NA:
    case Type::BOOL:
    case Type::INT8:
    case Type::UINT8:
    case Type::INT16:
    case Type::UINT16:
    case Type::INT32:
    case Type::UINT32:
    case Type::INT64:
    case Type::UINT64:
    case Type::HALF_FLOAT:
    case Type::FLOAT:
    case Type::DOUBLE:
    case Type::BINARY:
      return type.name();
    default:
      return "";
  }
}

/// The name of a type with parameters and without children, or "".
std::string ParameterName(const arrow::DataType& type) {
  switch (type.id()) {
    case Type::FIXED_SIZE_BINARY:
      return base::Concat("fixed_size_binary:",
                          static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width());
    case Type::TIME32:
      return "time32:" + UnitText(static_cast<const arrow::Time32Type&>(type).unit());
    case Type::TIME64:
      return "time64:" + UnitText(static_cast<const arrow::Time64Type&>(type).unit());
    case Type::DURATION:
      return "duration:" + UnitText(static_cast<const arrow::DurationType&>(type).unit());
    case Type::TIMESTAMP: {
      const auto& timestamp = static_cast<const arrow::TimestampType&>(type);
      const std::string zone = timestamp.timezone().empty() ? "-" : timestamp.timezone();
      return "timestamp:" + UnitText(timestamp.unit()) + ":" + zone;
    }
    case Type::DECIMAL128:
    case Type::DECIMAL256: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      return base::Concat("decimal:", type.id() == Type::DECIMAL128 ? 128 : 256, ":",
                          decimal.precision(), ":", decimal.scale());
    }
    default:
      return "";
  }
}

TypePointer StorageOf(const TypePointer& type) {
  if (type->id() != Type::EXTENSION) return type;
  return static_cast<const arrow::ExtensionType&>(*type).storage_type();
}

/// The name of a type that is one leaf, or "".
std::string LeafName(const TypePointer& given) {
  const TypePointer& type = StorageOf(given);
  if (std::string name = PlainName(*type); !name.empty()) return name;
  if (std::string name = ParameterName(*type); !name.empty()) return name;
  if (type->id() == Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
    const std::string inner = LeafName(list.value_type());
    return inner.empty() ? "" : base::Concat("fixed_size_list:", inner, ":", list.list_size());
  }
  if (type->id() == Type::DICTIONARY) {
    const auto& dictionary = static_cast<const arrow::DictionaryType&>(*type);
    const std::string value = LeafName(dictionary.value_type());
    if (value.empty()) return "";
    return base::Concat("dict:", value, ":", dictionary.index_type()->name(), ":",
                        dictionary.ordered() ? "true" : "false");
  }
  return "";
}

/// The name of a type whose children are fields of their own, or "".
std::string ParentName(const arrow::DataType& type) {
  const bool of_struct =
      type.num_fields() == 1 && StorageOf(type.field(0)->type())->id() == Type::STRUCT;
  switch (type.id()) {
    case Type::STRUCT:
      return "struct";
    case Type::LIST:
      return of_struct ? "list.struct" : "list";
    case Type::LARGE_LIST:
      return of_struct ? "large_list.struct" : "large_list";
    case Type::MAP:
      return "map";
    case Type::FIXED_SIZE_LIST:
      if (!of_struct) return "";
      return base::Concat("fixed_size_list:struct:",
                          static_cast<const arrow::FixedSizeListType&>(type).list_size());
    default:
      return "";
  }
}

/// Lance finds the items of a list by this name; Parquet's readers give them others.
std::string ChildName(const arrow::DataType& type, const arrow::Field& child) {
  switch (type.id()) {
    case Type::LIST:
    case Type::LARGE_LIST:
    case Type::FIXED_SIZE_LIST:
      return "item";
    default:
      return child.name();
  }
}

OldEncoding EncodingOf(const arrow::DataType& type) {
  if (type.id() == Type::DICTIONARY) return OldEncoding::kDictionary;
  const bool varies =
      arrow::is_base_binary_like(type.id()) || arrow::is_binary_view_like(type.id());
  return varies ? OldEncoding::kVarBinary : OldEncoding::kPlain;
}

void TakeMetadata(const arrow::Field& field, Field* made) {
  if (field.type()->id() == Type::EXTENSION) {
    const auto& extension = static_cast<const arrow::ExtensionType&>(*field.type());
    made->metadata[kExtensionName] = extension.extension_name();
    made->metadata[kExtensionMetadata] = extension.Serialize();
  }
  if (!field.HasMetadata()) return;
  for (int64_t i = 0; i < field.metadata()->size(); ++i) {
    // What Parquet's reader notes of its own columns is no business of this table.
    if (field.metadata()->key(i) == "PARQUET:field_id") continue;
    made->metadata[field.metadata()->key(i)] = field.metadata()->value(i);
  }
}

}  // namespace

arrow::Result<Field> MakeField(const arrow::Field& field, int32_t parent_id, int32_t* next_id) {
  Field made;
  made.id = (*next_id)++;
  made.parent_id = parent_id;
  made.name = field.name();
  made.nullable = field.nullable();
  TakeMetadata(field, &made);
  const TypePointer& type = StorageOf(field.type());
  made.logical_type = LeafName(type);
  if (!made.logical_type.empty()) {
    const auto encoding = static_cast<uint64_t>(EncodingOf(*type));
    made.unread = proto::WireWriter().Number(kEncodingNumber, encoding).text();
    return made;
  }
  made.logical_type = ParentName(*type);
  if (made.logical_type.empty()) {
    return base::NotSupported("column '", field.name(), "' has the type ", field.type()->ToString(),
                              ", which Lance has no form for; cast or drop it");
  }
  for (const std::shared_ptr<arrow::Field>& child : type->fields()) {
    ARROW_ASSIGN_OR_RAISE(Field below,
                          MakeField(*child->WithName(ChildName(*type, *child)), made.id, next_id));
    made.children.push_back(std::move(below));
  }
  return made;
}

arrow::Result<Schema> MakeSchema(const arrow::Schema& schema) {
  Schema made;
  int32_t next_id = 0;
  for (const std::shared_ptr<arrow::Field>& field : schema.fields()) {
    ARROW_ASSIGN_OR_RAISE(Field top, MakeField(*field, -1, &next_id));
    made.fields.push_back(std::move(top));
  }
  return made;
}

std::vector<Field> Flatten(const std::vector<Field>& fields) {
  std::vector<Field> flat;
  for (const Field& field : fields) {
    flat.push_back(field);
    flat.back().children.clear();
    std::vector<Field> below = Flatten(field.children);
    std::move(below.begin(), below.end(), std::back_inserter(flat));
  }
  return flat;
}

int32_t HighestId(const std::vector<Field>& fields) {
  int32_t highest = -1;
  for (const Field& field : fields) {
    highest = std::max({highest, field.id, HighestId(field.children)});
  }
  return highest;
}

}  // namespace kinjo::format
