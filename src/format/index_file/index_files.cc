#include "format/index_file/index_files.h"

#include <cstring>
#include <iterator>
#include <utility>

#include "arrow/array/array_nested.h"
#include "arrow/type.h"
#include "format/index_file/column_names.h"
#include "format/index_file/graph_reader.h"
#include "format/index_file/index_model.h"
#include "format/index_file/quantizer_model.h"

namespace kinjo::format {

namespace {

// The types that are read.
struct NamedKind {
  std::string_view type;
  IndexKind kind;
};
constexpr NamedKind kKinds[] = {
    {"IVF_FLAT", {QuantizerKind::kFlat, false}},     {"IVF_PQ", {QuantizerKind::kPq, false}},
    {"IVF_SQ", {QuantizerKind::kSq, false}},         {"IVF_RQ", {QuantizerKind::kRq, false}},
    {"IVF_HNSW_FLAT", {QuantizerKind::kFlat, true}}, {"IVF_HNSW_PQ", {QuantizerKind::kPq, true}},
    {"IVF_HNSW_SQ", {QuantizerKind::kSq, true}},
};

arrow::Type::type ArrowTypeOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return arrow::Type::HALF_FLOAT;
    case ElementType::kFloat32:
      return arrow::Type::FLOAT;
    case ElementType::kFloat64:
      return arrow::Type::DOUBLE;
    case ElementType::kUint8:
      break;
  }
  return arrow::Type::UINT8;
}

