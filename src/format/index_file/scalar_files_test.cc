// B-tree and bitmap files made in memory: what is read, and what is refused.
#include <cstring>
#include <string>
#include <vector>

#include "arrow/array/builder_binary.h"
#include "arrow/array/builder_primitive.h"
#include "format/index_file/bitmap_file.h"
#include "format/index_file/btree_file.h"
#include "format/index_file/index_fixture.h"
#include "format/index_file/row_id_map.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::format {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Builder, typename T>
std::shared_ptr<arrow::Array> ArrayOf(const std::vector<T>& values) {
  Builder builder;
  EXPECT_TRUE(builder.AppendValues(values).ok());
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<arrow::Array> Int32s(const std::vector<int32_t>& values) {
  return ArrayOf<arrow::Int32Builder>(values);
}
std::shared_ptr<arrow::Array> Uint32s(const std::vector<uint32_t>& values) {
  return ArrayOf<arrow::UInt32Builder>(values);
}

/// Five values in pages of two; a test changes what it is about.
struct Btree {
  std::shared_ptr<MemoryLanceFile> lookup = std::make_shared<MemoryLanceFile>("page_lookup.lance");
  std::shared_ptr<MemoryLanceFile> data = std::make_shared<MemoryLanceFile>("page_data.lance");

  Btree() {
    lookup->SetMetadata("batch_size", "2");
    lookup->SetMetadata("range_partitioned", "false");
    lookup->AddColumn("min", "int32", Int32s({1, 4, 9}));
    lookup->AddColumn("max", "int32", Int32s({3, 9, 9}));
    lookup->AddColumn("null_count", "uint32", Uint32s({0, 0, 0}));
    lookup->AddColumn("page_idx", "uint32", Uint32s({0, 1, 2}));
    data->AddColumn("values", "int32", Int32s({1, 3, 4, 9, 9}));
    data->AddColumn("ids", "uint64", ArrayOf<arrow::UInt64Builder, uint64_t>({50, 10, 30, 20, 40}));
  }
  arrow::Result<std::shared_ptr<BtreeFile>> Assemble() const {
    return BtreeFile::Assemble(lookup, data);
  }
  std::string Refusal() const {
    const arrow::Status status = Assemble().status();
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCorrupt) << status;
    return base::MessageOf(status);
  }
};

TEST(BtreeFileTest, ReadsPagesAndRows) {
  const auto file = Btree().Assemble().ValueOrDie();
  EXPECT_TRUE(file->type()->Equals(*arrow::int32()));
  ASSERT_EQ(file->num_pages(), 3);
  EXPECT_EQ(file->page_rows(1).begin, 2u);
  EXPECT_EQ(file->page_rows(1).end, 4u);
  EXPECT_EQ(file->page_rows(2).end, 5u);
  const BtreeRows rows = file->Read({2, 5}).ValueOrDie();
  EXPECT_TRUE(rows.values->Equals(*Int32s({4, 9, 9})));
  EXPECT_EQ(rows.row_ids->Value(0), 30u);
  EXPECT_EQ(rows.row_ids->Value(2), 40u);
}

TEST(BtreeFileTest, RefusesWhatDoesNotFit) {
  {
    Btree tree;
    tree.lookup->EraseMetadata("batch_size");
    EXPECT_THAT(tree.Refusal(), HasSubstr("rows of a page"));
  }
  {
    Btree tree;
    tree.lookup->SetMetadata("batch_size", "0");
    EXPECT_THAT(tree.Refusal(), HasSubstr("rows of a page"));
  }
  {
    Btree tree;  // two pages of four rows, three are listed
    tree.lookup->SetMetadata("batch_size", "4");
    EXPECT_THAT(tree.Refusal(), HasSubstr("lists 3 pages, its 5 rows take 2"));
  }
  {
    Btree tree;
    tree.lookup->arrays()[3] = Uint32s({0, 2, 1});
    EXPECT_THAT(tree.Refusal(), HasSubstr("lists page 2 as number 1"));
  }
  {
    Btree tree;
    tree.data->mutable_schema().fields[0].logical_type = "int64";
    EXPECT_THAT(tree.Refusal(), HasSubstr("`min` of the index file is int32, not int64"));
  }
  {
    Btree tree;
    tree.data->mutable_schema().fields[1].name = "other";
    EXPECT_THAT(tree.Refusal(), HasSubstr("no column `ids`"));
  }
}

TEST(BtreeFileTest, RefusesRangePartitionsAsNotSupported) {
  Btree tree;
  tree.lookup->SetMetadata("range_partitioned", "true");
  const arrow::Status status = tree.Assemble().status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotSupported) << status;
}

