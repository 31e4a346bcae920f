#include "format/index_file/index_metadata.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace kinjo::format {

namespace {

using Json = nlohmann::json;

// Every access below checks the kind of the value first: nothing here can throw.

arrow::Result<Json> ParseObject(const std::string& text, const char* key, const std::string& path) {
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return base::Corrupt(path, 0, "The index metadata `", key, "` isn't a JSON object");
  }
  return object;
}

arrow::Result<std::string> GetText(const Json& object, const char* name, const std::string& path) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) {
    return base::Corrupt(path, 0, "The index metadata has no text `", name, "`");
  }
  return *found->get_ptr<const std::string*>();
}

arrow::Result<uint32_t> GetNumber(const Json& object, const char* name, const std::string& path) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) {
    return base::Corrupt(path, 0, "The index metadata has no number `", name, "`");
  }
  const uint64_t value = *found->get_ptr<const uint64_t*>();
  if (value > std::numeric_limits<uint32_t>::max()) {
    return base::Corrupt(path, 0, "The number `", name,
                         "` of the index metadata is too large: ", value);
  }
  return static_cast<uint32_t>(value);
}

// Unwraps `["{...}"]`.
arrow::Result<Json> ParseStorage(const std::string& text, const std::string& path) {
  const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array() || list.size() != 1 || !list.front().is_string()) {
    return base::Corrupt(path, 0,
                         "The index metadata `storage_metadata` isn't a JSON array of one string");
  }
  return ParseObject(*list.front().get_ptr<const std::string*>(), "storage_metadata", path);
}

}  // namespace

arrow::Result<IndexTypeMetadata> ParseIndexType(const std::string& text, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const Json object, ParseObject(text, "lance:index", path));
  IndexTypeMetadata metadata;
  ARROW_ASSIGN_OR_RAISE(metadata.type, GetText(object, "type", path));
  ARROW_ASSIGN_OR_RAISE(metadata.distance_type, GetText(object, "distance_type", path));
  return metadata;
}

arrow::Result<FlatStorageMetadata> ParseFlatStorage(const std::string& text,
                                                    const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const Json object, ParseStorage(text, path));
  FlatStorageMetadata metadata;
  ARROW_ASSIGN_OR_RAISE(metadata.dim, GetNumber(object, "dim", path));
  return metadata;
}

arrow::Result<PqStorageMetadata> ParsePqStorage(const std::string& text, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const Json object, ParseStorage(text, path));
  PqStorageMetadata metadata;
  ARROW_ASSIGN_OR_RAISE(metadata.codebook_position, GetNumber(object, "codebook_position", path));
  ARROW_ASSIGN_OR_RAISE(metadata.num_bits, GetNumber(object, "nbits", path));
  ARROW_ASSIGN_OR_RAISE(metadata.num_sub_vectors, GetNumber(object, "num_sub_vectors", path));
  ARROW_ASSIGN_OR_RAISE(metadata.dim, GetNumber(object, "dimension", path));
  const auto transposed = object.find("transposed");
  if (transposed != object.end()) {
    if (!transposed->is_boolean()) {
      return base::Corrupt(path, 0, "`transposed` of the index metadata isn't a truth value");
    }
    metadata.transposed = *transposed->get_ptr<const bool*>();
  }
  return metadata;
}

}  // namespace kinjo::format