const Field* FindTopLevel(const LanceFile& file, const char* name) {
  for (const Field& field : file.schema().fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

// One column of auxiliary.idx, and which buffer of a partition its rows go to.
struct StoredColumn {
  const Field* field;  // points into the schema of auxiliary.idx
  uint64_t row_bytes;
  std::shared_ptr<arrow::Buffer> PartitionRows::* target;
};

// A column of one value a row.
arrow::Result<const Field*> FindNumbers(const LanceFile& file, const char* name,
                                        arrow::Type::type type) {
  const Field* field = FindTopLevel(file, name);
  if (field == nullptr) {
    return base::Corrupt(file.path(), 0, "The index file has no column `", name, "`");
  }
  ARROW_ASSIGN_OR_RAISE(const auto found, ToArrowType(*field));
  if (found->id() != type) {
    return base::Corrupt(file.path(), 0, "Column `", name, "` of the index file is ",
                         found->ToString(), ", not ",
                         type == arrow::Type::UINT64 ? "uint64" : "float");
  }
  return field;
}

// The code column: lists of `width` elements of one type.
arrow::Result<const Field*> FindCodes(const LanceFile& file, const char* name, ElementType element,
                                      uint32_t width) {
  const Field* field = FindTopLevel(file, name);
  if (field == nullptr) {
    return base::Corrupt(file.path(), 0, "The index file has no column `", name, "`");
  }
  ARROW_ASSIGN_OR_RAISE(const auto type, ToArrowType(*field));
  if (type->id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
    if (list.value_type()->id() == ArrowTypeOf(element) &&
        static_cast<uint32_t>(list.list_size()) == width) {
      return field;
    }
  }
  return base::Corrupt(file.path(), 0, "Column `", name, "` of the index file is ",
                       type->ToString(), " where it should be lists of ", width, " ",
                       ElementTypeName(element));
}

// Appends a code column of lists of `width` bytes.
arrow::Status AddCodes(const LanceFile& file, const char* name, uint32_t width,
                       std::shared_ptr<arrow::Buffer> PartitionRows::* target,
                       std::vector<StoredColumn>* columns) {
  ARROW_ASSIGN_OR_RAISE(const Field* field, FindCodes(file, name, ElementType::kUint8, width));
  columns->push_back({field, width, target});
  return arrow::Status::OK();
}

arrow::Status AddFactors(const LanceFile& file, const char* name,
                         std::shared_ptr<arrow::Buffer> PartitionRows::* target,
                         std::vector<StoredColumn>* columns) {
  ARROW_ASSIGN_OR_RAISE(const Field* field, FindNumbers(file, name, arrow::Type::FLOAT));
  columns->push_back({field, sizeof(float), target});
  return arrow::Status::OK();
}

// The factors of the sign bits alone serve a search that stops at them; ours uses all bits.
arrow::Status AddRqColumns(const LanceFile& file, const RqModel& rq, uint32_t dim,
                           std::vector<StoredColumn>* columns) {
  ARROW_RETURN_NOT_OK(AddCodes(file, kRqSignColumn, dim / 8, &PartitionRows::codes, columns));
  if (rq.ex_bits() == 0) {
    ARROW_RETURN_NOT_OK(AddFactors(file, kRqAddColumn, &PartitionRows::add_factors, columns));
    return AddFactors(file, kRqScaleColumn, &PartitionRows::scale_factors, columns);
  }
  if (FindTopLevel(file, kRqExColumn) == nullptr && FindTopLevel(file, "__ex_codes") != nullptr) {
    return base::NotSupported("Index ", file.path(),
                              " holds its RQ codes in column `__ex_codes`; `", kRqExColumn,
                              "` is read: rebuild the index");
  }
  ARROW_RETURN_NOT_OK(AddCodes(file, kRqExColumn, RqExCodeBytes(dim, rq.ex_bits()),
                               &PartitionRows::ex_codes, columns));
  ARROW_RETURN_NOT_OK(AddFactors(file, kRqExAddColumn, &PartitionRows::add_factors, columns));
  return AddFactors(file, kRqExScaleColumn, &PartitionRows::scale_factors, columns);
}

// The columns of a partition beside its row ids, of the kinds and widths that the quantizer says.
arrow::Result<std::vector<StoredColumn>> FindCodeColumns(const LanceFile& file, const IvfModel& ivf,
                                                         const QuantizerModel& quantizer) {
  const auto dim = static_cast<uint32_t>(ivf.centroids.cols);
  std::vector<StoredColumn> columns;
  if (const auto* pq = std::get_if<PqCodebook>(&quantizer)) {
    const uint32_t code_bytes = pq->num_sub_vectors * pq->num_bits / 8;
    ARROW_RETURN_NOT_OK(AddCodes(file, kPqColumn, code_bytes, &PartitionRows::codes, &columns));
  } else if (std::holds_alternative<SqModel>(quantizer)) {
    ARROW_RETURN_NOT_OK(AddCodes(file, kSqColumn, dim, &PartitionRows::codes, &columns));
  } else if (const auto* rq = std::get_if<RqModel>(&quantizer)) {
    ARROW_RETURN_NOT_OK(AddRqColumns(file, *rq, dim, &columns));
  } else {
    ARROW_ASSIGN_OR_RAISE(const Field* codes,
                          FindCodes(file, kFlatColumn, ivf.centroids.type, dim));
    columns.push_back(
        {codes, uint64_t{dim} * ElementBytes(ivf.centroids.type), &PartitionRows::codes});
  }
  return columns;
}

class IndexFilesImpl final : public IndexFiles {
 public:
  IndexFilesImpl(std::shared_ptr<LanceFile> auxiliary, IvfModel ivf, QuantizerModel quantizer,
                 StoredColumn row_ids, std::vector<StoredColumn> codes,
                 std::unique_ptr<GraphReader> graphs)
      : auxiliary_(std::move(auxiliary)),
        ivf_(std::move(ivf)),
        quantizer_(std::move(quantizer)),
        row_ids_(row_ids),
        codes_(std::move(codes)),
        graphs_(std::move(graphs)) {
    auto* pq = std::get_if<PqCodebook>(&quantizer_);
    if (graphs_ == nullptr || pq == nullptr) return;
    turns_codes_ = pq->transposed;
    pq->transposed = false;
  }

  const IvfModel& ivf() const override { return ivf_; }
  const QuantizerModel& quantizer() const override { return quantizer_; }
  uint32_t dim() const override { return static_cast<uint32_t>(ivf_.centroids.cols); }

  arrow::Result<PartitionRows> ReadRowIds(uint64_t partition) override;
  arrow::Status ReadCodes(uint64_t partition, PartitionRows* rows) override;
  arrow::Result<std::vector<PartitionRows>> ReadRun(uint64_t first, uint64_t count) override;
  arrow::Result<PartitionGraph> ReadGraph(uint64_t partition) override {
    if (graphs_ == nullptr) return IndexFiles::ReadGraph(partition);
    return graphs_->Read(partition);
  }
  uint64_t graph_bytes(uint64_t partition) const override {
    return graphs_ == nullptr ? 0 : graphs_->graph_bytes(partition);
  }

 private:
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadBytes(const Field& field, RowRange range,
                                                          uint64_t row_bytes);
  RowRange RowsOf(uint64_t partition) const {
    return {ivf_.offsets[partition], ivf_.offsets[partition] + ivf_.lengths[partition]};
  }
  arrow::Status CheckPartition(uint64_t partition) const;
  arrow::Status TurnCodes(PartitionRows* rows) const;

  const std::shared_ptr<LanceFile> auxiliary_;
  const IvfModel ivf_;
  QuantizerModel quantizer_;
  const StoredColumn row_ids_;
  const std::vector<StoredColumn> codes_;
  const std::unique_ptr<GraphReader> graphs_;  // null without graphs
  bool turns_codes_ = false;
};

// Planes of one byte of all rows, as rows.
arrow::Result<std::shared_ptr<arrow::Buffer>> TurnPlanes(const arrow::Buffer& planes,
                                                         uint64_t num_rows, uint64_t row_bytes) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> rows, arrow::AllocateBuffer(planes.size()));
  for (uint64_t byte = 0; byte < row_bytes; ++byte) {
    const uint8_t* plane = planes.data() + byte * num_rows;
    uint8_t* out = rows->mutable_data() + byte;
    for (uint64_t row = 0; row < num_rows; ++row) out[row * row_bytes] = plane[row];
  }
  return rows;
}

