#include "format/index_file/segment_writer.h"

#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "arrow/array/array_nested.h"
#include "arrow/array/util.h"
#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "format/file/file_writer.h"
#include "format/index_file/column_names.h"
#include "format/index_file/index_metadata.h"
#include "format/proto/index_messages.h"
#include "format/proto/wire_writer.h"

namespace kinjo::format {

namespace {

constexpr const char* kQuantizerNames[] = {"FLAT", "PQ", "SQ", "RQ"};

uint32_t TensorType(ElementType type) {
  using proto::TensorDataType;
  switch (type) {
    case ElementType::kFloat16:
      return static_cast<uint32_t>(TensorDataType::kFloat16);
    case ElementType::kFloat32:
      return static_cast<uint32_t>(TensorDataType::kFloat32);
    case ElementType::kFloat64:
      return static_cast<uint32_t>(TensorDataType::kFloat64);
    case ElementType::kUint8:
      break;
  }
  return static_cast<uint32_t>(TensorDataType::kUint8);
}

const char* LogicalElement(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return "halffloat";
    case ElementType::kFloat32:
      return "float";
    case ElementType::kFloat64:
      return "double";
    case ElementType::kUint8:
      break;
  }
  return "uint8";
}

/// `shape` may differ from the tensor's, where the format says another one than it stores.
proto::WireWriter EncodeTensor(const Tensor& tensor, uint64_t rows, uint64_t cols) {
  const uint32_t shape[] = {static_cast<uint32_t>(rows), static_cast<uint32_t>(cols)};
  proto::WireWriter message;
  message.Number(1, TensorType(tensor.type))
      .PackedNumbers<uint32_t>(2, shape)
      .Bytes(3, {reinterpret_cast<const char*>(tensor.data->data()),
                 static_cast<size_t>(tensor.data->size())});
  return message;
}

/// Offsets follow from the lengths. `centroids` may be null.
std::string EncodeIvf(std::span<const uint64_t> offsets, std::span<const uint32_t> lengths,
                      const Tensor* centroids, std::optional<double> loss) {
  proto::WireWriter message;
  message.PackedNumbers(2, offsets).PackedNumbers<uint32_t>(3, lengths);
  if (centroids != nullptr) {
    message.Message(4, EncodeTensor(*centroids, centroids->rows, centroids->cols));
  }
  if (loss.has_value()) message.Double(5, *loss);
  return std::move(message).text();
}

Field MakeField(int32_t id, const char* name, std::string logical_type, bool nullable = true) {
  return {.id = id, .name = name, .logical_type = std::move(logical_type), .nullable = nullable};
}

Field MakeListField(int32_t id, const char* name, const char* item) {
  Field list = MakeField(id, name, "list");
  list.children.push_back(MakeField(id + 1, "item", item));
  list.children[0].parent_id = id;
  return list;
}

std::string ListOf(const char* element, uint64_t width) {
  return base::Concat("fixed_size_list:", element, ":", width);
}

Schema AuxiliarySchema(const SegmentModel& model) {
  const uint64_t dim = model.centroids.cols;
  Schema schema;
  const auto add = [&](const char* name, std::string type) {
    schema.fields.push_back(
        MakeField(static_cast<int32_t>(schema.fields.size()), name, std::move(type)));
  };
  add(kRowIdColumn, "uint64");
  if (const auto* pq = std::get_if<PqCodebook>(&model.quantizer)) {
    add(kPqColumn, ListOf("uint8", uint64_t{pq->num_sub_vectors} * pq->num_bits / 8));
  } else if (std::holds_alternative<SqModel>(model.quantizer)) {
    add(kSqColumn, ListOf("uint8", dim));
  } else if (const auto* rq = std::get_if<RqModel>(&model.quantizer)) {
    add(kRqSignColumn, ListOf("uint8", dim / 8));
    for (const char* name : {kRqAddColumn, kRqScaleColumn, kRqErrorColumn}) add(name, "float");
    if (rq->ex_bits() > 0) {
      add(kRqExColumn, ListOf("uint8", RqExCodeBytes(static_cast<uint32_t>(dim), rq->ex_bits())));
      add(kRqExAddColumn, "float");
      add(kRqExScaleColumn, "float");
    }
  } else {
    add(kFlatColumn, ListOf(LogicalElement(model.centroids.type), dim));
    schema.fields.back().nullable = false;
  }
  return schema;
}

Schema IndexSchema(bool has_graph) {
  Schema schema;
  if (!has_graph) {
    schema.fields.push_back(MakeField(0, kMarkerColumn, "uint64", /*nullable=*/false));
    return schema;
  }
  schema.fields.push_back(MakeField(0, kNodeColumn, "uint32"));
  schema.fields.push_back(MakeListField(1, kNeighborsColumn, "uint32"));
  schema.fields.push_back(MakeListField(3, kNeighborDistanceColumn, "float"));
  return schema;
}

std::string StorageMetadata(const SegmentModel& model) {
  constexpr uint32_t kCodebookBuffer = 2;  // after the descriptor and the IVF model
  const auto dim = static_cast<uint32_t>(model.centroids.cols);
  if (const auto* pq = std::get_if<PqCodebook>(&model.quantizer)) {
    return WritePqStorage({.codebook_position = kCodebookBuffer,
                           .num_bits = pq->num_bits,
                           .num_sub_vectors = pq->num_sub_vectors,
                           .dim = dim,
                           .transposed = true});
  }
  if (const auto* sq = std::get_if<SqModel>(&model.quantizer)) {
    return WriteSqStorage({.dim = dim, .num_bits = 8, .start = sq->start, .end = sq->end});
  }
  if (const auto* rq = std::get_if<RqModel>(&model.quantizer)) {
    return WriteRqStorage({.num_bits = rq->num_bits,
                           .code_dim = dim,
                           .packed = true,
                           .rotation_type = "fast",
                           .matrix_position = {},
                           .signs = rq->signs,
                           .query_estimator = "raw_query"});
  }
  return WriteFlatStorage({.dim = dim});
}

std::shared_ptr<arrow::Array> Numbers(const std::shared_ptr<arrow::DataType>& type, uint64_t count,
                                      std::shared_ptr<arrow::Buffer> buffer) {
  return arrow::MakeArray(
      arrow::ArrayData::Make(type, static_cast<int64_t>(count), {nullptr, std::move(buffer)}, 0));
}

template <typename T>
std::shared_ptr<arrow::Buffer> ViewOf(const std::vector<T>& values) {
  return arrow::Buffer::Wrap(values);
}

class SegmentWriterImpl final : public SegmentWriter {
 public:
  SegmentWriterImpl(SegmentModel model, std::unique_ptr<FileWriter> index,
                    std::unique_ptr<FileWriter> auxiliary, Schema index_schema,
                    Schema auxiliary_schema)
      : model_(std::move(model)),
        index_(std::move(index)),
        auxiliary_(std::move(auxiliary)),
        index_schema_(std::move(index_schema)),
        auxiliary_schema_(std::move(auxiliary_schema)) {}

