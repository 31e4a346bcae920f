#include "format/index_file/graph_reader.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "arrow/array/array_nested.h"
#include "arrow/array/array_primitive.h"
#include "arrow/type.h"
#include "format/index_file/column_names.h"
#include "format/index_file/index_model.h"

namespace kinjo::format {

namespace {

arrow::Result<const Field*> FindColumn(const LanceFile& file, const char* name,
                                       const std::shared_ptr<arrow::DataType>& expected) {
  for (const Field& field : file.schema().fields) {
    if (field.name != name) continue;
    ARROW_ASSIGN_OR_RAISE(const auto type, ToArrowType(field));
    const bool lists = type->id() == arrow::Type::LIST && expected->id() == arrow::Type::LIST;
    const bool same = lists ? type->field(0)->type()->Equals(*expected->field(0)->type())
                            : type->Equals(*expected);
    if (same) return &field;
    return base::Corrupt(file.path(), 0, "Column `", name, "` of the index file is ",
                         type->ToString(), ", not ", expected->ToString());
  }
  return base::Corrupt(file.path(), 0, "The index file has no column `", name, "`");
}

}  // namespace

arrow::Status GraphReader::CheckPart(const LanceFile& index, size_t partition, uint64_t num_rows,
                                     const Part& part) {
  const std::vector<uint32_t>& offsets = part.shape.level_offsets;
  if (part.num_nodes == 0) {
    if (num_rows == 0) return arrow::Status::OK();
    return base::Corrupt(index.path(), 0, "Partition ", partition,
                         " of the index has no rows, but a graph of ", num_rows);
  }
  const bool levels =
      offsets.size() >= 2 && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end());
  if (!levels || offsets.back() > num_rows) {
    return base::Corrupt(index.path(), 0, "The levels of the graph of partition ", partition,
                         " don't lie one after another within its ", num_rows, " rows");
  }
  if (offsets[1] != part.num_nodes) {
    return base::Corrupt(index.path(), 0, "The graph of partition ", partition, " has ", offsets[1],
                         " nodes, but the partition has ", part.num_nodes, " rows");
  }
  if (part.shape.entry_point >= part.num_nodes) {
    return base::Corrupt(index.path(), 0, "The graph of partition ", partition, " starts at node ",
                         part.shape.entry_point, ", but has ", part.num_nodes, " nodes");
  }
  return arrow::Status::OK();
}

arrow::Result<std::unique_ptr<GraphReader>> GraphReader::Open(std::shared_ptr<LanceFile> index,
                                                              const IvfModel& ivf) {
  ARROW_ASSIGN_OR_RAISE(const Field* nodes, FindColumn(*index, kNodeColumn, arrow::uint32()));
  ARROW_ASSIGN_OR_RAISE(const Field* neighbors,
                        FindColumn(*index, kNeighborsColumn, arrow::list(arrow::uint32())));
  ARROW_ASSIGN_OR_RAISE(const RowExtents extents, ReadRowExtents(*index, ivf.num_partitions()));
  const auto text = index->schema().metadata.find("lance:hnsw");
  if (text == index->schema().metadata.end()) {
    return base::Corrupt(index->path(), 0, "The index file has no metadata `lance:hnsw`");
  }
  ARROW_ASSIGN_OR_RAISE(std::vector<GraphMetadata> shapes,
                        ParseGraphs(text->second, index->path()));
  if (shapes.size() != ivf.num_partitions()) {
    return base::Corrupt(index->path(), 0, "The index has ", ivf.num_partitions(),
                         " partitions but ", shapes.size(), " graphs");
  }
  std::vector<Part> parts;
  parts.reserve(shapes.size());
  for (size_t p = 0; p < shapes.size(); ++p) {
    parts.push_back({extents.offsets[p], ivf.lengths[p], std::move(shapes[p])});
    ARROW_RETURN_NOT_OK(CheckPart(*index, p, extents.lengths[p], parts.back()));
  }
  return std::unique_ptr<GraphReader>(
      new GraphReader(std::move(index), std::move(parts), nodes, neighbors));
}

uint64_t GraphReader::graph_bytes(uint64_t partition) const {
  // Level 0 may keep twice as many neighbours as the other levels.
  constexpr uint64_t kConnectionsMax = 1 << 16;
  const Part& part = parts_[partition];
  if (part.num_nodes == 0) return 0;
  const uint64_t connections = std::min<uint64_t>(part.shape.max_connections, kConnectionsMax);
  return part.shape.level_offsets.back() * (2 + 2 * connections) * sizeof(uint32_t);
}

