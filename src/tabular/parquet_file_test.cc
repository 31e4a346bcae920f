#include "tabular/parquet_file.h"

#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/array/util.h"
#include "arrow/io/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parquet/arrow/writer.h"
#include "parquet/file_reader.h"
#include "parquet/metadata.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

using base::CodeOf;
using base::ErrorCode;
using testing::HasSubstr;

TEST(ParquetFile, RoundTripKeepsEveryValueAndType) {
  TemporaryFolder folder;
  for (const std::string compression : {"", "none", "snappy", "zstd", "lz4", "gzip", "brotli"}) {
    const std::string path = folder.Path("t.parquet");
    const auto batch = VectorRows(0, 1000, /*null_vectors=*/true);
    ASSERT_TRUE(WriteAll(path, {batch}, {.compression = compression}).ok()) << compression;
    EXPECT_EQ("", Difference(*ReadUri(path), *ToTable({batch})));
  }
}

TEST(ParquetFile, RowGroupsHaveTheSizeThatWasAsked) {
  TemporaryFolder folder;
  const std::string path = folder.Path("t.parquet");
  arrow::RecordBatchVector batches;
  for (int64_t i = 0; i < 10; ++i) batches.push_back(VectorRows(i * 37, 37));
  ASSERT_TRUE(WriteAll(path, batches, {.row_group_rows = 100}).ok());
  const auto metadata = parquet::ParquetFileReader::OpenFile(path)->metadata();
  ASSERT_EQ(metadata->num_row_groups(), 4);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(metadata->RowGroup(i)->num_rows(), 100);
  EXPECT_EQ(metadata->RowGroup(3)->num_rows(), 70);
  EXPECT_EQ("", Difference(*ReadUri(path, {.batch_rows = 33}), *ToTable(batches)));
}

// A row group lies in memory until it is written.
TEST(ParquetFile, WideRowsMakeRowGroupsOfFewerRows) {
  constexpr int64_t kRows = 5000;
  const auto type = arrow::fixed_size_list(arrow::float32(), 2048);  // 40 MB a batch
  const auto schema = arrow::schema({arrow::field("vector", type)});
  const auto column = arrow::MakeArrayOfNull(type, kRows).ValueOrDie();
  const auto batch = arrow::RecordBatch::Make(schema, kRows, {column});
  TemporaryFolder folder;
  const std::string path = folder.Path("t.parquet");
  ASSERT_TRUE(WriteAll(path, {batch, batch->Slice(0, 100), batch, batch}).ok());
  const auto metadata = parquet::ParquetFileReader::OpenFile(path)->metadata();
  ASSERT_EQ(metadata->num_row_groups(), 3);
  EXPECT_EQ(metadata->RowGroup(0)->num_rows(), kRows + 100);
  EXPECT_EQ(metadata->num_rows(), 3 * kRows + 100);
}

TEST(ParquetFile, ReadsColumnsInTheOrderAskedAndAgainAndAgain) {
  TemporaryFolder folder;
  const std::string path = folder.Path("t.parquet");
  const auto batch = VectorRows(0, 50);
  ASSERT_TRUE(WriteAll(path, {batch}).ok());
  auto source = OpenTable(path).ValueOrDie();
  EXPECT_EQ(source->format(), "parquet");
  EXPECT_EQ(source->num_rows(), 50);
  for (int i = 0; i < 2; ++i) {
    const auto table = ReadAll(source.get(), {{"v", "id"}}).ValueOrDie();
    EXPECT_EQ("", Difference(*table, *ToTable({batch})->SelectColumns({2, 0}).ValueOrDie()));
  }
  const auto none = ReadAll(source.get(), std::vector<std::string>{}).ValueOrDie();
  EXPECT_EQ(none->num_columns(), 0);
  EXPECT_EQ(none->num_rows(), 50);
  const arrow::Status missing = source->Read({{"w"}}).status();
  EXPECT_EQ(CodeOf(missing), ErrorCode::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr("id, name, v, d"));
}

