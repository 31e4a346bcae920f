// The .npy layout (NEP 1): the magic "\x93NUMPY", a version (2 bytes), the length of the header (2
// bytes little-endian in version 1, 4 in 2 and 3), the header as a Python dict literal with the
// keys descr, fortran_order and shape, then the numbers.
#include "tabular/npy_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "arrow/array/array_nested.h"
#include "arrow/array/util.h"
#include "arrow/buffer.h"
#include "arrow/util/int_util_overflow.h"

namespace kinjo::tabular {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMaxWidth = 1 << 20;
// Of a batch: one is read into what the one before it has left in the cache.
constexpr int64_t kBatchBytes = int64_t{1} << 18;

// Reads the few Python literals that a header is made of.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  // Whether `token` comes next; takes it then.
  bool Take(std::string_view token) {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  bool TakeString(std::string* value) {
    const char quote = Take("'") ? '\'' : Take("\"") ? '"' : '\0';
    const size_t end = quote == '\0' ? std::string_view::npos : text_.find(quote);
    if (end == std::string_view::npos) return false;
    *value = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return true;
  }

  bool TakeNumber(int64_t* value) {
    Take("");
    const auto parsed = std::from_chars(text_.data(), text_.data() + text_.size(), *value);
    if (parsed.ec != std::errc() || *value < 0) return false;
    text_.remove_prefix(static_cast<size_t>(parsed.ptr - text_.data()));
    Take("L");  // Python 2 wrote long integers so
    return true;
  }

  // (), (n,), (n, m), ...
  bool TakeShape(std::vector<int64_t>* shape) {
    if (!Take("(")) return false;
    while (!Take(")")) {
      int64_t size = 0;
      if (!TakeNumber(&size)) return false;
      shape->push_back(size);
      if (!Take(",")) return Take(")");
    }
    return true;
  }

 private:
  std::string_view text_;
};

struct RawHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

bool ParseDict(std::string_view text, RawHeader* header) {
  LiteralReader reader(text);
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  if (!reader.Take("{")) return false;
  while (!reader.Take("}")) {
    std::string key;
    if (!reader.TakeString(&key) || !reader.Take(":")) return false;
    if (key == "descr") {
      // A list is a record type: its text is only there to be named in the refusal.
      has_descr = true;
      if (!reader.TakeString(&header->descr)) {
        header->descr = "a record type";
        return true;
      }
    } else if (key == "fortran_order") {
      has_order = true;
      header->fortran_order = reader.Take("True");
      if (!header->fortran_order && !reader.Take("False")) return false;
    } else if (key == "shape") {
      has_shape = reader.TakeShape(&header->shape);
      if (!has_shape) return false;
    } else {
      return false;
    }
    reader.Take(",");
  }
  return has_descr && has_order && has_shape;
}

arrow::Result<std::shared_ptr<arrow::DataType>> ElementType(const std::string& descr,
                                                            const std::string& uri) {
  struct Element {
    std::string_view descr;
    std::shared_ptr<arrow::DataType> type;
  };
  const std::array<Element, 5> elements = {{{"<f2", arrow::float16()},
                                            {"<f4", arrow::float32()},
                                            {"<f8", arrow::float64()},
                                            {"|i1", arrow::int8()},
                                            {"|u1", arrow::uint8()}}};
  for (const Element& element : elements) {
    if (element.descr == descr) return element.type;
  }
  if (descr.starts_with('>')) {
    return base::NotSupported(uri, " holds big-endian numbers (", descr,
                              "); save it with .astype('<", descr.substr(1), "')");
  }
  return base::NotSupported(uri, " holds numbers of type ", descr,
                            "; vectors are float16, float32, float64, int8 or uint8");
}

// Finds the dict's text behind the magic and the two forms of its length.
arrow::Result<std::string_view> FindDict(std::string_view head, const std::string& uri,
                                         int64_t* data_offset) {
  constexpr size_t kVersionEnd = 8;
  if (!head.starts_with(kMagic) || head.size() < kVersionEnd + 4) {
    return base::Corrupt(uri, 0, "not a .npy file: it doesn't begin with NumPy's mark");
  }
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(head[i])); };
  const uint32_t version = byte(6);
  if (version < 1 || version > 3) {
    return base::NotSupported(uri, " has .npy version ", version, "; versions 1 to 3 are read");
  }
  uint32_t length = byte(8) | byte(9) << 8;
  size_t begin = kVersionEnd + 2;
  if (version > 1) {
    length |= byte(10) << 16 | byte(11) << 24;
    begin += 2;
  }
  if (length > head.size() - begin) {
    return base::Corrupt(uri, kVersionEnd, "the .npy header of ", length,
                         " bytes is longer than the file or than ", kNpyHeaderBytes, " bytes");
  }
  *data_offset = static_cast<int64_t>(begin + length);
  return head.substr(begin, length);
}

