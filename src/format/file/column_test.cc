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
  auto column = Column::Make(reader, std::make_shared<PageCache>(), 0, kRows, VectorPages(kPages))
                    .ValueOrDie();
  Field field;
  field.id = 0;
  field.name = "vector";
  field.logical_type = "fixed_size_list:uint32:1024";
  const FieldPlan plan = PlanField(field, ColumnMap{{0, 0}}).ValueOrDie();
  std::vector<RowRange> ranges;
  for (uint64_t row = 3; row < kRows; row += 128) ranges.push_back({row, row + 1});
  std::vector<std::unique_ptr<ColumnSink>> sinks;
  sinks.push_back(std::make_unique<ColumnSink>(plan.leaves[0].shape, ranges.size()));
  ASSERT_TRUE(column->Read(plan.leaves[0].shape, ranges, sinks[0].get(), nullptr).ok());
  EXPECT_LT(reader->most_bytes(), uint64_t{40} << 20);
  const auto data = BuildArray(plan, &sinks, ranges.size(), reader->path()).ValueOrDie();
  const auto* numbers = data->child_data[0]->GetValues<uint32_t>(1);
  for (size_t i = 0; i < ranges.size(); ++i) EXPECT_EQ(numbers[i * 1024], ranges[i].begin);
}

template <typename T>
void Append(const std::vector<T>& values, std::string* out) {
  out->append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  out->resize(RoundUpTo8(out->size()));
}

// A column of int32 with nulls: one mini-block page with a dictionary, its rows in one chunk. Every
// third row is null, and its index is beyond the dictionary.
struct DictionaryColumn {
  static constexpr int64_t kDictionary[] = {100, 200, 300, 400};

  explicit DictionaryColumn(uint64_t num_rows,
                            std::shared_ptr<PageCache> shared = std::make_shared<PageCache>())
      : cache(std::move(shared)) {
    std::vector<uint16_t> def;
    std::vector<uint32_t> indices;
    for (uint64_t row = 0; row < num_rows; ++row) {
      def.push_back(row % 3 == 0);
      indices.push_back(row % 3 == 0 ? 4000000000u : row % 4);
    }
    std::string chunk;
    Append(
        std::vector<uint16_t>{static_cast<uint16_t>(num_rows), static_cast<uint16_t>(num_rows * 2),
                              static_cast<uint16_t>(num_rows * 4 % 65536),
                              static_cast<uint16_t>(num_rows * 4 / 65536)},
        &chunk);
    chunk.resize(RoundUpTo8(2 + 2 + 4));
    Append(def, &chunk);
    Append(indices, &chunk);
    std::string file;
    Append(std::vector<uint32_t>{static_cast<uint32_t>((chunk.size() / 8 - 1) << 4)}, &file);
    proto::Page page;
    page.length = num_rows;
    page.buffer_offsets = {0, file.size(), file.size() + chunk.size()};
    page.buffer_sizes = {4, chunk.size(), 16};
    file += chunk;
    Append(std::vector<int32_t>(std::begin(kDictionary), std::end(kDictionary)), &file);
    const auto flat = [](uint64_t bits) { return Message().Sub(1, Message().Number(1, bits)); };
    const Message mini_block = Message()
                                   .Sub(2, flat(16))
                                   .Sub(3, flat(32))
                                   .Sub(4, flat(32))
                                   .Number(5, 4)
                                   .Bytes(6, std::string(1, 3))
                                   .Number(7, 1)
                                   .Number(9, num_rows)
                                   .Number(10, 1);
    page.encoding.kind = proto::Encoding::Kind::kDirect;
    page.encoding.type_url = "/lance.encodings21.PageLayout";
    page.encoding.value = Message().Sub(1, mini_block).text();
    proto::ColumnMetadata metadata;
    metadata.pages.push_back(std::move(page));
    reader = io::OpenBuffer(arrow::Buffer::FromString(std::move(file)), "made.lance", counters);
    column = Column::Make(reader, cache, 0, num_rows, std::move(metadata)).ValueOrDie();
    field.id = 0;
    field.name = "number";
    field.logical_type = "int32";
    plan = PlanField(field, ColumnMap{{0, 0}}).ValueOrDie();
  }

  // Reads the ranges and compares every value.
  void ExpectRows(const std::vector<RowRange>& ranges) {
    uint64_t total = 0;
    for (const RowRange& range : ranges) total += range.end - range.begin;
    std::vector<std::unique_ptr<ColumnSink>> sinks;
    sinks.push_back(std::make_unique<ColumnSink>(plan.leaves[0].shape, total));
    const arrow::Status status =
        column->Read(plan.leaves[0].shape, ranges, sinks[0].get(), nullptr);
    ASSERT_TRUE(status.ok()) << status;
    const auto array = arrow::MakeArray(BuildArray(plan, &sinks, total, "made").ValueOrDie());
    const auto& numbers = static_cast<const arrow::Int32Array&>(*array);
    int64_t at = 0;
    for (const RowRange& range : ranges) {
      for (uint64_t row = range.begin; row < range.end; ++row, ++at) {
        ASSERT_EQ(numbers.IsNull(at), row % 3 == 0) << row;
        if (row % 3 != 0) {
          ASSERT_EQ(numbers.Value(at), kDictionary[row % 4]) << row;
        }
      }
    }
  }

  std::shared_ptr<PageCache> cache;
  std::shared_ptr<io::IoCounters> counters = std::make_shared<io::IoCounters>();
  std::shared_ptr<io::RandomReader> reader;
  std::shared_ptr<Column> column;
  Field field;
  FieldPlan plan;
};

TEST(ColumnTest, ADictionaryIsDecodedOnceForAllReads) {
  DictionaryColumn made(1000);
  made.ExpectRows({{0, 1000}});
  EXPECT_EQ(made.cache->states_made(), 1u);
  const uint64_t bytes = made.counters->bytes_read;
  for (uint64_t row = 0; row + 7 < 1000; row += 9) {
    made.ExpectRows({{row, row + 1}, {row + 3, row + 7}});
  }
  EXPECT_EQ(made.cache->states_made(), 1u);
  EXPECT_GT(made.cache->kept_bytes(), 16u);
  EXPECT_GT(made.counters->bytes_read, bytes);
}

// Looking a null up from the start of its chunk, one row after another, would take hours here.
TEST(ColumnTest, ManyNullsWithWildIndicesAreFoundAtOnce) {
  DictionaryColumn made(32000);
  std::vector<RowRange> ranges;
  for (uint64_t row = 0; row + 1 < 32000; row += 2) ranges.push_back({row, row + 1});
  for (int i = 0; i < 20; ++i) made.ExpectRows(ranges);
}

TEST(ColumnTest, ColumnsThatShareACacheKeepTheirOwnPages) {
  const auto cache = std::make_shared<PageCache>();
  DictionaryColumn one(90, cache);
  DictionaryColumn two(600, cache);
  for (int i = 0; i < 3; ++i) {
    one.ExpectRows({{0, 90}});
    two.ExpectRows({{5, 600}});
  }
  EXPECT_EQ(cache->states_made(), 2u);
}

// No room for any state: each read makes it again, and the answer is the same.
TEST(ColumnTest, WithoutACacheEveryReadIsStillRight) {
  DictionaryColumn made(200, std::make_shared<PageCache>(0));
  for (int i = 0; i < 3; ++i) made.ExpectRows({{2, 9}, {150, 200}});
  EXPECT_EQ(made.cache->states_made(), 3u);
  EXPECT_EQ(made.cache->kept_bytes(), 0u);
}

}  // namespace
}  // namespace kinjo::format::file
