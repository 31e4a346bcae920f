#include "format/index_file/index_files.h"

#include <cstring>
#include <optional>
#include <utility>

#include "arrow/array/array_nested.h"
#include "arrow/type.h"
#include "format/index_file/index_model.h"

namespace kinjo::format {

namespace {

// The column that holds the row ids, and for each quantizer the column that holds its codes.
constexpr const char* kRowIdColumn = "_rowid";
constexpr const char* kFlatColumn = "flat";
constexpr const char* kPqColumn = "__pq_code";

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

arrow::Result<const Field*> FindRowIds(const LanceFile& file) {
  const Field* field = FindTopLevel(file, kRowIdColumn);
  if (field == nullptr) {
    return base::Corrupt(file.path(), 0, "The index file has no column `", kRowIdColumn, "`");
  }
  ARROW_ASSIGN_OR_RAISE(const auto type, ToArrowType(*field));
  if (type->id() != arrow::Type::UINT64) {
    return base::Corrupt(file.path(), 0, "Column `", kRowIdColumn, "` of the index file is ",
                         type->ToString(), ", not uint64");
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

class IndexFilesImpl final : public IndexFiles {
 public:
  IndexFilesImpl(std::shared_ptr<LanceFile> auxiliary, IvfModel ivf, std::optional<PqCodebook> pq,
                 const Field* row_ids, const Field* codes)
      : auxiliary_(std::move(auxiliary)),
        ivf_(std::move(ivf)),
        pq_(std::move(pq)),
        row_ids_(row_ids),
        codes_(codes) {}

  const IvfModel& ivf() const override { return ivf_; }
  const PqCodebook* pq() const override { return pq_.has_value() ? &*pq_ : nullptr; }
  uint32_t dim() const override { return static_cast<uint32_t>(ivf_.centroids.cols); }

  arrow::Result<PartitionRows> ReadPartition(uint64_t partition) override;

 private:
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadBytes(const Field& field, RowRange range,
                                                          uint64_t row_bytes);

  const std::shared_ptr<LanceFile> auxiliary_;
  const IvfModel ivf_;
  const std::optional<PqCodebook> pq_;
  const Field* const row_ids_;  // both point into the schema of auxiliary_
  const Field* const codes_;
};

arrow::Result<PartitionRows> IndexFilesImpl::ReadPartition(uint64_t partition) {
  if (partition >= ivf_.num_partitions()) {
    return base::Internal("Partition ", partition, " asked of an index with ",
                          ivf_.num_partitions());
  }
  PartitionRows rows;
  rows.num_rows = ivf_.lengths[partition];
  rows.code_bytes = code_bytes();
  const RowRange range{ivf_.offsets[partition], ivf_.offsets[partition] + rows.num_rows};
  ARROW_ASSIGN_OR_RAISE(rows.row_ids, ReadBytes(*row_ids_, range, sizeof(uint64_t)));
  ARROW_ASSIGN_OR_RAISE(rows.codes, ReadBytes(*codes_, range, rows.code_bytes));
  return rows;
}

// The bytes of one fixed-width column over `range`, one row after another. A code column's rows
// aren't rows (its bytes are transposed inside the partition), so it may only be read whole.
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

uint32_t IndexFiles::code_bytes() const {
  const PqCodebook* codebook = pq();
  if (codebook != nullptr) return codebook->num_sub_vectors * codebook->num_bits / 8;
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
  ARROW_ASSIGN_OR_RAISE(const Field* row_ids, FindRowIds(*auxiliary));
  std::optional<PqCodebook> pq;
  const Field* codes = nullptr;
  if (ivf.index_type == "IVF_PQ") {
    ARROW_ASSIGN_OR_RAISE(pq, ReadPqCodebook(*auxiliary, ivf));
    const uint32_t code_bytes = pq->num_sub_vectors * pq->num_bits / 8;
    ARROW_ASSIGN_OR_RAISE(codes, FindCodes(*auxiliary, kPqColumn, ElementType::kUint8, code_bytes));
  } else {
    ARROW_RETURN_NOT_OK(CheckFlatStorage(*auxiliary, ivf));
    ARROW_ASSIGN_OR_RAISE(codes, FindCodes(*auxiliary, kFlatColumn, ivf.centroids.type,
                                           static_cast<uint32_t>(ivf.centroids.cols)));
  }
  return std::make_shared<IndexFilesImpl>(std::move(auxiliary), std::move(ivf), std::move(pq),
                                          row_ids, codes);
}

}  // namespace kinjo::format