class NpyFile final : public TableFile {
 public:
  NpyFile(io::Location location, NpyHeader header)
      : location_(std::move(location)), header_(std::move(header)) {
    auto list = arrow::fixed_size_list(arrow::field("item", header_.element, false),
                                       static_cast<int32_t>(header_.width));
    schema_ = arrow::schema({arrow::field("vector", std::move(list), false)});
  }

  const std::string& uri() const override { return location_.uri; }
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override { return header_.rows; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(const arrow::FieldVector& fields,
                                                                int64_t batch_rows) override;

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const arrow::FieldVector& fields, std::span<const uint64_t> ordinals) override {
    ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(location_));
    arrow::RecordBatchVector pieces;
    for (size_t next = 0; next < ordinals.size();) {
      size_t end = next + 1;  // a run of neighbours is one read
      while (end < ordinals.size() && ordinals[end] == ordinals[end - 1] + 1) ++end;
      if (ordinals[end - 1] >= static_cast<uint64_t>(header_.rows)) {
        return base::Invalid("row ", ordinals[end - 1], " of ", uri(),
                             " was asked for, but it has ", header_.rows, " rows");
      }
      ARROW_ASSIGN_OR_RAISE(auto rows, ReadRows(input.get(), static_cast<int64_t>(ordinals[next]),
                                                static_cast<int64_t>(end - next)));
      ARROW_ASSIGN_OR_RAISE(rows, SelectFields(*rows, fields));
      pieces.push_back(std::move(rows));
      next = end;
    }
    return Concatenate(arrow::schema(fields), pieces);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadRows(arrow::io::RandomAccessFile* input,
                                                              int64_t first, int64_t rows) const {
    const int64_t item_bytes = header_.element->byte_width();
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer,
                          arrow::AllocateBuffer(rows * header_.width * item_bytes));
    uint8_t* out = buffer->mutable_data();
    if (!header_.fortran_order) {
      ARROW_RETURN_NOT_OK(
          ReadItems(input, first * header_.width, rows * header_.width, item_bytes, out));
    } else {
      // Column after column in the file: read a column's piece, put its numbers a row apart.
      std::vector<uint8_t> column(static_cast<size_t>(rows * item_bytes));
      for (int64_t c = 0; c < header_.width; ++c) {
        ARROW_RETURN_NOT_OK(
            ReadItems(input, c * header_.rows + first, rows, item_bytes, column.data()));
        for (int64_t r = 0; r < rows; ++r) {
          std::memcpy(out + (r * header_.width + c) * item_bytes, column.data() + r * item_bytes,
                      static_cast<size_t>(item_bytes));
        }
      }
    }
    auto numbers = arrow::MakeArray(arrow::ArrayData::Make(
        header_.element, rows * header_.width, {nullptr, std::move(buffer)}, /*null_count=*/0));
    auto vectors = std::make_shared<arrow::FixedSizeListArray>(schema_->field(0)->type(), rows,
                                                               std::move(numbers));
    return arrow::RecordBatch::Make(schema_, rows, {std::move(vectors)});
  }

  const NpyHeader& header() const { return header_; }
  const io::Location& location() const { return location_; }

 private:
  arrow::Status ReadItems(arrow::io::RandomAccessFile* input, int64_t first, int64_t count,
                          int64_t item_bytes, uint8_t* out) const {
    const int64_t offset = header_.data_offset + first * item_bytes;
    const int64_t bytes = count * item_bytes;
    auto got = input->ReadAt(offset, bytes, out);
    if (!got.ok()) return FileError(got.status(), uri(), base::ErrorCode::kCorrupt);
    if (*got != bytes) {
      return base::Corrupt(uri(), static_cast<uint64_t>(offset), "the file ended within ", bytes,
                           " bytes that its header promised");
    }
    return arrow::Status::OK();
  }

  io::Location location_;
  NpyHeader header_;
  std::shared_ptr<arrow::Schema> schema_;
};

