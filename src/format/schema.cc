#include "format/schema.h"

#include <charconv>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "arrow/type_traits.h"
#include "arrow/util/key_value_metadata.h"

namespace kinjo::format {

namespace {

using TypePointer = std::shared_ptr<arrow::DataType>;

constexpr char kBlobEncoding[] = "lance-encoding:blob";
constexpr char kPacked[] = "lance-encoding:packed";
constexpr char kOldPacked[] = "packed";
constexpr char kExtensionName[] = "ARROW:extension:name";

// Arrow refuses deeper nesting in its own readers; a deeper file is an attack, not data.
constexpr int kMaxFieldDepth = 64;

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

std::optional<int32_t> ParseInt(std::string_view text) {
  int32_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<arrow::TimeUnit::type> ParseUnit(std::string_view text) {
  if (text == "s") return arrow::TimeUnit::SECOND;
  if (text == "ms") return arrow::TimeUnit::MILLI;
  if (text == "us") return arrow::TimeUnit::MICRO;
  if (text == "ns") return arrow::TimeUnit::NANO;
  return std::nullopt;
}

TypePointer PlainType(std::string_view name) {
  static const auto* types = new std::unordered_map<std::string_view, TypePointer>{
      {"null", arrow::null()},
      {"bool", arrow::boolean()},
      {"int8", arrow::int8()},
      {"uint8", arrow::uint8()},
      {"int16", arrow::int16()},
      {"uint16", arrow::uint16()},
      {"int32", arrow::int32()},
      {"uint32", arrow::uint32()},
      {"int64", arrow::int64()},
      {"uint64", arrow::uint64()},
      {"halffloat", arrow::float16()},
      {"float", arrow::float32()},
      {"double", arrow::float64()},
      {"string", arrow::utf8()},
      {"large_string", arrow::large_utf8()},
      {"binary", arrow::binary()},
      {"large_binary", arrow::large_binary()},
      {"json", arrow::large_binary()},
      {"date32:day", arrow::date32()},
      {"date64:ms", arrow::date64()},
      {"lance.bfloat16", arrow::fixed_size_binary(2)}};
  const auto found = types->find(name);
  return found == types->end() ? nullptr : found->second;
}

TypePointer DecimalType(const std::vector<std::string_view>& parts) {
  if (parts.size() != 4) return nullptr;
  const auto precision = ParseInt(parts[2]);
  const auto scale = ParseInt(parts[3]);
  if (!precision || !scale) return nullptr;
  arrow::Result<TypePointer> type = arrow::Status::Invalid("width");
  if (parts[1] == "128") type = arrow::Decimal128Type::Make(*precision, *scale);
  if (parts[1] == "256") type = arrow::Decimal256Type::Make(*precision, *scale);
  return type.ok() ? *type : nullptr;
}

// "timestamp:<unit>:<zone or ->"; the zone may hold colons itself ("+05:30").
TypePointer TimestampType(std::string_view text) {
  const auto parts = Split(text);
  if (parts.size() < 2) return nullptr;
  const auto unit = ParseUnit(parts[1]);
  if (!unit) return nullptr;
  const size_t prefix = parts[0].size() + 1 + parts[1].size() + 1;
  const std::string_view zone = prefix < text.size() ? text.substr(prefix) : std::string_view("-");
  return zone == "-" ? arrow::timestamp(*unit) : arrow::timestamp(*unit, std::string(zone));
}

TypePointer ParameterType(std::string_view text) {
  const auto parts = Split(text);
  const std::string_view kind = parts[0];
  if (kind == "decimal") return DecimalType(parts);
  if (kind == "timestamp") return TimestampType(text);
  if (parts.size() != 2) return nullptr;
  if (kind == "fixed_size_binary") {
    const auto width = ParseInt(parts[1]);
    return width && *width >= 0 ? arrow::fixed_size_binary(*width) : nullptr;
  }
  const auto unit = ParseUnit(parts[1]);
  if (!unit) return nullptr;
  const bool coarse = *unit == arrow::TimeUnit::SECOND || *unit == arrow::TimeUnit::MILLI;
  if (kind == "time32") return coarse ? arrow::time32(*unit) : nullptr;
  if (kind == "time64") return coarse ? nullptr : arrow::time64(*unit);
  if (kind == "duration") return arrow::duration(*unit);
  return nullptr;
}

TypePointer TypeFromText(std::string_view text, int depth);

// "fixed_size_list:<inner>:<d>": the inner text may hold colons, d stands last.
TypePointer FixedSizeListType(std::string_view text, int depth) {
  constexpr std::string_view kPrefix = "fixed_size_list:";
  const size_t last = text.rfind(':');
  if (last < kPrefix.size()) return nullptr;
  const auto dimension = ParseInt(text.substr(last + 1));
  if (!dimension || *dimension < 1) return nullptr;
  const TypePointer inner =
      TypeFromText(text.substr(kPrefix.size(), last - kPrefix.size()), depth + 1);
  if (inner == nullptr) return nullptr;
  return arrow::fixed_size_list(arrow::field("item", inner), *dimension);
}

// "dict:<value>:<index>:<ordered>".
TypePointer DictionaryType(std::string_view text, int depth) {
  const auto parts = Split(text);
  if (parts.size() < 4) return nullptr;
  const TypePointer index = PlainType(parts[parts.size() - 2]);
  if (index == nullptr || !arrow::is_integer(index->id())) return nullptr;
  const size_t tail = parts.back().size() + parts[parts.size() - 2].size() + 2;
  const TypePointer value = TypeFromText(text.substr(5, text.size() - tail - 5), depth + 1);
  return value == nullptr ? nullptr : arrow::dictionary(index, value, parts.back() == "true");
}

// The type of a logical type that needs no child field; null when it isn't known.
TypePointer TypeFromText(std::string_view text, int depth) {
  if (depth > kMaxFieldDepth) return nullptr;
  if (TypePointer type = PlainType(text)) return type;
  if (text.starts_with("fixed_size_list:")) return FixedSizeListType(text, depth);
  if (text.starts_with("dict:")) return DictionaryType(text, depth);
  return ParameterType(text);
}

arrow::Status Unknown(const Field& field) {
  return base::NotSupported("field '", field.name, "' has the type '", field.logical_type,
                            "', which this build doesn't read");
}

arrow::Result<arrow::FieldVector> ChildFields(const Field& field) {
  arrow::FieldVector children;
  for (const Field& child : field.children) {
    ARROW_ASSIGN_OR_RAISE(auto made, ToArrowField(child));
    children.push_back(std::move(made));
  }
  return children;
}

arrow::Result<TypePointer> NestedType(const Field& field) {
  const std::string& type = field.logical_type;
  ARROW_ASSIGN_OR_RAISE(const arrow::FieldVector children, ChildFields(field));
  if (type == "struct") return arrow::struct_(children);
  if (children.size() != 1) return Unknown(field);
  if (type == "list" || type == "list.struct") return arrow::list(children[0]);
  if (type == "large_list" || type == "large_list.struct") return arrow::large_list(children[0]);
  if (type == "map" && children[0]->type()->id() == arrow::Type::STRUCT &&
      children[0]->type()->num_fields() == 2) {
    return arrow::MapType::Make(children[0]);
  }
  if (type.starts_with("fixed_size_list:struct:")) {
    const auto dimension = ParseInt(std::string_view(type).substr(type.rfind(':') + 1));
    if (dimension && *dimension >= 1) return arrow::fixed_size_list(children[0], *dimension);
  }
  return Unknown(field);
}

const Field* FindIdIn(const std::vector<Field>& fields, int32_t id) {
  for (const Field& field : fields) {
    if (field.id == id) return &field;
    if (const Field* found = FindIdIn(field.children, id)) return found;
  }
  return nullptr;
}

}  // namespace

const Field* Schema::FindPath(const std::string& path) const {
  const std::vector<Field>* level = &fields;
  std::string_view rest = path;
  while (true) {
    const size_t dot = rest.find('.');
    const std::string_view name = rest.substr(0, dot);
    const Field* found = nullptr;
    for (const Field& field : *level) {
      if (field.name == name) {
        found = &field;
        break;
      }
    }
    if (found == nullptr || dot == std::string_view::npos) return found;
    level = &found->children;
    rest.remove_prefix(dot + 1);
  }
}

const Field* Schema::FindId(int32_t id) const { return FindIdIn(fields, id); }

arrow::Result<Schema> MakeSchema(std::vector<Field> flat,
                                 std::map<std::string, std::string> metadata) {
  Schema schema;
  schema.metadata = std::move(metadata);
  std::unordered_map<int32_t, size_t> position_of;
  std::vector<std::vector<size_t>> children_of(flat.size());
  std::vector<int> depth(flat.size(), 0);
  std::vector<size_t> roots;
  for (size_t i = 0; i < flat.size(); ++i) {
    // Ids below 0 name nothing: what a blob's descriptors are made of has them.
    if (flat[i].id >= 0 && !position_of.emplace(flat[i].id, i).second) {
      return base::Invalid("schema: two fields have the id ", flat[i].id);
    }
    if (flat[i].parent_id < 0) {
      roots.push_back(i);
      continue;
    }
    const auto parent = position_of.find(flat[i].parent_id);
    if (parent == position_of.end() || parent->second == i) {
      return base::Invalid("schema: field '", flat[i].name, "' (id ", flat[i].id,
                           ") comes before its parent ", flat[i].parent_id);
    }
    depth[i] = depth[parent->second] + 1;
    if (depth[i] > kMaxFieldDepth) {
      return base::Invalid("schema: field '", flat[i].name, "' is nested more than ",
                           kMaxFieldDepth, " levels deep");
    }
    children_of[parent->second].push_back(i);
  }
  const std::function<Field(size_t)> build = [&](size_t i) {
    Field field = std::move(flat[i]);
    field.children.clear();
    for (const size_t child : children_of[i]) field.children.push_back(build(child));
    return field;
  };
  for (const size_t root : roots) schema.fields.push_back(build(root));
  return schema;
}

BlobForm BlobFormOf(const Field& field) {
  const auto is = [&](const char* key, const char* value) {
    const auto found = field.metadata.find(key);
    return found != field.metadata.end() && found->second == value;
  };
  if (is(kExtensionName, "lance.blob.v2")) return BlobForm::kDescriptors;
  return is(kBlobEncoding, "true") ? BlobForm::kPlaces : BlobForm::kNone;
}

bool IsPackedStruct(const Field& field) {
  const auto is_true = [&](const char* key) {
    const auto found = field.metadata.find(key);
    return found != field.metadata.end() && (found->second == "true" || found->second == "1");
  };
  return is_true(kPacked) || is_true(kOldPacked);
}

arrow::Result<TypePointer> ToArrowType(const Field& field) {
  if (BlobFormOf(field) == BlobForm::kDescriptors) return arrow::large_binary();
  if (!field.children.empty()) return NestedType(field);
  if (field.logical_type == "struct") return arrow::struct_(arrow::FieldVector());
  TypePointer type = TypeFromText(field.logical_type, 0);
  if (type == nullptr) return Unknown(field);
  return type;
}

arrow::Result<std::shared_ptr<arrow::Field>> ToArrowField(const Field& field) {
  ARROW_ASSIGN_OR_RAISE(TypePointer type, ToArrowType(field));
  std::shared_ptr<const arrow::KeyValueMetadata> metadata;
  if (!field.metadata.empty()) {
    std::vector<std::string> keys;
    std::vector<std::string> values;
    const bool blob = BlobFormOf(field) != BlobForm::kNone;
    const bool packed = IsPackedStruct(field);
    for (const auto& [key, value] : field.metadata) {
      // Of how the file has them, not of the values that come out.
      if (blob && (key == kBlobEncoding || key == kExtensionName)) continue;
      if (packed && (key == kPacked || key == kOldPacked)) continue;
      keys.push_back(key);
      values.push_back(value);
    }
    metadata = arrow::key_value_metadata(std::move(keys), std::move(values));
  }
  return arrow::field(field.name, std::move(type), field.nullable, std::move(metadata));
}

}  // namespace kinjo::format