arrow::Status IndexFilesImpl::CheckPartition(uint64_t partition) const {
  if (partition < ivf_.num_partitions()) return arrow::Status::OK();
  return base::Internal("Partition ", partition, " asked of an index with ", ivf_.num_partitions());
}

arrow::Result<PartitionRows> IndexFilesImpl::ReadRowIds(uint64_t partition) {
  ARROW_RETURN_NOT_OK(CheckPartition(partition));
  PartitionRows rows;
  rows.num_rows = ivf_.lengths[partition];
  ARROW_ASSIGN_OR_RAISE(rows.row_ids,
                        ReadBytes(*row_ids_.field, RowsOf(partition), row_ids_.row_bytes));
  return rows;
}

arrow::Status IndexFilesImpl::ReadCodes(uint64_t partition, PartitionRows* rows) {
  for (const StoredColumn& column : codes_) {
    ARROW_ASSIGN_OR_RAISE(rows->*column.target,
                          ReadBytes(*column.field, RowsOf(partition), column.row_bytes));
    if (column.target == &PartitionRows::codes) {
      rows->code_bytes = static_cast<uint32_t>(column.row_bytes);
    }
  }
  return TurnCodes(rows);
}

arrow::Status IndexFilesImpl::TurnCodes(PartitionRows* rows) const {
  if (!turns_codes_ || rows->num_rows == 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(rows->codes, TurnPlanes(*rows->codes, rows->num_rows, rows->code_bytes));
  return arrow::Status::OK();
}

arrow::Result<std::vector<PartitionRows>> IndexFilesImpl::ReadRun(uint64_t first, uint64_t count) {
  std::vector<PartitionRows> run(count);
  if (count == 0) return run;
  ARROW_RETURN_NOT_OK(CheckPartition(first + count - 1));
  const RowRange all{RowsOf(first).begin, RowsOf(first + count - 1).end};
  for (uint64_t i = 1; i < count; ++i) {
    if (RowsOf(first + i).begin < RowsOf(first + i - 1).end) {
      return base::Corrupt(auxiliary_->path(), 0, "The rows of partition ", first + i,
                           " of the index lie before those of the one before it");
    }
  }
  std::vector<StoredColumn> columns = {row_ids_};
  columns.insert(columns.end(), codes_.begin(), codes_.end());
  for (const StoredColumn& column : columns) {
    ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadBytes(*column.field, all, column.row_bytes));
    for (uint64_t i = 0; i < count; ++i) {
      const RowRange range = RowsOf(first + i);
      run[i].*column.target = arrow::SliceBuffer(
          bytes, static_cast<int64_t>((range.begin - all.begin) * column.row_bytes),
          static_cast<int64_t>((range.end - range.begin) * column.row_bytes));
      run[i].num_rows = range.end - range.begin;
      if (column.target == &PartitionRows::codes) {
        run[i].code_bytes = static_cast<uint32_t>(column.row_bytes);
      }
    }
  }
  for (PartitionRows& rows : run) ARROW_RETURN_NOT_OK(TurnCodes(&rows));
  return run;
}

