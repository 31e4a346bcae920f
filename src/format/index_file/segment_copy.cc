#include "format/index_file/segment_copy.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "arrow/array/array_primitive.h"
#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "format/file/file_writer.h"
#include "format/file/lance_file.h"
#include "format/file/page_cache.h"
#include "format/index_file/column_names.h"

namespace kinjo::format {
namespace {

constexpr uint64_t kBatchBytes = uint64_t{8} << 20;

arrow::Result<uint64_t> CopyBytes(const io::Location& from, arrow::io::OutputStream* to,
                                  const base::CancelToken& cancel) {
  ARROW_ASSIGN_OR_RAISE(const auto reader, io::OpenFile(from));
  for (uint64_t begin = 0; begin < reader->size(); begin += kBatchBytes) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_ASSIGN_OR_RAISE(const auto bytes,
                          reader->Read({begin, std::min(kBatchBytes, reader->size() - begin)}));
    ARROW_RETURN_NOT_OK(to->Write(bytes));
  }
  return reader->size();
}

/// Bytes of one row of a column of numbers, or of lists of them.
uint64_t RowBytes(const arrow::DataType& type) {
  if (type.id() != arrow::Type::FIXED_SIZE_LIST) {
    return static_cast<uint64_t>(std::max(type.byte_width(), 1));
  }
  const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
  return static_cast<uint64_t>(list.list_size()) * RowBytes(*list.value_type());
}

arrow::Result<std::shared_ptr<arrow::Array>> ChangeIds(const arrow::Array& array,
                                                       const std::string& path,
                                                       const RowIdChange& change) {
  if (array.null_count() != 0) return base::Corrupt(path, 0, "a row id is null");
  const auto& ids = static_cast<const arrow::UInt64Array&>(array);
  std::vector<uint64_t> changed(ids.raw_values(), ids.raw_values() + ids.length());
  change(changed);
  return std::make_shared<arrow::UInt64Array>(ids.length(),
                                              arrow::Buffer::FromVector(std::move(changed)));
}

/// auxiliary.idx on its way.
class AuxiliaryCopy {
 public:
  AuxiliaryCopy(std::shared_ptr<LanceFile> file, const RowIdChange& change)
      : file_(std::move(file)), change_(change) {}

  arrow::Result<WrittenFile> Run(std::shared_ptr<arrow::io::OutputStream> out,
                                 const base::CancelToken& cancel) {
    ARROW_RETURN_NOT_OK(Prepare());
    ARROW_ASSIGN_OR_RAISE(const auto writer,
                          FileWriter::Make(std::move(out), file_->schema(),
                                           {.version = file_->version(), .path = "auxiliary.idx"}));
    // Number 0 is the descriptor, which the writer makes; the others keep their numbers.
    for (int number = 1; number < file_->num_global_buffers(); ++number) {
      ARROW_ASSIGN_OR_RAISE(const auto buffer, file_->ReadGlobalBuffer(number));
      ARROW_RETURN_NOT_OK(writer->AddGlobalBuffer(*buffer).status());
    }
    for (uint64_t begin = 0; begin < file_->num_rows(); begin += batch_rows_) {
      ARROW_RETURN_NOT_OK(cancel.Check());
      ARROW_ASSIGN_OR_RAISE(const auto batch, ReadBatch(begin));
      ARROW_RETURN_NOT_OK(writer->Write(*batch));
    }
    return writer->Finish();
  }

 private:
  arrow::Status Prepare() {
    uint64_t row_bytes = 0;
    arrow::FieldVector fields;
    bool has_ids = false;
    for (const Field& field : file_->schema().fields) {
      ARROW_ASSIGN_OR_RAISE(auto made, ToArrowField(field));
      row_bytes += RowBytes(*made->type());
      has_ids =
          has_ids || (field.name == kRowIdColumn && made->type()->id() == arrow::Type::UINT64);
      fields.push_back(std::move(made));
    }
    if (!has_ids) {
      return base::Corrupt(file_->path(), 0, "The index file has no column `", kRowIdColumn,
                           "` of uint64");
    }
    batch_rows_ = std::max(kBatchBytes / row_bytes, uint64_t{1});
    schema_ = arrow::schema(std::move(fields));
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadBatch(uint64_t begin) {
    const RowRange rows{begin, std::min(begin + batch_rows_, file_->num_rows())};
    arrow::ArrayVector columns;
    for (const Field& field : file_->schema().fields) {
      ARROW_ASSIGN_OR_RAISE(
          auto column, file_->ReadRowsInTurn(field, file_->own_columns(), {&rows, 1}, &at_hand_));
      if (field.name == kRowIdColumn) {
        ARROW_ASSIGN_OR_RAISE(column, ChangeIds(*column, file_->path(), change_));
      }
      columns.push_back(std::move(column));
    }
    return arrow::RecordBatch::Make(schema_, static_cast<int64_t>(rows.end - rows.begin),
                                    std::move(columns));
  }

  const std::shared_ptr<LanceFile> file_;
  const RowIdChange& change_;
  std::shared_ptr<arrow::Schema> schema_;
  uint64_t batch_rows_ = 1;
  PagesAtHand at_hand_;
};

}  // namespace

arrow::Result<WrittenSegment> CopySegment(const io::Location& from, arrow::io::OutputStream* index,
                                          std::shared_ptr<arrow::io::OutputStream> auxiliary,
                                          const RowIdChange& change,
                                          const base::CancelToken& cancel) {
  WrittenSegment written;
  ARROW_ASSIGN_OR_RAISE(written.index_bytes,
                        CopyBytes(io::Child(from, "index.idx"), index, cancel));
  ARROW_ASSIGN_OR_RAISE(const auto reader, io::OpenFile(io::Child(from, "auxiliary.idx")));
  ARROW_ASSIGN_OR_RAISE(auto file, LanceFile::Open(reader));
  ARROW_ASSIGN_OR_RAISE(const WrittenFile copy,
                        AuxiliaryCopy(std::move(file), change).Run(std::move(auxiliary), cancel));
  written.num_rows = copy.num_rows;
  written.auxiliary_bytes = copy.size_bytes;
  return written;
}

}  // namespace kinjo::format
