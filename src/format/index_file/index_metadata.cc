#include "format/index_file/index_metadata.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace kinjo::format {

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

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

// Nothing where the key is missing or null.
arrow::Result<std::optional<std::string>> FindText(const Json& object, const char* name,
                                                   const std::string& path) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::optional<std::string>();
  ARROW_ASSIGN_OR_RAISE(std::string text, GetText(object, name, path));
  return std::optional<std::string>(std::move(text));
}

arrow::Result<double> GetReal(const Json& object, const char* name, const std::string& path) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) {
    return base::Corrupt(path, 0, "The index metadata has no number `", name, "`");
  }
  return found->get<double>();
}

// False where the key is missing.
arrow::Result<bool> GetTruth(const Json& object, const char* name, const std::string& path) {
  const auto found = object.find(name);
  if (found == object.end()) return false;
  if (!found->is_boolean()) {
    return base::Corrupt(path, 0, "`", name, "` of the index metadata isn't a truth value");
  }
  return *found->get_ptr<const bool*>();
}

// A list of numbers up to 255; empty where the key is missing or null.
arrow::Result<std::vector<uint8_t>> GetBytes(const Json& object, const char* name,
                                             const std::string& path) {
  std::vector<uint8_t> bytes;
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return bytes;
  if (!found->is_array()) {
    return base::Corrupt(path, 0, "`", name, "` of the index metadata isn't a list");
  }
  bytes.reserve(found->size());
  for (const Json& value : *found) {
    if (!value.is_number_unsigned() || *value.get_ptr<const uint64_t*>() > 255) {
      return base::Corrupt(path, 0, "`", name, "` of the index metadata has an element, number ",
                           bytes.size(), ", that isn't a byte");
    }
    bytes.push_back(static_cast<uint8_t>(*value.get_ptr<const uint64_t*>()));
  }
  return bytes;
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

arrow::Result<GraphMetadata> ParseGraph(const std::string& text, const std::string& path) {
  GraphMetadata graph;
  if (text.empty()) return graph;
  ARROW_ASSIGN_OR_RAISE(const Json object, ParseObject(text, "lance:hnsw", path));
  ARROW_ASSIGN_OR_RAISE(graph.entry_point, GetNumber(object, "entry_point", path));
  const auto params = object.find("params");
  if (params == object.end() || !params->is_object()) {
    return base::Corrupt(path, 0, "The index metadata `lance:hnsw` has no object `params`");
  }
  ARROW_ASSIGN_OR_RAISE(graph.max_connections, GetNumber(*params, "m", path));
  const auto offsets = object.find("level_offsets");
  if (offsets == object.end() || !offsets->is_array()) {
    return base::Corrupt(path, 0, "The index metadata `lance:hnsw` has no array `level_offsets`");
  }
  for (const Json& offset : *offsets) {
    if (!offset.is_number_unsigned() ||
        *offset.get_ptr<const uint64_t*>() > std::numeric_limits<uint32_t>::max()) {
      return base::Corrupt(path, 0, "A level offset of the index metadata isn't a 32-bit number");
    }
    graph.level_offsets.push_back(static_cast<uint32_t>(*offset.get_ptr<const uint64_t*>()));
  }
  return graph;
}

std::string WriteStorage(const OrderedJson& object) {
  return OrderedJson::array({object.dump()}).dump();
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
  ARROW_ASSIGN_OR_RAISE(metadata.transposed, GetTruth(object, "transposed", path));
  return metadata;
}

arrow::Result<SqStorageMetadata> ParseSqStorage(const std::string& text, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const Json object, ParseStorage(text, path));
  SqStorageMetadata metadata;
  ARROW_ASSIGN_OR_RAISE(metadata.dim, GetNumber(object, "dim", path));
  ARROW_ASSIGN_OR_RAISE(metadata.num_bits, GetNumber(object, "num_bits", path));
  const auto bounds = object.find("bounds");
  if (bounds == object.end() || !bounds->is_object()) {
    return base::Corrupt(path, 0, "The index metadata has no object `bounds`");
  }
  ARROW_ASSIGN_OR_RAISE(metadata.start, GetReal(*bounds, "start", path));
  ARROW_ASSIGN_OR_RAISE(metadata.end, GetReal(*bounds, "end", path));
  return metadata;
}