// The bytes of one fixed-width column over a partition's rows, one after another. A code column's
// rows aren't rows (its bytes are transposed inside the partition), so it may only be read whole.
arrow::Result<std::shared_ptr<arrow::Buffer>> IndexFilesImpl::ReadBytes(const Field& field,
                                                                        RowRange range,
                                                                        uint64_t row_bytes) {
  const uint64_t num_rows = range.end - range.begin;
  if (num_rows == 0) return std::make_shared<arrow::Buffer>(nullptr, 0);
  ARROW_ASSIGN_OR_RAISE(const auto array,
                        auxiliary_->ReadRows(field, auxiliary_->own_columns(), {&range, 1}));
  const arrow::Array* values = array.get();
  uint64_t first = static_cast<uint64_t>(array->offset());
  bool has_nulls = array->null_count() != 0;
  if (array->type_id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListArray&>(*array);
    values = list.values().get();
    has_nulls = has_nulls || values->null_count() != 0;
    const auto list_size = static_cast<uint64_t>(list.list_type()->list_size());
    first = first * list_size + static_cast<uint64_t>(values->offset());
  }
  if (has_nulls) {
    return base::Corrupt(auxiliary_->path(), 0, "Column `", field.name,
                         "` of the index file holds nulls in rows ", range.begin, " to ",
                         range.end);
  }
  const auto& bytes = values->data()->buffers[1];
  const auto element_bytes = static_cast<uint64_t>(values->type()->byte_width());
  const uint64_t begin = first * element_bytes;
  const uint64_t length = num_rows * row_bytes;
  const uint64_t size = bytes == nullptr ? 0 : static_cast<uint64_t>(bytes->size());
  if (static_cast<uint64_t>(array->length()) != num_rows || begin > size || length > size - begin) {
    return base::Corrupt(auxiliary_->path(), 0, "Column `", field.name,
                         "` of the index file has too few bytes in rows ", range.begin, " to ",
                         range.end);
  }
  return arrow::SliceBuffer(bytes, static_cast<int64_t>(begin), static_cast<int64_t>(length));
}

// Opens one of the two files. A file of Lance's first format is a legacy index.
arrow::Result<std::shared_ptr<LanceFile>> OpenIndexFile(const io::Location& location,
                                                        std::shared_ptr<io::IoCounters> counters) {
  ARROW_ASSIGN_OR_RAISE(const auto reader, io::OpenFile(location, 0, std::move(counters)));
  arrow::Result<std::shared_ptr<LanceFile>> file = LanceFile::Open(reader);
  constexpr uint64_t kVersionBytes = 8;  // u16 major, u16 minor, "LANC"
  if (file.ok() || base::CodeOf(file.status()) != base::ErrorCode::kNotSupported ||
      reader->size() < kVersionBytes) {
    return file;
  }
  ARROW_ASSIGN_OR_RAISE(const auto tail,
                        reader->Read({reader->size() - kVersionBytes, kVersionBytes}));
  uint16_t version[2];
  std::memcpy(version, tail->data(), sizeof(version));
  constexpr uint16_t kFirstCurrentMinor = 3;  // 0.1 and 0.2 are the first format
  if (version[0] != 0 || version[1] >= kFirstCurrentMinor) return file;
  return base::NotSupported("Legacy index file ", location.uri,
                            ": only indexes in the current form are read; rebuild the index");
}

}  // namespace

uint32_t ElementBytes(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return 2;
    case ElementType::kFloat32:
      return 4;
    case ElementType::kFloat64:
      return 8;
    case ElementType::kUint8:
      break;
  }
  return 1;
}

const char* ElementTypeName(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return "float16";
    case ElementType::kFloat32:
      return "float32";
    case ElementType::kFloat64:
      return "float64";
    case ElementType::kUint8:
      break;
  }
  return "uint8";
}