  arrow::Status WritePartition(const PartitionToWrite& partition) override;
  arrow::Result<WrittenSegment> Finish() override;

 private:
  arrow::Status WriteBatch(FileWriter* writer, const Schema& schema,
                           const arrow::ArrayVector& columns);
  arrow::Status WriteGraph(const PartitionToWrite& partition);
  arrow::Status WriteLevel(const GraphLevel& level, uint32_t num_nodes,
                           const std::vector<float>& distances);
  arrow::Status FinishIndex(WrittenSegment* written);
  arrow::Status FinishAuxiliary(WrittenSegment* written);
  /// Adds the IVF model as a global buffer and names it.
  arrow::Status AddIvf(FileWriter* writer, const std::string& bytes);

  const SegmentModel model_;
  const std::unique_ptr<FileWriter> index_;
  const std::unique_ptr<FileWriter> auxiliary_;
  const Schema index_schema_;
  const Schema auxiliary_schema_;
  std::vector<uint32_t> lengths_;        // rows of each partition
  std::vector<uint32_t> graph_lengths_;  // rows of each graph
  std::vector<GraphMetadata> graphs_;
};

arrow::Status SegmentWriterImpl::WriteBatch(FileWriter* writer, const Schema& schema,
                                            const arrow::ArrayVector& columns) {
  arrow::FieldVector fields;
  for (const Field& field : schema.fields) {
    ARROW_ASSIGN_OR_RAISE(auto arrow_field, ToArrowField(field));
    fields.push_back(std::move(arrow_field));
  }
  return writer->Write(
      *arrow::RecordBatch::Make(arrow::schema(std::move(fields)), columns[0]->length(), columns));
}

arrow::Status SegmentWriterImpl::WritePartition(const PartitionToWrite& partition) {
  const uint64_t num_rows = partition.num_rows;
  if (lengths_.size() == model_.centroids.rows) {
    return base::Internal("An index of ", lengths_.size(), " partitions gets another one");
  }
  if (num_rows > std::numeric_limits<int32_t>::max()) {
    return base::NotSupported("Partition ", lengths_.size(), " of the index would have ", num_rows,
                              " rows; at most 2147483647 are stored: make more partitions");
  }
  lengths_.push_back(static_cast<uint32_t>(num_rows));
  if (model_.kind.has_graph) ARROW_RETURN_NOT_OK(WriteGraph(partition));
  if (num_rows == 0) return arrow::Status::OK();
  if (partition.columns.size() + 1 != auxiliary_schema_.fields.size()) {
    return base::Internal("A partition of ", partition.columns.size(), " columns for an index of ",
                          auxiliary_schema_.fields.size() - 1);
  }
  arrow::ArrayVector columns = {Numbers(arrow::uint64(), num_rows, partition.row_ids)};
  for (size_t i = 0; i < partition.columns.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const auto type, ToArrowType(auxiliary_schema_.fields[i + 1]));
    if (type->id() != arrow::Type::FIXED_SIZE_LIST) {
      columns.push_back(Numbers(type, num_rows, partition.columns[i]));
      continue;
    }
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
    columns.push_back(std::make_shared<arrow::FixedSizeListArray>(
        type, static_cast<int64_t>(num_rows),
        Numbers(list.value_type(), num_rows * static_cast<uint64_t>(list.list_size()),
                partition.columns[i])));
  }
  return WriteBatch(auxiliary_.get(), auxiliary_schema_, columns);
}