arrow::Result<RqStorageMetadata> ParseRqStorage(const std::string& text, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const Json object, ParseStorage(text, path));
  RqStorageMetadata metadata;
  ARROW_ASSIGN_OR_RAISE(metadata.num_bits, GetNumber(object, "num_bits", path));
  ARROW_ASSIGN_OR_RAISE(metadata.code_dim, GetNumber(object, "code_dim", path));
  ARROW_ASSIGN_OR_RAISE(metadata.packed, GetTruth(object, "packed", path));
  ARROW_ASSIGN_OR_RAISE(const auto rotation, FindText(object, "rotation_type", path));
  metadata.rotation_type = rotation.value_or("matrix");
  ARROW_ASSIGN_OR_RAISE(const auto estimator, FindText(object, "query_estimator", path));
  metadata.query_estimator = estimator.value_or("residual_query");
  const auto position = object.find("rotate_mat_position");
  if (position != object.end() && !position->is_null()) {
    ARROW_ASSIGN_OR_RAISE(metadata.matrix_position, GetNumber(object, "rotate_mat_position", path));
  }
  ARROW_ASSIGN_OR_RAISE(metadata.signs, GetBytes(object, "fast_rotation_signs", path));
  return metadata;
}

arrow::Result<std::vector<GraphMetadata>> ParseGraphs(const std::string& text,
                                                      const std::string& path) {
  const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) {
    return base::Corrupt(path, 0, "The index metadata `lance:hnsw` isn't a JSON array");
  }
  std::vector<GraphMetadata> graphs;
  graphs.reserve(list.size());
  for (const Json& entry : list) {
    if (!entry.is_string()) {
      return base::Corrupt(path, 0,
                           "The index metadata `lance:hnsw` isn't a JSON array of strings");
    }
    ARROW_ASSIGN_OR_RAISE(GraphMetadata graph,
                          ParseGraph(*entry.get_ptr<const std::string*>(), path));
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

std::string WriteIndexType(const IndexTypeMetadata& metadata) {
  return OrderedJson{{"type", metadata.type}, {"distance_type", metadata.distance_type}}.dump();
}

std::string WriteFlatStorage(const FlatStorageMetadata& metadata) {
  return WriteStorage({{"dim", metadata.dim}});
}

std::string WritePqStorage(const PqStorageMetadata& metadata) {
  return WriteStorage({{"codebook_position", metadata.codebook_position},
                       {"nbits", metadata.num_bits},
                       {"num_sub_vectors", metadata.num_sub_vectors},
                       {"dimension", metadata.dim},
                       {"codebook_tensor", OrderedJson::array()},
                       {"transposed", metadata.transposed}});
}

std::string WriteSqStorage(const SqStorageMetadata& metadata) {
  return WriteStorage({{"dim", metadata.dim},
                       {"num_bits", metadata.num_bits},
                       {"bounds", {{"start", metadata.start}, {"end", metadata.end}}}});
}

std::string WriteRqStorage(const RqStorageMetadata& metadata) {
  return WriteStorage({{"rotate_mat_position", nullptr},
                       {"fast_rotation_signs", metadata.signs},
                       {"rotation_type", metadata.rotation_type},
                       {"code_dim", metadata.code_dim},
                       {"num_bits", metadata.num_bits},
                       {"packed", metadata.packed},
                       {"query_estimator", metadata.query_estimator}});
}

std::string WriteGraphs(const std::vector<GraphMetadata>& graphs) {
  constexpr int kPrefetchDistance = 2;  // Lance's own, which its reader wants to be there
  OrderedJson list = OrderedJson::array();
  for (const GraphMetadata& graph : graphs) {
    if (graph.level_offsets.empty()) {
      list.push_back("");
      continue;
    }
    std::vector<uint32_t> offsets = graph.level_offsets;
    offsets.resize(std::max<size_t>(offsets.size(), graph.max_level + size_t{1}), offsets.back());
    const OrderedJson object = {{"entry_point", graph.entry_point},
                                {"params",
                                 {{"max_level", graph.max_level},
                                  {"m", graph.max_connections},
                                  {"ef_construction", graph.ef_construction},
                                  {"prefetch_distance", kPrefetchDistance}}},
                                {"level_offsets", offsets}};
    list.push_back(object.dump());
  }
  return list.dump();
}

std::string WriteFlatPartitions(uint64_t num_partitions) {
  return OrderedJson(std::vector<std::string>(num_partitions)).dump();
}

}  // namespace kinjo::format