std::optional<IndexKind> ParseIndexKind(std::string_view type) {
  for (const NamedKind& named : kKinds) {
    if (named.type == type) return named.kind;
  }
  return std::nullopt;
}

std::string IndexTypeNames() {
  std::string names;
  for (const NamedKind& named : kKinds) {
    if (!names.empty()) names += &named == std::end(kKinds) - 1 ? " and " : ", ";
    names += named.type;
  }
  return names;
}

uint64_t PartitionRows::size_bytes() const {
  int64_t bytes = 0;
  for (const auto* buffer : {&row_ids, &codes, &ex_codes, &add_factors, &scale_factors}) {
    if (*buffer != nullptr) bytes += (*buffer)->size();
  }
  return static_cast<uint64_t>(bytes);
}

arrow::Result<std::vector<PartitionRows>> IndexFiles::ReadRun(uint64_t first, uint64_t count) {
  std::vector<PartitionRows> run;
  for (uint64_t i = 0; i < count; ++i) {
    ARROW_ASSIGN_OR_RAISE(PartitionRows rows, ReadPartition(first + i));
    run.push_back(std::move(rows));
  }
  return run;
}

arrow::Result<PartitionRows> IndexFiles::ReadPartition(uint64_t partition) {
  ARROW_ASSIGN_OR_RAISE(PartitionRows rows, ReadRowIds(partition));
  ARROW_RETURN_NOT_OK(ReadCodes(partition, &rows));
  return rows;
}

arrow::Result<PartitionGraph> IndexFiles::ReadGraph(uint64_t partition) {
  return base::Internal("Graph ", partition, " asked of an index without graphs");
}

uint32_t IndexFiles::code_bytes() const {
  if (const auto* pq = std::get_if<PqCodebook>(&quantizer())) {
    return pq->num_sub_vectors * pq->num_bits / 8;
  }
  if (std::holds_alternative<SqModel>(quantizer())) return dim();
  if (const auto* rq = std::get_if<RqModel>(&quantizer())) {
    constexpr uint32_t kFactorBytes = 2 * sizeof(float);
    return dim() / 8 + RqExCodeBytes(dim(), rq->ex_bits()) + kFactorBytes;
  }
  return dim() * ElementBytes(ivf().centroids.type);
}

arrow::Result<std::shared_ptr<IndexFiles>> IndexFiles::Open(
    const io::Location& directory, const std::shared_ptr<io::IoCounters>& counters) {
  ARROW_ASSIGN_OR_RAISE(const auto index,
                        OpenIndexFile(io::Child(directory, "index.idx"), counters));
  ARROW_ASSIGN_OR_RAISE(auto auxiliary,
                        OpenIndexFile(io::Child(directory, "auxiliary.idx"), counters));
  return Assemble(index, std::move(auxiliary));
}

arrow::Result<std::shared_ptr<IndexFiles>> IndexFiles::Assemble(
    const std::shared_ptr<LanceFile>& index, std::shared_ptr<LanceFile> auxiliary) {
  ARROW_ASSIGN_OR_RAISE(IvfModel ivf, ReadIvfModel(*index, *auxiliary));
  ARROW_ASSIGN_OR_RAISE(QuantizerModel quantizer, ReadQuantizer(*auxiliary, ivf));
  ARROW_ASSIGN_OR_RAISE(const Field* row_ids,
                        FindNumbers(*auxiliary, kRowIdColumn, arrow::Type::UINT64));
  ARROW_ASSIGN_OR_RAISE(auto codes, FindCodeColumns(*auxiliary, ivf, quantizer));
  std::unique_ptr<GraphReader> graphs;
  if (ivf.kind.has_graph) {
    ARROW_ASSIGN_OR_RAISE(graphs, GraphReader::Open(index, ivf));
  }
  const StoredColumn id_column{row_ids, sizeof(uint64_t), &PartitionRows::row_ids};
  return std::make_shared<IndexFilesImpl>(std::move(auxiliary), std::move(ivf),
                                          std::move(quantizer), id_column, std::move(codes),
                                          std::move(graphs));
}

}  // namespace kinjo::format