arrow::Status GraphReader::ReadNodes(uint64_t partition, size_t level, RowRange rows,
                                     GraphLevel* out) const {
  ARROW_ASSIGN_OR_RAISE(const auto array,
                        index_->ReadRows(*nodes_, index_->own_columns(), {&rows, 1}));
  const auto& ids = static_cast<const arrow::UInt32Array&>(*array);
  const uint64_t num_nodes = parts_[partition].num_nodes;
  const uint32_t* values = ids.raw_values();
  bool in_order = ids.null_count() == 0 &&
                  static_cast<uint64_t>(ids.length()) == rows.end - rows.begin &&
                  values[ids.length() - 1] < num_nodes;
  for (int64_t i = 1; in_order && i < ids.length(); ++i) in_order = values[i - 1] < values[i];
  if (!in_order) {
    return base::Corrupt(index_->path(), 0, "Level ", level, " of the graph of partition ",
                         partition, " doesn't list nodes below ", num_nodes, " in rising order");
  }
  // Level 0 has as many rows as there are nodes: rising, they can only be all of them.
  if (level > 0) out->nodes.assign(values, values + ids.length());
  return arrow::Status::OK();
}

arrow::Status GraphReader::ReadNeighbors(uint64_t partition, RowRange rows, GraphLevel* out) const {
  ARROW_ASSIGN_OR_RAISE(const auto array,
                        index_->ReadRows(*neighbors_, index_->own_columns(), {&rows, 1}));
  const auto& lists = static_cast<const arrow::ListArray&>(*array);
  const auto& ids = static_cast<const arrow::UInt32Array&>(*lists.values());
  const uint64_t num_edges = lists.length() == 0
                                 ? 0
                                 : static_cast<uint64_t>(lists.value_offset(lists.length())) -
                                       static_cast<uint64_t>(lists.value_offset(0));
  if (static_cast<uint64_t>(lists.length()) != rows.end - rows.begin || ids.null_count() != 0 ||
      num_edges > static_cast<uint64_t>(ids.length())) {
    return base::Corrupt(index_->path(), 0, "The graph of partition ", partition,
                         " has too few neighbours in rows ", rows.begin, " to ", rows.end);
  }
  const uint64_t num_nodes = parts_[partition].num_nodes;
  out->offsets.reserve(static_cast<size_t>(lists.length()) + 1);
  out->offsets.push_back(0);
  out->neighbors.reserve(num_edges);
  for (int64_t i = 0; i < lists.length(); ++i) {
    if (!lists.IsNull(i)) {
      const int64_t begin = lists.value_offset(i);
      for (const uint32_t id :
           std::span(ids.raw_values() + begin, static_cast<size_t>(lists.value_length(i)))) {
        if (id < num_nodes) out->neighbors.push_back(id);
      }
    }
    out->offsets.push_back(static_cast<uint32_t>(out->neighbors.size()));
  }
  return arrow::Status::OK();
}

arrow::Result<GraphLevel> GraphReader::ReadLevel(uint64_t partition, size_t level) const {
  const Part& part = parts_[partition];
  const std::vector<uint32_t>& offsets = part.shape.level_offsets;
  const RowRange rows{part.first_row + offsets[level], part.first_row + offsets[level + 1]};
  GraphLevel out;
  ARROW_RETURN_NOT_OK(ReadNodes(partition, level, rows, &out));
  ARROW_RETURN_NOT_OK(ReadNeighbors(partition, rows, &out));
  return out;
}

arrow::Result<PartitionGraph> GraphReader::Read(uint64_t partition) const {
  if (partition >= parts_.size()) {
    return base::Internal("Graph ", partition, " asked of an index with ", parts_.size());
  }
  const Part& part = parts_[partition];
  PartitionGraph graph;
  if (part.num_nodes == 0) return graph;
  graph.num_nodes = static_cast<uint32_t>(part.num_nodes);
  graph.entry_point = part.shape.entry_point;
  for (size_t level = 0; level + 1 < part.shape.level_offsets.size(); ++level) {
    if (part.shape.level_offsets[level] == part.shape.level_offsets[level + 1]) break;
    ARROW_ASSIGN_OR_RAISE(GraphLevel at, ReadLevel(partition, level));
    graph.levels.push_back(std::move(at));
  }
  return graph;
}

}  // namespace kinjo::format
