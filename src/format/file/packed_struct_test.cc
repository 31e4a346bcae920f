#include "format/file/packed_struct.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arrow/api.h"
#include "format/file/blob_column.h"

namespace kinjo::format::file {
namespace {

const std::string kPath = "made.lance";

Where Here() { return {.path = &kPath, .offset = 0, .column = 2, .page = 0}; }

std::shared_ptr<arrow::DataType> Named() {
  return arrow::struct_({arrow::field("a", arrow::int16()), arrow::field("name", arrow::utf8())});
}

std::shared_ptr<arrow::ArrayData> Rows(const std::vector<std::string>& rows) {
  arrow::LargeBinaryBuilder builder;
  for (const std::string& row : rows) EXPECT_TRUE(builder.Append(row).ok());
  return builder.Finish().ValueOrDie()->data();
}

// A little-endian number of `width` bytes.
std::string Number(uint64_t value, size_t width) {
  std::string bytes;
  for (size_t i = 0; i < width; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

TEST(PackedStruct, RowsAreAsWideAsTheirChildren) {
  const auto fixed =
      arrow::struct_({arrow::field("a", arrow::int16()),
                      arrow::field("v", arrow::fixed_size_list(arrow::float32(), 3))});
  EXPECT_TRUE(PackedRowType("c", *fixed).ValueOrDie()->Equals(arrow::fixed_size_binary(14)));
  EXPECT_TRUE(PackedRowType("c", *Named()).ValueOrDie()->Equals(arrow::large_binary()));
  const auto bits = arrow::struct_({arrow::field("flag", arrow::boolean())});
  const auto refused = PackedRowType("c", *bits).status();
  EXPECT_EQ(base::CodeOf(refused), base::ErrorCode::kNotSupported);
  EXPECT_NE(base::MessageOf(refused).find("c.flag"), std::string::npos);
}

TEST(PackedStruct, TakesRowsApart) {
  const auto rows = Rows({Number(7, 2) + Number(3, 8) + "abc", Number(9, 2) + Number(0, 8)});
  const auto made = UnpackStruct(Named(), *rows, Here()).ValueOrDie();
  const arrow::StructArray array(made);
  ASSERT_TRUE(array.ValidateFull().ok());
  EXPECT_EQ(array.GetScalar(0).ValueOrDie()->ToString(), "{a:int16 = 7, name:string = abc}");
  EXPECT_EQ(array.GetScalar(1).ValueOrDie()->ToString(), "{a:int16 = 9, name:string = }");
}

TEST(PackedStruct, ARowOfAnotherLengthIsCorrupt) {
  const std::string whole = Number(7, 2) + Number(3, 8) + "abc";
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto cut = UnpackStruct(Named(), *Rows({whole.substr(0, size)}), Here()).status();
    EXPECT_EQ(base::CodeOf(cut), base::ErrorCode::kCorrupt) << size << " bytes";
  }
  EXPECT_FALSE(UnpackStruct(Named(), *Rows({whole + "d"}), Here()).ok());
  const std::string huge = Number(7, 2) + Number(UINT64_MAX, 8) + "abc";
  EXPECT_FALSE(UnpackStruct(Named(), *Rows({huge}), Here()).ok());
}

std::shared_ptr<arrow::ArrayData> Places(const std::vector<std::pair<uint64_t, uint64_t>>& places) {
  arrow::FixedSizeBinaryBuilder builder(arrow::fixed_size_binary(16));
  for (const auto& [position, size] : places) {
    EXPECT_TRUE(builder.Append(Number(position, 8) + Number(size, 8)).ok());
  }
  return builder.Finish().ValueOrDie()->data();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(
    const std::vector<std::pair<uint64_t, uint64_t>>& places) {
  const auto file = io::OpenBuffer(arrow::Buffer::FromString("0123456789"), kPath);
  return ReadBlobs(arrow::large_binary(), BlobForm::kPlaces, *Places(places), file.get(), Here());
}

TEST(BlobColumn, ReadsWhatPlacesName) {
  const arrow::LargeBinaryArray array(Read({{4, 3}, {0, 0}, {1 << 16, 0}, {0, 2}}).ValueOrDie());
  ASSERT_TRUE(array.ValidateFull().ok());
  EXPECT_EQ(array.GetView(0), "456");
  EXPECT_TRUE(array.IsValid(1));
  EXPECT_EQ(array.GetView(1), "");
  EXPECT_TRUE(array.IsNull(2));
  EXPECT_EQ(array.GetView(3), "01");
}

// A small file can't ask for much memory, neither by one place nor by many.
TEST(BlobColumn, PlacesOutsideOrBeyondTheFileAreCorrupt) {
  using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;
  for (const Pairs& places : {Pairs{{8, 3}}, Pairs{{11, 1}}, Pairs{{UINT64_MAX, 2}},
                              Pairs{{2, UINT64_MAX}}, Pairs{{0, 6}, {0, 6}}}) {
    EXPECT_EQ(base::CodeOf(Read(places).status()), base::ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace kinjo::format::file