class NpyReader final : public arrow::RecordBatchReader {
 public:
  NpyReader(NpyFile file, std::shared_ptr<arrow::io::RandomAccessFile> input, int64_t batch_rows)
      : file_(std::move(file)), input_(std::move(input)), batch_rows_(batch_rows) {}

  std::shared_ptr<arrow::Schema> schema() const override { return file_.schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    const int64_t rows = std::min(batch_rows_, file_.header().rows - next_row_);
    *batch = nullptr;
    if (rows == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(*batch, file_.ReadRows(input_.get(), next_row_, rows));
    next_row_ += rows;
    return arrow::Status::OK();
  }

 private:
  NpyFile file_;
  std::shared_ptr<arrow::io::RandomAccessFile> input_;
  int64_t batch_rows_;
  int64_t next_row_ = 0;
};

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> NpyFile::Read(const arrow::FieldVector&,
                                                                       int64_t batch_rows) {
  ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(location_));
  if (!header_.fortran_order) {
    const int64_t row_bytes = header_.width * header_.element->byte_width();
    batch_rows = std::min(batch_rows, std::max<int64_t>(kBatchBytes / row_bytes, 1));
  }
  return std::make_shared<NpyReader>(*this, std::move(input), batch_rows);
}

}  // namespace

arrow::Result<NpyHeader> ParseNpyHeader(std::string_view head, int64_t file_size,
                                        const std::string& uri) {
  NpyHeader header;
  ARROW_ASSIGN_OR_RAISE(const std::string_view dict, FindDict(head, uri, &header.data_offset));
  RawHeader raw;
  if (!ParseDict(dict, &raw)) {
    return base::Corrupt(uri, kMagic.size(),
                         "the .npy header can't be read: ", dict.substr(0, 200));
  }
  ARROW_ASSIGN_OR_RAISE(header.element, ElementType(raw.descr, uri));
  if (raw.shape.empty() || raw.shape.size() > 2) {
    return base::NotSupported(uri, " is an array of ", raw.shape.size(),
                              " dimensions; it must have 1 (a vector) or 2 (rows of vectors)");
  }
  header.fortran_order = raw.fortran_order;
  header.width = raw.shape.back();
  header.rows = raw.shape.size() == 2 ? raw.shape[0] : 1;
  if (header.width < 1 || header.width > kMaxWidth) {
    return base::Invalid("the vectors of ", uri, " are ", header.width,
                         " wide; the width must be from 1 to ", kMaxWidth);
  }
  int64_t bytes = 0;
  const bool overflows = arrow::internal::MultiplyWithOverflow(header.rows, header.width, &bytes) ||
                         arrow::internal::MultiplyWithOverflow(
                             bytes, static_cast<int64_t>(header.element->byte_width()), &bytes);
  if (overflows || bytes != file_size - header.data_offset) {
    return base::Corrupt(uri, static_cast<uint64_t>(header.data_offset), "the header promises ",
                         header.rows, " x ", header.width, " numbers of type ",
                         header.element->ToString(), ", but the file has ",
                         file_size - header.data_offset, " bytes of numbers");
  }
  return header;
}

arrow::Result<std::shared_ptr<TableFile>> OpenNpyFile(const io::Location& file) {
  ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(file));
  auto size = input->GetSize();
  if (!size.ok()) return FileError(size.status(), file.uri, base::ErrorCode::kCorrupt);
  auto head = input->ReadAt(0, std::min(*size, kNpyHeaderBytes));
  if (!head.ok()) return FileError(head.status(), file.uri, base::ErrorCode::kCorrupt);
  ARROW_ASSIGN_OR_RAISE(NpyHeader header,
                        ParseNpyHeader(std::string_view(**head), *size, file.uri));
  return std::make_shared<NpyFile>(file, std::move(header));
}

}  // namespace kinjo::tabular