arrow::Status SegmentWriterImpl::WriteLevel(const GraphLevel& level, uint32_t num_nodes,
                                            const std::vector<float>& distances) {
  std::vector<uint32_t> all;
  if (level.nodes.empty()) {
    all.resize(num_nodes);
    std::iota(all.begin(), all.end(), 0u);
  }
  const std::vector<uint32_t>& nodes = level.nodes.empty() ? all : level.nodes;
  const auto count = static_cast<int64_t>(nodes.size());
  const std::vector<int32_t> offsets(level.offsets.begin(), level.offsets.end());
  const auto lists = [&](const std::shared_ptr<arrow::DataType>& type, auto&& values) {
    return std::make_shared<arrow::ListArray>(arrow::list(type), count, ViewOf(offsets),
                                              Numbers(type, values.size(), ViewOf(values)));
  };
  return WriteBatch(index_.get(), index_schema_,
                    {Numbers(arrow::uint32(), nodes.size(), ViewOf(nodes)),
                     lists(arrow::uint32(), level.neighbors), lists(arrow::float32(), distances)});
}

arrow::Status SegmentWriterImpl::WriteGraph(const PartitionToWrite& partition) {
  GraphMetadata shape;
  uint32_t graph_rows = 0;
  if (partition.num_rows > 0) {
    const PartitionGraph& graph = *partition.graph;
    shape = {.entry_point = graph.entry_point,
             .max_connections = model_.graphs.m,
             .ef_construction = model_.graphs.ef_construction,
             .max_level = model_.graphs.max_level,
             .level_offsets = {0}};
    for (size_t level = 0; level < graph.levels.size(); ++level) {
      ARROW_RETURN_NOT_OK(
          WriteLevel(graph.levels[level], graph.num_nodes, (*partition.distances)[level]));
      graph_rows += static_cast<uint32_t>(graph.levels[level].offsets.size() - 1);
      shape.level_offsets.push_back(graph_rows);
    }
  }
  graphs_.push_back(std::move(shape));
  graph_lengths_.push_back(graph_rows);
  return arrow::Status::OK();
}

std::vector<uint64_t> RunningSum(const std::vector<uint32_t>& lengths) {
  std::vector<uint64_t> offsets;
  uint64_t next = 0;
  for (const uint32_t length : lengths) {
    offsets.push_back(next);
    next += length;
  }
  return offsets;
}

