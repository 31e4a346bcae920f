// Parquet through Arrow's own reader, one row group after another on the calling thread: the order
// of rows is the file's, and no pool but ours is busy.
#include "tabular/parquet_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "parquet/arrow/reader.h"
#include "parquet/arrow/schema.h"
#include "parquet/file_reader.h"
#include "parquet/metadata.h"
#include "parquet/properties.h"

namespace kinjo::tabular {

namespace {

constexpr int64_t kColumnBufferBytes = 1 << 20;
constexpr int64_t kFarColumnBufferBytes = 8 << 20;  // a request to a store takes its time
constexpr int64_t kTakeBatchRows = 4096;
constexpr int64_t kBatchBytes = int64_t{8} << 20;  // as far as the metadata tells

void AddLeaves(const parquet::arrow::SchemaField& field, std::vector<int>* leaves) {
  if (field.is_leaf()) leaves->push_back(field.column_index);
  for (const parquet::arrow::SchemaField& child : field.children) AddLeaves(child, leaves);
}

class ParquetFile final : public TableFile {
 public:
  static arrow::Result<std::shared_ptr<TableFile>> Open(const io::Location& location) {
    auto file = std::make_shared<ParquetFile>();
    file->location_ = location;
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<parquet::arrow::FileReader> reader,
                          file->OpenReader(kTakeBatchRows));
    file->metadata_ = reader->parquet_reader()->metadata();
    ARROW_RETURN_NOT_OK(file->Name(reader->GetSchema(&file->schema_)));
    return file;
  }

  const std::string& uri() const override { return location_.uri; }
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override { return metadata_->num_rows(); }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(const arrow::FieldVector& fields,
                                                                int64_t batch_rows) override {
    std::vector<int> row_groups(static_cast<size_t>(metadata_->num_row_groups()));
    for (size_t i = 0; i < row_groups.size(); ++i) row_groups[i] = static_cast<int>(i);
    return ReadRowGroups(row_groups, fields, batch_rows);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const arrow::FieldVector& fields, std::span<const uint64_t> ordinals) override {
    arrow::RecordBatchVector pieces;
    uint64_t first_row = 0;
    size_t next = 0;
    for (int group = 0; group < metadata_->num_row_groups() && next < ordinals.size(); ++group) {
      const auto group_rows = static_cast<uint64_t>(metadata_->RowGroup(group)->num_rows());
      const auto end = std::lower_bound(ordinals.begin() + static_cast<int64_t>(next),
                                        ordinals.end(), first_row + group_rows);
      const size_t count = static_cast<size_t>(end - ordinals.begin()) - next;
      if (count > 0) {
        ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::RecordBatchReader> reader,
                              ReadRowGroups({group}, fields, kTakeBatchRows));
        ARROW_ASSIGN_OR_RAISE(
            std::shared_ptr<arrow::RecordBatch> piece,
            TakeFromStream(reader.get(), fields, ordinals.subspan(next, count), first_row));
        pieces.push_back(std::move(piece));
      }
      next += count;
      first_row += group_rows;
    }
    if (next < ordinals.size()) {
      return base::Invalid("row ", ordinals[next], " of ", uri(), " was asked for, but it has ",
                           first_row, " rows");
    }
    return Concatenate(arrow::schema(fields), pieces);
  }

 private:
  arrow::Status Name(const arrow::Status& status) const {
    return FileError(status, location_.uri, base::ErrorCode::kCorrupt);
  }

  arrow::Result<std::shared_ptr<parquet::arrow::FileReader>> OpenReader(int64_t batch_rows) const {
    parquet::ReaderProperties properties;
    properties.enable_buffered_stream();
    const bool is_near = location_.file_system->type_name() == "local";
    properties.set_buffer_size(is_near ? kColumnBufferBytes : kFarColumnBufferBytes);
    parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
    arrow_properties.set_batch_size(batch_rows);
    arrow_properties.set_pre_buffer(false);
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::io::RandomAccessFile> input, OpenInput(location_));
    parquet::arrow::FileReaderBuilder builder;
    ARROW_RETURN_NOT_OK(Name(builder.Open(std::move(input), properties, metadata_)));
    builder.properties(arrow_properties);
    std::unique_ptr<parquet::arrow::FileReader> reader;
    ARROW_RETURN_NOT_OK(Name(builder.Build(&reader)));
    return std::shared_ptr<parquet::arrow::FileReader>(std::move(reader));
  }

  /// Rows of a batch, fewer than `batch_rows` where the columns' values are long.
  int64_t RowsWithin(int64_t batch_rows, const std::vector<int>& row_groups,
                     const std::vector<int>& leaves) const {
    for (const int group : row_groups) {
      const auto columns = metadata_->RowGroup(group);
      int64_t bytes = 0;
      for (const int leaf : leaves) bytes += columns->ColumnChunk(leaf)->total_uncompressed_size();
      const int64_t rows = std::max<int64_t>(columns->num_rows(), 1);
      const int64_t row_bytes = std::max<int64_t>(bytes / rows, 1);
      batch_rows = std::clamp<int64_t>(kBatchBytes / row_bytes, 1, batch_rows);
    }
    return batch_rows;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadRowGroups(
      const std::vector<int>& row_groups, const arrow::FieldVector& fields,
      int64_t batch_rows) const {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<parquet::arrow::FileReader> reader,
                          OpenReader(batch_rows));
    std::vector<int> leaves;
    for (const std::shared_ptr<arrow::Field>& field : fields) {
      const int position = schema_->GetFieldIndex(field->name());
      if (position < 0) return base::Internal("no column ", field->name(), " in ", uri());
      AddLeaves(reader->manifest().schema_fields[static_cast<size_t>(position)], &leaves);
    }
    std::sort(leaves.begin(), leaves.end());
    reader->set_batch_size(RowsWithin(batch_rows, row_groups, leaves));
    auto batches = reader->GetRecordBatchReader(row_groups, leaves);
    if (!batches.ok()) return Name(batches.status());
    return NameErrors(std::shared_ptr<arrow::RecordBatchReader>(std::move(*batches)), reader, uri(),
                      base::ErrorCode::kCorrupt);
  }

  io::Location location_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

arrow::Result<std::shared_ptr<TableFile>> OpenParquetFile(const io::Location& file) {
  return ParquetFile::Open(file);
}

}  // namespace kinjo::tabular
