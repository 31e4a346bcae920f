#include "format/file/column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow/buffer.h"
#include "format/file/nested.h"
#include "format/table/synthetic_manifest.h"
#include "io/coalesce.h"

namespace kinjo::format::file {
namespace {

using synthetic::Message;

constexpr uint64_t kRowBytes = 4096;
constexpr uint64_t kPageRows = 1024;

// A store as far away as an object store: gaps up to 1 MiB are read. Notes the most that one call
// brings into memory.
class FarReader final : public io::RandomReader {
 public:
  explicit FarReader(std::shared_ptr<arrow::Buffer> buffer)
      : inner_(io::OpenBuffer(std::move(buffer), "far.lance")) {}

  const std::string& path() const override { return inner_->path(); }
  uint64_t size() const override { return inner_->size(); }
  uint64_t coalesce_gap_bytes() const override { return 1 << 20; }
  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadRanges(
      std::span<const io::ByteRange> ranges) override {
    uint64_t bytes = 0;
    for (const auto& request : io::Coalesce(ranges, coalesce_gap_bytes())) {
      bytes += request.range.length;
    }
    most_bytes_ = std::max(most_bytes_, bytes);
    return inner_->ReadRanges(ranges);
  }

  uint64_t most_bytes() const { return most_bytes_; }

 private:
  std::shared_ptr<io::RandomReader> inner_;
  uint64_t most_bytes_ = 0;
};

// Pages of vectors, one after another.
proto::ColumnMetadata VectorPages(uint64_t count) {
  const Message flat = Message().Sub(1, Message().Number(1, kRowBytes * 8));
  const Message full_zip =
      Message().Number(3, kRowBytes * 8).Sub(7, flat).Bytes(8, std::string(1, 1));
  proto::ColumnMetadata metadata;
  for (uint64_t i = 0; i < count; ++i) {
    proto::Page page;
    page.length = kPageRows;
    page.buffer_offsets = {i * kPageRows * kRowBytes};
    page.buffer_sizes = {kPageRows * kRowBytes};
    page.encoding.kind = proto::Encoding::Kind::kDirect;
    page.encoding.type_url = "/lance.encodings21.PageLayout";
    page.encoding.value = Message().Sub(3, full_zip).text();
    metadata.pages.push_back(std::move(page));
  }
  return metadata;
}

TEST(ColumnTest, ScatteredRowsOfAFarFileDontBringAllOfItIntoMemory) {
  constexpr uint64_t kPages = 20;  // of 4 MiB
  constexpr uint64_t kRows = kPages * kPageRows;
  auto buffer = arrow::AllocateBuffer(static_cast<int64_t>(kRows * kRowBytes)).ValueOrDie();
  for (uint64_t row = 0; row < kRows; ++row) {
    std::memcpy(buffer->mutable_data() + row * kRowBytes, &row, sizeof(uint32_t));
  }
  auto reader = std::make_shared<FarReader>(std::move(buffer));
  auto column = Column::Make(reader, 0, kRows, VectorPages(kPages)).ValueOrDie();
  Field field;
  field.id = 0;
  field.name = "vector";
  field.logical_type = "fixed_size_list:uint32:1024";
  const FieldPlan plan = PlanField(field, ColumnMap{{0, 0}}).ValueOrDie();
  std::vector<RowRange> ranges;
  for (uint64_t row = 3; row < kRows; row += 128) ranges.push_back({row, row + 1});
  std::vector<std::unique_ptr<ColumnSink>> sinks;
  sinks.push_back(std::make_unique<ColumnSink>(plan.leaves[0].shape, ranges.size()));
  ASSERT_TRUE(column->Read(plan.leaves[0].shape, ranges, sinks[0].get()).ok());
  EXPECT_LT(reader->most_bytes(), uint64_t{40} << 20);
  const auto data = BuildArray(plan, &sinks, ranges.size(), reader->path()).ValueOrDie();
  const auto* numbers = data->child_data[0]->GetValues<uint32_t>(1);
  for (size_t i = 0; i < ranges.size(); ++i) EXPECT_EQ(numbers[i * 1024], ranges[i].begin);
}

}  // namespace
}  // namespace kinjo::format::file