arrow::Status SegmentWriterImpl::AddIvf(FileWriter* writer, const std::string& bytes) {
  ARROW_ASSIGN_OR_RAISE(const uint32_t number,
                        writer->AddGlobalBuffer(*arrow::Buffer::FromString(bytes)));
  return writer->SetMetadata("lance:ivf", std::to_string(number));
}

arrow::Status SegmentWriterImpl::FinishIndex(WrittenSegment* written) {
  const std::vector<uint32_t> nothing(lengths_.size());
  const std::vector<uint32_t>& lengths = model_.kind.has_graph ? graph_lengths_ : nothing;
  const std::vector<uint64_t> offsets = RunningSum(lengths);
  ARROW_RETURN_NOT_OK(
      AddIvf(index_.get(), EncodeIvf(offsets, lengths, &model_.centroids, model_.loss)));
  ARROW_RETURN_NOT_OK(index_->SetMetadata(
      "lance:index",
      WriteIndexType({.type = IndexTypeName(model_.kind), .distance_type = model_.distance_type})));
  if (model_.kind.has_graph) {
    ARROW_RETURN_NOT_OK(index_->SetMetadata("lance:hnsw", WriteGraphs(graphs_)));
  } else {
    ARROW_RETURN_NOT_OK(index_->SetMetadata("lance:flat", WriteFlatPartitions(lengths_.size())));
  }
  ARROW_ASSIGN_OR_RAISE(const WrittenFile file, index_->Finish());
  written->index_bytes = file.size_bytes;
  return arrow::Status::OK();
}

arrow::Status SegmentWriterImpl::FinishAuxiliary(WrittenSegment* written) {
  const std::vector<uint64_t> offsets = RunningSum(lengths_);
  ARROW_RETURN_NOT_OK(
      AddIvf(auxiliary_.get(), EncodeIvf(offsets, lengths_, nullptr, std::nullopt)));
  if (const auto* pq = std::get_if<PqCodebook>(&model_.quantizer)) {
    const std::string bytes =
        EncodeTensor(pq->codebook, uint64_t{1} << pq->num_bits, model_.centroids.cols).text();
    ARROW_RETURN_NOT_OK(auxiliary_->AddGlobalBuffer(*arrow::Buffer::FromString(bytes)).status());
  }
  ARROW_RETURN_NOT_OK(auxiliary_->SetMetadata("distance_type", model_.distance_type));
  ARROW_RETURN_NOT_OK(auxiliary_->SetMetadata("storage_metadata", StorageMetadata(model_)));
  ARROW_ASSIGN_OR_RAISE(const WrittenFile file, auxiliary_->Finish());
  written->num_rows = file.num_rows;
  written->auxiliary_bytes = file.size_bytes;
  return arrow::Status::OK();
}

arrow::Result<WrittenSegment> SegmentWriterImpl::Finish() {
  if (lengths_.size() != model_.centroids.rows) {
    return base::Internal("An index of ", model_.centroids.rows, " partitions got ",
                          lengths_.size());
  }
  WrittenSegment written;
  ARROW_RETURN_NOT_OK(FinishIndex(&written));
  ARROW_RETURN_NOT_OK(FinishAuxiliary(&written));
  return written;
}

}  // namespace

std::string IndexTypeName(IndexKind kind) {
  return base::Concat(kind.has_graph ? "IVF_HNSW_" : "IVF_",
                      kQuantizerNames[static_cast<size_t>(kind.quantizer)]);
}

arrow::Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Make(
    std::shared_ptr<arrow::io::OutputStream> index,
    std::shared_ptr<arrow::io::OutputStream> auxiliary, SegmentModel model) {
  Schema index_schema = IndexSchema(model.kind.has_graph);
  Schema auxiliary_schema = AuxiliarySchema(model);
  ARROW_ASSIGN_OR_RAISE(auto index_writer,
                        FileWriter::Make(std::move(index), index_schema, {.path = "index.idx"}));
  ARROW_ASSIGN_OR_RAISE(
      auto auxiliary_writer,
      FileWriter::Make(std::move(auxiliary), auxiliary_schema, {.path = "auxiliary.idx"}));
  return std::make_unique<SegmentWriterImpl>(std::move(model), std::move(index_writer),
                                             std::move(auxiliary_writer), std::move(index_schema),
                                             std::move(auxiliary_schema));
}

}  // namespace kinjo::format
