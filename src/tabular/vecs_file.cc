#include "tabular/vecs_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arrow/array/array_nested.h"
#include "arrow/array/util.h"
#include "arrow/buffer.h"

namespace kinjo::tabular {

namespace {

constexpr int64_t kWidthBytes = 4;
constexpr int64_t kMaxWidth = 1 << 20;

class VecsFile final : public TableFile {
 public:
  VecsFile(io::Location location, const std::shared_ptr<arrow::DataType>& element, int64_t width,
           int64_t rows)
      : location_(std::move(location)),
        width_(width),
        vector_bytes_(width * element->byte_width()),
        rows_(rows) {
    auto list =
        arrow::fixed_size_list(arrow::field("item", element, false), static_cast<int32_t>(width));
    schema_ = arrow::schema({arrow::field("vector", std::move(list), false)});
  }

  const std::string& uri() const override { return location_.uri; }
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override { return rows_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(const arrow::FieldVector& fields,
                                                                int64_t batch_rows) override;

  const io::Location& location() const { return location_; }

  /// Reads rows and takes the widths from between them.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadRows(arrow::io::RandomAccessFile* input,
                                                              int64_t first, int64_t rows) const {
    const int64_t row_bytes = kWidthBytes + vector_bytes_;
    auto read = input->ReadAt(first * row_bytes, rows * row_bytes);
    if (!read.ok()) return FileError(read.status(), uri(), base::ErrorCode::kCorrupt);
    if ((*read)->size() != rows * row_bytes) {
      return base::Corrupt(uri(), static_cast<uint64_t>(first * row_bytes),
                           "the file ended within a vector");
    }
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> numbers,
                          arrow::AllocateBuffer(rows * vector_bytes_));
    for (int64_t row = 0; row < rows; ++row) {
      const uint8_t* from = (*read)->data() + row * row_bytes;
      int32_t width = 0;
      std::memcpy(&width, from, kWidthBytes);
      if (width != width_) {
        return base::Corrupt(uri(), static_cast<uint64_t>((first + row) * row_bytes), "vector ",
                             first + row, " has ", width, " numbers, the first one has ", width_);
      }
      std::memcpy(numbers->mutable_data() + row * vector_bytes_, from + kWidthBytes,
                  static_cast<size_t>(vector_bytes_));
    }
    const std::shared_ptr<arrow::DataType>& type = schema_->field(0)->type();
    auto elements = arrow::MakeArray(arrow::ArrayData::Make(
        type->field(0)->type(), rows * width_, {nullptr, std::move(numbers)}, /*null_count=*/0));
    auto vectors = std::make_shared<arrow::FixedSizeListArray>(type, rows, std::move(elements));
    return arrow::RecordBatch::Make(schema_, rows, {std::move(vectors)});
  }

 private:
  io::Location location_;
  int64_t width_;
  int64_t vector_bytes_;
  int64_t rows_;
  std::shared_ptr<arrow::Schema> schema_;
};

class VecsReader final : public arrow::RecordBatchReader {
 public:
  VecsReader(VecsFile file, std::shared_ptr<arrow::io::RandomAccessFile> input, int64_t batch_rows)
      : file_(std::move(file)), input_(std::move(input)), batch_rows_(batch_rows) {}

  std::shared_ptr<arrow::Schema> schema() const override { return file_.schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    const int64_t rows = std::min(batch_rows_, *file_.num_rows() - next_row_);
    *batch = nullptr;
    if (rows == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(*batch, file_.ReadRows(input_.get(), next_row_, rows));
    next_row_ += rows;
    return arrow::Status::OK();
  }

 private:
  VecsFile file_;
  std::shared_ptr<arrow::io::RandomAccessFile> input_;
  int64_t batch_rows_;
  int64_t next_row_ = 0;
};

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> VecsFile::Read(const arrow::FieldVector&,
                                                                        int64_t batch_rows) {
  ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(location_));
  return std::make_shared<VecsReader>(*this, std::move(input), batch_rows);
}

arrow::Result<std::shared_ptr<TableFile>> OpenVecsFile(
    const io::Location& file, const std::shared_ptr<arrow::DataType>& element) {
  ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(file));
  auto size = input->GetSize();
  if (!size.ok()) return FileError(size.status(), file.uri, base::ErrorCode::kCorrupt);
  int32_t width = 0;
  auto got = input->ReadAt(0, kWidthBytes, &width);
  if (!got.ok()) return FileError(got.status(), file.uri, base::ErrorCode::kCorrupt);
  if (*got != kWidthBytes || width < 1 || width > kMaxWidth) {
    return base::Corrupt(
        file.uri, 0, "the file doesn't begin with the width of a vector, from 1 to ", kMaxWidth);
  }
  const int64_t row_bytes = kWidthBytes + int64_t{width} * element->byte_width();
  if (*size % row_bytes != 0) {
    return base::Corrupt(file.uri, 0, "the file of ", *size,
                         " bytes isn't made of vectors of the first one's width, ", width, " (",
                         row_bytes, " bytes each)");
  }
  return std::make_shared<VecsFile>(file, element, width, *size / row_bytes);
}

}  // namespace

arrow::Result<std::shared_ptr<TableFile>> OpenFvecsFile(const io::Location& file) {
  return OpenVecsFile(file, arrow::float32());
}

arrow::Result<std::shared_ptr<TableFile>> OpenIvecsFile(const io::Location& file) {
  return OpenVecsFile(file, arrow::int32());
}

arrow::Result<std::shared_ptr<TableFile>> OpenBvecsFile(const io::Location& file) {
  return OpenVecsFile(file, arrow::uint8());
}

}  // namespace kinjo::tabular