TEST(BtreeFileTest, AnEmptyTreeHasNoPages) {
  Btree tree;
  for (auto& array : tree.lookup->arrays()) array = array->Slice(0, 0);
  for (auto& array : tree.data->arrays()) array = array->Slice(0, 0);
  EXPECT_EQ(tree.Assemble().ValueOrDie()->num_pages(), 0);
}

void PutU32(uint32_t value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// A portable Roaring bitmap of one row below 65,536.
std::string OneRow(uint16_t row) {
  std::string bytes("\x3a\x30\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00", 16);
  bytes.append(reinterpret_cast<const char*>(&row), sizeof(row));
  return bytes;
}

std::string SetOf(const std::vector<std::pair<uint32_t, std::string>>& groups) {
  std::string bytes;
  PutU32(static_cast<uint32_t>(groups.size()), &bytes);
  for (const auto& [upper, bitmap] : groups) {
    PutU32(upper, &bytes);
    PutU32(static_cast<uint32_t>(bitmap.size()), &bytes);
    bytes += bitmap;
  }
  return bytes;
}

std::vector<uint32_t> ValuesOf(const RoaringBitmap& bitmap) {
  std::vector<uint32_t> values;
  bitmap.ForEachBlock([&](std::span<const uint32_t> block) {
    values.insert(values.end(), block.begin(), block.end());
    return true;
  });
  return values;
}

TEST(RowIdMapTest, ReadsGroups) {
  const auto groups = ParseRowIdMap(SetOf({{3, OneRow(7)}, {0, OneRow(0)}}), "f").ValueOrDie();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].upper, 3u);
  EXPECT_THAT(ValuesOf(groups[0].lower), ElementsAre(7));
  EXPECT_THAT(ValuesOf(groups[1].lower), ElementsAre(0));
  EXPECT_TRUE(ParseRowIdMap(SetOf({}), "f").ValueOrDie().empty());
}

TEST(RowIdMapTest, RefusesEveryCutAndAnyExcess) {
  const std::string whole = SetOf({{3, OneRow(7)}, {4, OneRow(1)}});
  for (size_t size = 0; size < whole.size(); ++size) {
    const arrow::Status status = ParseRowIdMap(whole.substr(0, size), "f").status();
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCorrupt) << size << ": " << status;
  }
  EXPECT_FALSE(ParseRowIdMap(whole + "x", "f").ok());
  EXPECT_FALSE(ParseRowIdMap(SetOf({{3, OneRow(7)}, {3, OneRow(1)}}), "f").ok());
  EXPECT_FALSE(ParseRowIdMap(SetOf({{3, "not a bitmap"}}), "f").ok());
}

TEST(RowIdMapTest, AWholeGroupIsNotSupported) {
  const arrow::Status status = ParseRowIdMap(SetOf({{3, ""}}), "f").status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotSupported) << status;
}

TEST(BitmapFileTest, ReadsKeysAndTheirSets) {
  auto lance_file = std::make_shared<MemoryLanceFile>("bitmap_page_lookup.lance");
  lance_file->AddColumn("keys", "int32", Int32s({5, 6, 8}));
  arrow::BinaryBuilder sets;
  for (const uint16_t row : {10, 20, 30}) ASSERT_TRUE(sets.Append(SetOf({{1, OneRow(row)}})).ok());
  lance_file->AddColumn("bitmaps", "binary", sets.Finish().ValueOrDie());
  const auto file = BitmapFile::Assemble(lance_file).ValueOrDie();
  ASSERT_EQ(file->num_keys(), 3u);
  EXPECT_TRUE(file->ReadKeys({1, 3}).ValueOrDie()->Equals(*Int32s({6, 8})));
  const uint64_t wanted[] = {0, 2};
  const auto stored = file->ReadSets(wanted).ValueOrDie();
  ASSERT_EQ(stored->length(), 2);
  EXPECT_THAT(ValuesOf(file->ParseSet(stored->GetView(1)).ValueOrDie()[0].lower), ElementsAre(30));
}

TEST(BitmapFileTest, RefusesAColumnOfAnotherType) {
  auto lance_file = std::make_shared<MemoryLanceFile>("bitmap_page_lookup.lance");
  lance_file->AddColumn("keys", "int32", Int32s({5}));
  lance_file->AddColumn("bitmaps", "int32", Int32s({5}));
  const arrow::Status status = BitmapFile::Assemble(lance_file).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCorrupt) << status;
}

}  // namespace
}  // namespace kinjo::format
