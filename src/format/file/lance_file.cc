#include "format/file/lance_file.h"

#include <mutex>
#include <utility>

#include "arrow/array/util.h"
#include "format/file/column.h"
#include "format/file/container.h"
#include "format/file/field_read_v20.h"
#include "format/file/nested.h"

namespace kinjo::format {

namespace {

using file::Column;
using file::ListColumn;
using file::Where;

// What decodes pages knows their column by its number, who reads the message by its name.
arrow::Status WithName(const Field& field, const arrow::Status& status) {
  if (!status.message().starts_with("data file, column")) return status;
  return status.WithMessage("field '", field.name, "': ", status.message());
}

class OpenLanceFile final : public LanceFile, private file::ColumnSource {
 public:
  OpenLanceFile(std::shared_ptr<io::RandomReader> reader, std::shared_ptr<PageCache> cache,
                file::Container container)
      : reader_(std::move(reader)),
        cache_(std::move(cache)),
        container_(std::move(container)),
        own_columns_(file::NumberColumns(container_.schema, container_.version)),
        columns_(container_.columns.size()),
        list_columns_(container_.columns.size()) {}

  FileVersion version() const override { return container_.version; }
  uint64_t num_rows() const override { return container_.num_rows; }
  uint32_t num_columns() const override { return static_cast<uint32_t>(columns_.size()); }
  const std::string& path() const override { return reader_->path(); }
  const Schema& schema() const override { return container_.schema; }
  const ColumnMap& own_columns() const override { return own_columns_; }
  int num_global_buffers() const override {
    return static_cast<int>(container_.global_buffers.size());
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadGlobalBuffer(int number) override;
  arrow::Result<std::shared_ptr<arrow::Array>> ReadRowsInTurn(const Field& field,
                                                              const ColumnMap& columns,
                                                              std::span<const RowRange> ranges,
                                                              PagesAtHand* at_hand) override;
  arrow::Result<std::vector<std::string>> DescribePages(uint32_t column) override;

 private:
  arrow::Status CheckRanges(const Field& field, std::span<const RowRange> ranges) const;
  arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadField(const Field& field,
                                                             const ColumnMap& columns,
                                                             std::span<const RowRange> ranges,
                                                             PagesAtHand* at_hand);
  arrow::Status ReadLeaf(const file::StoredLeaf& leaf, std::span<const RowRange> ranges,
                         file::ColumnSink* sink, PagesAtHand* at_hand);
  arrow::Result<proto::ColumnMetadata> ReadMetadata(uint32_t column) const;
  arrow::Result<std::shared_ptr<Column>> OpenColumn(uint32_t number, uint64_t rows) override;
  arrow::Result<std::shared_ptr<ListColumn>> OpenListColumn(uint32_t number,
                                                            uint64_t rows) override;

  const std::shared_ptr<io::RandomReader> reader_;
  const std::shared_ptr<PageCache> cache_;
  const file::Container container_;
  const ColumnMap own_columns_;
  std::mutex mutex_;  // guards the pointers, not what they point to
  std::vector<std::shared_ptr<Column>> columns_;
  std::vector<std::shared_ptr<ListColumn>> list_columns_;
};

arrow::Result<std::shared_ptr<arrow::Buffer>> OpenLanceFile::ReadGlobalBuffer(int number) {
  if (number < 0 || number >= num_global_buffers()) {
    return base::Corrupt(path(), reader_->size(), "global buffer ", number, " of ",
                         num_global_buffers());
  }
  return container_.Read(reader_.get(), container_.global_buffers[static_cast<size_t>(number)]);
}

arrow::Result<proto::ColumnMetadata> OpenLanceFile::ReadMetadata(uint32_t column) const {
  if (column >= num_columns()) {
    return base::Corrupt(path(), reader_->size(), "column ", column, " of a file with ",
                         num_columns(), " columns");
  }
  const io::ByteRange range = container_.columns[column];
  ARROW_ASSIGN_OR_RAISE(auto bytes, container_.Read(reader_.get(), range));
  proto::ColumnMetadata metadata;
  if (!proto::ParseColumnMetadata(std::string_view(*bytes), &metadata)) {
    return Where{.path = &path(), .offset = range.offset, .column = column}.Corrupt(
        "malformed column metadata");
  }
  return metadata;
}

arrow::Result<std::shared_ptr<Column>> OpenLanceFile::OpenColumn(uint32_t number, uint64_t rows) {
  if (number < num_columns()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (columns_[number] != nullptr) return columns_[number];
  }
  ARROW_ASSIGN_OR_RAISE(auto metadata, ReadMetadata(number));
  ARROW_ASSIGN_OR_RAISE(auto column,
                        Column::Make(reader_, cache_, number, rows, std::move(metadata)));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (columns_[number] == nullptr) columns_[number] = std::move(column);
  return columns_[number];
}

arrow::Result<std::shared_ptr<ListColumn>> OpenLanceFile::OpenListColumn(uint32_t number,
                                                                         uint64_t rows) {
  if (number < num_columns()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (list_columns_[number] != nullptr) return list_columns_[number];
  }
  ARROW_ASSIGN_OR_RAISE(auto metadata, ReadMetadata(number));
  ARROW_ASSIGN_OR_RAISE(auto column, ListColumn::Make(reader_, cache_, number, rows, metadata));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (list_columns_[number] == nullptr) list_columns_[number] = std::move(column);
  return list_columns_[number];
}

arrow::Status OpenLanceFile::CheckRanges(const Field& field,
                                         std::span<const RowRange> ranges) const {
  uint64_t previous = 0;
  for (const RowRange& range : ranges) {
    if (range.begin < previous || range.end < range.begin || range.end > num_rows()) {
      return base::Invalid("reading '", field.name, "' of ", path(), ": rows ", range.begin, " to ",
                           range.end, " after row ", previous, " of ", num_rows());
    }
    previous = range.end;
  }
  return arrow::Status::OK();
}

arrow::Status OpenLanceFile::ReadLeaf(const file::StoredLeaf& leaf,
                                      std::span<const RowRange> ranges, file::ColumnSink* sink,
                                      PagesAtHand* at_hand) {
  const uint64_t entries = leaf.entries_per_row;
  uint64_t all_entries = 0;
  if (!file::CheckedMultiply(num_rows(), entries, &all_entries)) {
    return Where{.path = &path(), .column = leaf.column}.Corrupt(num_rows(), " rows of ", entries,
                                                                 " structs each");
  }
  ARROW_ASSIGN_OR_RAISE(auto column, OpenColumn(leaf.column, all_entries));
  if (entries == 1) return column->Read(leaf.shape, ranges, sink, at_hand);
  std::vector<RowRange> own;
  for (const RowRange& range : ranges) own.push_back({range.begin * entries, range.end * entries});
  return column->Read(leaf.shape, own, sink, at_hand);
}

arrow::Result<std::shared_ptr<arrow::Array>> OpenLanceFile::ReadRowsInTurn(
    const Field& field, const ColumnMap& columns, std::span<const RowRange> ranges,
    PagesAtHand* at_hand) {
  ARROW_RETURN_NOT_OK(CheckRanges(field, ranges));
  const auto data = ReadField(field, columns, ranges, at_hand);
  if (!data.ok()) return WithName(field, data.status());
  return arrow::MakeArray(*data);
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> OpenLanceFile::ReadField(
    const Field& field, const ColumnMap& columns, std::span<const RowRange> ranges,
    PagesAtHand* at_hand) {
  uint64_t total = 0;
  for (const RowRange& range : ranges) total += range.end - range.begin;
  if (version().minor == 0) {
    return file::ReadFieldV20(field, columns, ranges, num_rows(),
                              {path(), this, at_hand, reader_.get()});
  }
  ARROW_ASSIGN_OR_RAISE(const file::FieldPlan plan, file::PlanField(field, columns));
  if (plan.leaves.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto nulls,
                          arrow::MakeArrayOfNull(plan.root.type, static_cast<int64_t>(total)));
    return nulls->data();
  }
  std::vector<std::unique_ptr<file::ColumnSink>> sinks;
  for (const file::StoredLeaf& leaf : plan.leaves) {
    sinks.push_back(std::make_unique<file::ColumnSink>(leaf.shape, total * leaf.entries_per_row));
    if (total == 0) continue;
    ARROW_RETURN_NOT_OK(ReadLeaf(leaf, ranges, sinks.back().get(), at_hand));
  }
  return file::BuildArray(plan, &sinks, total, path(), reader_.get());
}

arrow::Result<std::vector<std::string>> OpenLanceFile::DescribePages(uint32_t column) {
  ARROW_ASSIGN_OR_RAISE(const auto metadata, ReadMetadata(column));
  std::vector<std::string> texts;
  for (const proto::Page& page : metadata.pages) {
    proto::PageLayout layout;
    proto::ArrayEncoding array;
    std::string text = page.encoding.type_url;
    if (text == "/lance.encodings21.PageLayout" &&
        proto::ParsePageLayout(page.encoding.value, &layout)) {
      text = proto::Describe(layout);
    } else if (text == "/lance.encodings.ArrayEncoding" &&
               proto::ParseArrayEncoding(page.encoding.value, &array)) {
      text = proto::Describe(array);
    }
    texts.push_back(base::Concat(text, " rows=", page.length));
  }
  return texts;
}

}  // namespace

arrow::Result<std::shared_ptr<LanceFile>> LanceFile::Open(std::shared_ptr<io::RandomReader> reader,
                                                          std::shared_ptr<PageCache> cache) {
  if (cache == nullptr) cache = std::make_shared<PageCache>();
  ARROW_ASSIGN_OR_RAISE(auto container, file::Container::Open(reader.get()));
  return std::make_shared<OpenLanceFile>(std::move(reader), std::move(cache), std::move(container));
}

}  // namespace kinjo::format