TEST(ParquetFile, TakesRowsAcrossRowGroups) {
  TemporaryFolder folder;
  const std::string path = folder.Path("t.parquet");
  const auto batch = VectorRows(0, 500, true);
  ASSERT_TRUE(WriteAll(path, {batch}, {.row_group_rows = 64}).ok());
  auto source = OpenTable(path).ValueOrDie();
  const std::vector<std::vector<uint64_t>> cases = {
      {}, {0}, {499}, {3, 4, 5}, {0, 63, 64, 65, 127, 128, 300, 499}};
  for (const auto& ordinals : cases) {
    const auto taken = source->Take({"name", "v"}, ordinals).ValueOrDie();
    ASSERT_EQ(taken->num_rows(), static_cast<int64_t>(ordinals.size()));
    for (size_t i = 0; i < ordinals.size(); ++i) {
      const auto row = batch->Slice(static_cast<int64_t>(ordinals[i]), 1);
      EXPECT_TRUE(taken->column(0)->Slice(static_cast<int64_t>(i), 1)->Equals(row->column(1)));
      EXPECT_TRUE(taken->column(1)->Slice(static_cast<int64_t>(i), 1)->Equals(row->column(2)));
    }
  }
  const std::vector<uint64_t> past = {500};
  EXPECT_EQ(CodeOf(source->Take({"id"}, past).status()), ErrorCode::kInvalid);
}

TEST(ParquetFile, NoRowsIsFine) {
  TemporaryFolder folder;
  const std::string path = folder.Path("t.parquet");
  const auto empty = VectorRows(0, 1)->Slice(0, 0);
  ASSERT_TRUE(WriteAll(path, {empty}).ok());
  const auto table = ReadUri(path);
  EXPECT_EQ(table->num_rows(), 0);
  EXPECT_TRUE(table->schema()->Equals(*empty->schema(), false));
  auto source = OpenTable(path).ValueOrDie();
  EXPECT_EQ(source->num_rows(), 0);
  EXPECT_EQ(source->Take({"id"}, {}).ValueOrDie()->num_rows(), 0);
}

TEST(ParquetFile, VectorsOfFilesWithoutAnArrowSchemaAreLists) {
  TemporaryFolder folder;
  const std::string path = folder.Path("t.parquet");
  const auto table = ToTable({VectorRows(0, 20)});
  auto out = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  ASSERT_TRUE(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), out).ok());
  ASSERT_TRUE(out->Close().ok());
  const auto read = ReadUri(path);
  EXPECT_EQ(read->schema()->field(2)->type()->id(), arrow::Type::LIST);
  EXPECT_EQ(read->schema()->field(3)->type()->id(), arrow::Type::LIST);
  EXPECT_EQ(read->num_rows(), 20);
}

TEST(ParquetFile, BrokenFilesAreCorruptAndNamed) {
  TemporaryFolder folder;
  const std::string path = folder.Path("t.parquet");
  ASSERT_TRUE(WriteAll(path, {VectorRows(0, 300)}).ok());
  const std::string bytes = Slurp(path);
  for (const size_t size : {size_t{0}, size_t{3}, size_t{100}, bytes.size() - 1}) {
    const std::string cut = folder.Write("cut.parquet", bytes.substr(0, size));
    const arrow::Status status = OpenTable(cut).status();
    EXPECT_EQ(CodeOf(status), ErrorCode::kCorrupt) << size << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr("cut.parquet"));
  }
  // Bytes of the pages: an error or other values, but never a crash.
  for (size_t at = 4; at < bytes.size() / 2; at += 7) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x55);
    auto source = OpenTable(folder.Write("flipped.parquet", flipped));
    if (source.ok()) {
      (void)[&]()->arrow::Status {
        ARROW_ASSIGN_OR_RAISE(auto reader, (*source)->Read(std::nullopt));
        std::shared_ptr<arrow::RecordBatch> batch;
        do {
          ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
        } while (batch != nullptr);
        return arrow::Status::OK();
      }
      ();
    }
  }
}

}  // namespace
}  // namespace kinjo::tabular
