#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow/array.h"
#include "arrow/util/compression.h"
#include "format/file/lance_file.h"
#include "format/file/nested.h"
#include "format/file/page.h"

namespace kinjo::format::file {
namespace {

using proto::ArrayEncoding;
using Kind = ArrayEncoding::Kind;

const std::string kPath = "made.lance";

ArrayEncoding Flat(uint64_t bits, uint32_t buffer) {
  ArrayEncoding node;
  node.kind = Kind::kFlat;
  node.bits_per_value = bits;
  node.buffer_index = buffer;
  return node;
}

ArrayEncoding Strings() {
  ArrayEncoding node;
  node.kind = Kind::kBinary;
  node.children = {Flat(64, 2), Flat(8, 3)};
  return node;
}

ArrayEncoding Dictionary() {
  ArrayEncoding node;
  node.kind = Kind::kDictionary;
  node.num_items = 2;
  node.children = {Flat(64, 1), Strings()};
  return node;
}

ArrayEncoding WithBitmap(ArrayEncoding values) {
  ArrayEncoding node;
  node.kind = Kind::kNullable;
  node.nulls = ArrayEncoding::Nulls::kSome;
  node.children = {Flat(1, 0), std::move(values)};
  return node;
}

ArrayEncoding ListsOf(uint64_t dimension, ArrayEncoding items) {
  ArrayEncoding node;
  node.kind = Kind::kFixedSizeList;
  node.dimension = dimension;
  node.children = {std::move(items)};
  return node;
}

arrow::Status Make(const ArrayEncoding& encoding, uint64_t num_rows) {
  PagePlace place{.where = Where{.path = &kPath, .column = 0}, .buffers = {}, .num_rows = num_rows};
  place.buffers.assign(4, {0, 1024});
  return MakeArrayPage(encoding, std::move(place)).status();
}

TEST(ArrayPageTest, TakesStringsAsTheyAreWritten) {
  EXPECT_TRUE(Make(Strings(), 8).ok());
  EXPECT_TRUE(Make(Dictionary(), 8).ok());
  EXPECT_TRUE(Make(WithBitmap(ListsOf(3, WithBitmap(Flat(32, 1)))), 8).ok());
}

// The parts of such a page would be taken for one another: the bitmap for the indices.
TEST(ArrayPageTest, RefusesABitmapOrListAroundStrings) {
  for (const ArrayEncoding& encoding :
       {WithBitmap(Dictionary()), WithBitmap(Strings()), ListsOf(2, WithBitmap(Dictionary())),
        ListsOf(2, Strings())}) {
    const arrow::Status status = Make(encoding, 8);
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotSupported) << status.ToString();
  }
}

TEST(ArrayPageTest, RefusesMoreItemsThanCanBeCounted) {
  EXPECT_TRUE(Make(ListsOf(uint64_t{1} << 20, Flat(32, 0)), 8).ok());
  const arrow::Status status = Make(ListsOf(uint64_t{1} << 20, Flat(32, 0)), uint64_t{1} << 50);
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCorrupt) << status.ToString();
}

// Stored bytes of a ZSTD buffer.
std::string Compressed(const std::string& bytes) {
  auto codec = arrow::util::Codec::Create(arrow::Compression::ZSTD).ValueOrDie();
  const auto size = static_cast<int64_t>(bytes.size());
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  std::string out(static_cast<size_t>(8 + codec->MaxCompressedLen(size, data)), 0);
  std::memcpy(out.data(), &size, 8);
  const int64_t written = codec
                              ->Compress(size, data, static_cast<int64_t>(out.size()) - 8,
                                         reinterpret_cast<uint8_t*>(out.data()) + 8)
                              .ValueOrDie();
  out.resize(8 + static_cast<size_t>(written));
  return out;
}

// A page of strings with a dictionary. Bit i of `compressed`: buffer i is stored as ZSTD. Row r is
// item r % 4; item 3 is null.
struct StringPage {
  explicit StringPage(int compressed) {
    std::string indices;
    for (uint64_t row = 0; row < kRows; ++row) indices.push_back(static_cast<char>((row + 1) % 4));
    const uint64_t numbers[] = {1, 3, 6};
    const std::string ends(reinterpret_cast<const char*>(numbers), sizeof(numbers));
    const std::string parts[] = {indices, ends, "abbccc"};
    ArrayEncoding nodes[] = {Flat(8, 0), Flat(64, 1), Flat(8, 2)};
    PagePlace place{.where = Where{.path = &kPath, .column = 0}, .buffers = {}, .num_rows = kRows};
    std::string file;
    for (int i = 0; i < 3; ++i) {
      const bool packed = ((compressed >> i) & 1) != 0;
      const std::string stored = packed ? Compressed(parts[i]) : parts[i];
      if (packed) nodes[i].compression = "zstd";
      place.buffers.push_back({file.size(), stored.size()});
      file += stored;
    }
    ArrayEncoding strings;
    strings.kind = Kind::kBinary;
    strings.children = {nodes[1], nodes[2]};
    ArrayEncoding dictionary;
    dictionary.kind = Kind::kDictionary;
    dictionary.num_items = 3;
    dictionary.children = {nodes[0], strings};
    reader = io::OpenBuffer(arrow::Buffer::FromString(std::move(file)), kPath);
    page = MakeArrayPage(dictionary, std::move(place)).ValueOrDie();
    field.id = 0;
    field.name = "text";
    field.logical_type = "string";
    plan = PlanField(field, ColumnMap{{0, 0}}).ValueOrDie();
  }

  std::string Read(const std::shared_ptr<const PageState>& state,
                   const std::vector<PageRows>& rows) const {
    uint64_t total = 0;
    for (const PageRows& range : rows) total += range.end - range.begin;
    std::vector<std::unique_ptr<ColumnSink>> sinks;
    sinks.push_back(std::make_unique<ColumnSink>(plan.leaves[0].shape, total));
    const auto read = page->Start(plan.leaves[0].shape, rows, state).ValueOrDie();
    std::vector<io::ByteRange> lookups, data;
    EXPECT_TRUE(read->PlanLookups(&lookups).ok());
    const auto looked_up = reader->ReadRanges(lookups).ValueOrDie();
    EXPECT_TRUE(read->PlanData(looked_up, &data).ok());
    const auto buffers = reader->ReadRanges(data).ValueOrDie();
    Scratch scratch;
    const arrow::Status status = read->Decode(buffers, &scratch, sinks[0].get());
    EXPECT_TRUE(status.ok()) << status;
    return arrow::MakeArray(BuildArray(plan, &sinks, total, kPath).ValueOrDie())->ToString();
  }

  static constexpr uint64_t kRows = 20;
  std::shared_ptr<io::RandomReader> reader;
  std::unique_ptr<Page> page;
  Field field;
  FieldPlan plan;
};

TEST(ArrayPageTest, OneStateServesEveryRead) {
  for (int compressed = 0; compressed < 8; ++compressed) {
    SCOPED_TRACE(compressed);
    const StringPage made(compressed);
    const auto stored = made.reader->ReadRanges(made.page->StateRanges()).ValueOrDie();
    const auto state = made.page->MakeState(stored).ValueOrDie();
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(made.Read(state, {{1, 5}, {11, 13}}),
                "[\n  \"bb\",\n  \"ccc\",\n  null,\n  \"a\",\n  null,\n  \"a\"\n]");
      EXPECT_EQ(made.Read(state, {{18, 19}}), "[\n  \"ccc\"\n]");
    }
  }
}

}  // namespace
}  // namespace kinjo::format::file
