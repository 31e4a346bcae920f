#include "format/file/field_writer.h"

#include <utility>

#include "format/file/nested.h"
#include "format/file/page_encoder.h"
#include "format/file/shredding.h"
#include "format/file/write_choices.h"
#include "format/proto/write_file_messages.h"

namespace kinjo::format::file {

namespace {

class ShreddedFieldWriter final : public FieldWriter {
 public:
  explicit ShreddedFieldWriter(const FieldWriteContext& context) : context_(context) {}

  arrow::Status Init(const Field& field) {
    ARROW_ASSIGN_OR_RAISE(plan_, PlanField(field, context_.columns));
    for (const StoredLeaf& leaf : plan_.leaves) {
      Column column;
      column.sink = std::make_unique<ColumnSink>(leaf.shape, 0);
      ARROW_ASSIGN_OR_RAISE(column.choices, MakeWriteChoices(field, *leaf.field, context_.version));
      columns_.push_back(std::move(column));
    }
    return arrow::Status::OK();
  }

  arrow::Status Add(const arrow::ArrayData& array, int64_t begin, int64_t count,
                    PageSink* pages) override {
    for (size_t leaf = 0; leaf < columns_.size(); ++leaf) {
      Column& column = columns_[leaf];
      ARROW_RETURN_NOT_OK(
          ShredLeaf(plan_, leaf, array, begin, count, context_.path, column.sink.get()));
      column.num_rows += static_cast<uint64_t>(count);
      if (BytesOf(column) < context_.page_bytes) continue;
      const uint64_t values = column.sink->values.size();
      const uint64_t bytes = column.sink->values.gathered_bytes();
      ARROW_RETURN_NOT_OK(WritePage(leaf, pages));
      // The next page will be about as large: room that grows is room that is copied.
      ARROW_RETURN_NOT_OK(column.sink->values.Reserve(values + values / 8, bytes + bytes / 8));
    }
    return arrow::Status::OK();
  }

  arrow::Status Flush(PageSink* pages) override {
    for (size_t leaf = 0; leaf < columns_.size(); ++leaf) {
      if (columns_[leaf].num_rows != 0) ARROW_RETURN_NOT_OK(WritePage(leaf, pages));
    }
    return arrow::Status::OK();
  }

  uint64_t pending_bytes() const override {
    uint64_t bytes = 0;
    for (const Column& column : columns_) bytes += BytesOf(column);
    return bytes;
  }

 private:
  struct Column {
    std::unique_ptr<ColumnSink> sink;
    WriteChoices choices;
    uint64_t first_row = 0;
    uint64_t num_rows = 0;  // gathered
  };

  static uint64_t BytesOf(const Column& column) {
    const Levels& levels = column.sink->levels;
    return column.sink->values.gathered_bytes() + 2 * (levels.rep.size() + levels.def.size());
  }

  arrow::Status WritePage(size_t leaf, PageSink* pages) {
    const StoredLeaf& stored = plan_.leaves[leaf];
    Column& column = columns_[leaf];
    const uint64_t entries = column.num_rows * stored.entries_per_row;
    ARROW_ASSIGN_OR_RAISE(const PageContent content,
                          MakePageContent(stored.shape, entries, column.sink.get()));
    column.sink = std::make_unique<ColumnSink>(stored.shape, 0);
    ARROW_ASSIGN_OR_RAISE(const EncodedPage page, EncodePage(content, column.choices));
    proto::Encoding encoding{.kind = proto::Encoding::Kind::kDirect,
                             .type_url = "/lance.encodings21.PageLayout",
                             .value = proto::Write(page.layout)};
    ARROW_RETURN_NOT_OK(pages->AddPage(stored.column, page.buffers, std::move(encoding), entries,
                                       column.first_row));
    column.first_row += column.num_rows;
    column.num_rows = 0;
    return arrow::Status::OK();
  }

  const FieldWriteContext& context_;
  FieldPlan plan_;
  std::vector<Column> columns_;
};

}  // namespace

arrow::Result<std::unique_ptr<FieldWriter>> MakeFieldWriter(const Field& field,
                                                            const FieldWriteContext& context) {
  auto writer = std::make_unique<ShreddedFieldWriter>(context);
  ARROW_RETURN_NOT_OK(writer->Init(field));
  return writer;
}

}  // namespace kinjo::format::file
