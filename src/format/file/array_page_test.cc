#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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

}  // namespace
}  // namespace kinjo::format::file
