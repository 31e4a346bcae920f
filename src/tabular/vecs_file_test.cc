#include "tabular/vecs_file.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "arrow/array.h"
#include "arrow/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/table_source.h"

namespace kinjo::tabular {
namespace {

using ::testing::HasSubstr;

std::string Vector(int32_t width, const std::string& numbers) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &width, 4);
  return bytes + numbers;
}

/// The three numbers of one row.
std::vector<int> Numbers(const arrow::Array& column, int64_t row) {
  const auto& vectors = static_cast<const arrow::FixedSizeListArray&>(column);
  const auto& numbers = static_cast<const arrow::UInt8Array&>(*vectors.values());
  const int64_t begin = vectors.value_offset(row);
  return {numbers.Value(begin), numbers.Value(begin + 1), numbers.Value(begin + 2)};
}

class VecsFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / base::Concat("kinjo_vecs_", ::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Put(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

TEST_F(VecsFileTest, RowsComeInBatchesAndByNumber) {
  std::string bytes;
  for (char i = 0; i < 5; ++i) bytes += Vector(3, {i, static_cast<char>(i + 1), '\xff'});
  const std::string path = Put("a.bvecs", bytes);
  const auto table = OpenTable(path, {.batch_rows = 2}).ValueOrDie();
  EXPECT_EQ(table->format(), "bvecs");
  EXPECT_EQ(table->num_rows(), 5);
  EXPECT_EQ(table->schema()->field(0)->type()->ToString(),
            "fixed_size_list<item: uint8 not null>[3]");
  const auto reader = table->Read(std::nullopt).ValueOrDie();
  const auto rows = reader->ToTable().ValueOrDie();
  EXPECT_EQ(rows->num_rows(), 5);
  const auto whole = rows->CombineChunksToBatch().ValueOrDie();
  EXPECT_EQ(Numbers(*whole->column(0), 4), (std::vector<int>{4, 5, 255}));
  const std::vector<uint64_t> wanted = {1, 3};
  const auto taken = table->Take({"vector"}, wanted).ValueOrDie();
  ASSERT_EQ(taken->num_rows(), 2);
  EXPECT_EQ(Numbers(*taken->column(0), 1), (std::vector<int>{3, 4, 255}));
}

TEST_F(VecsFileTest, WhatIsNoSuchFileIsNamed) {
  const auto refusal = [&](const std::string& bytes) {
    const std::string path = Put("bad.fvecs", bytes);
    const auto table = OpenTable(path);
    if (!table.ok()) {
      EXPECT_EQ(base::CodeOf(table.status()), base::ErrorCode::kCorrupt);
      return table.status().message();
    }
    const auto rows = (*table)->Read(std::nullopt).ValueOrDie()->ToTable();
    EXPECT_EQ(base::CodeOf(rows.status()), base::ErrorCode::kCorrupt);
    return rows.status().message();
  };
  EXPECT_THAT(refusal(""), HasSubstr("doesn't begin with the width"));
  EXPECT_THAT(refusal(Vector(0, "")), HasSubstr("doesn't begin with the width"));
  EXPECT_THAT(refusal(Vector(-1, "abcd")), HasSubstr("doesn't begin with the width"));
  EXPECT_THAT(refusal(Vector(2, "abcdefg")), HasSubstr("isn't made of vectors"));
  const std::string one = Vector(2, "abcdefgh");
  EXPECT_THAT(refusal(one + Vector(3, "abcdefgh")), HasSubstr("vector 1 has 3 numbers"));
}

}  // namespace
}  // namespace kinjo::tabular
