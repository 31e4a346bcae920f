#include "tabular/table_files.h"

#include <filesystem>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

using base::CodeOf;
using base::ErrorCode;
using testing::HasSubstr;

// The ids of all rows, in order.
std::vector<int64_t> Ids(const arrow::Table& table) {
  std::vector<int64_t> ids;
  for (const auto& chunk : table.GetColumnByName("id")->chunks()) {
    const auto& numbers = static_cast<const arrow::Int64Array&>(*chunk);
    for (int64_t i = 0; i < numbers.length(); ++i) ids.push_back(numbers.Value(i));
  }
  return ids;
}

std::vector<int64_t> IdsOf(const std::string& uri) { return Ids(*ReadUri(uri)); }

void WriteRows(const std::string& path, int64_t first, int64_t rows) {
  ASSERT_TRUE(WriteAll(path, {VectorRows(first, rows)}).ok());
}

std::vector<int64_t> Count(int64_t first, int64_t end) {
  std::vector<int64_t> numbers;
  for (int64_t i = first; i < end; ++i) numbers.push_back(i);
  return numbers;
}

TEST(TableFiles, FolderIsReadInTheOrderOfPaths) {
  TemporaryFolder folder;
  WriteRows(folder.Path("t/b.parquet"), 20, 10);
  WriteRows(folder.Path("t/a/z.parquet"), 10, 10);
  WriteRows(folder.Path("t/A.parquet"), 0, 10);
  folder.Write("t/_SUCCESS", "");
  folder.Write("t/.b.parquet.crc", "x");
  folder.Write("t/b.parquet.crc", "x");
  folder.Write("t/_temporary/0/c.parquet", "half");
  folder.Write("t/README.md", "not data");
  EXPECT_EQ(IdsOf(folder.Path("t")), Count(0, 30));
  EXPECT_EQ(IdsOf(folder.Path("t") + "/"), Count(0, 30));
  EXPECT_EQ(OpenTable(folder.Path("t")).ValueOrDie()->num_rows(), 30);
}

TEST(TableFiles, GlobsChooseFiles) {
  TemporaryFolder folder;
  WriteRows(folder.Path("t/p0.parquet"), 0, 5);
  WriteRows(folder.Path("t/p1.parquet"), 5, 5);
  WriteRows(folder.Path("t/q.parquet"), 10, 5);
  WriteRows(folder.Path("t/sub/p2.parquet"), 15, 5);
  WriteRows(folder.Path("t/_hidden.parquet"), 20, 5);
  EXPECT_EQ(IdsOf(folder.path() + "/t/p*.parquet"), Count(0, 10));
  EXPECT_EQ(IdsOf(folder.path() + "/t/p[01].parquet"), Count(0, 10));
  EXPECT_EQ(IdsOf(folder.path() + "/t/?.parquet"), Count(10, 15));
  std::vector<int64_t> any_depth = Count(0, 10);
  for (const int64_t id : Count(15, 20)) any_depth.push_back(id);
  EXPECT_EQ(IdsOf(folder.path() + "/t/**/p*.parquet"), any_depth);
  EXPECT_EQ(IdsOf(folder.path() + "/t/s*"), Count(15, 20));  // a folder stands for its files
  EXPECT_EQ(IdsOf(folder.path() + "/t/_*.parquet"), Count(20, 25));
  const auto none = OpenTable(folder.path() + "/t/*.csv").status();
  EXPECT_EQ(CodeOf(none), ErrorCode::kNotFound);
  EXPECT_THAT(none.message(), HasSubstr("*.csv"));
  EXPECT_EQ(CodeOf(OpenTable(folder.path() + "/nowhere/*.csv").status()), ErrorCode::kNotFound);
}

TEST(TableFiles, RelativeGlobsStartInTheWorkingFolder) {
  TemporaryFolder folder;
  WriteRows(folder.Path("r.parquet"), 0, 3);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(IdsOf("*.parquet"), Count(0, 3));
  EXPECT_EQ(IdsOf("./*.parquet"), Count(0, 3));
  EXPECT_EQ(IdsOf("r.parquet"), Count(0, 3));
  std::filesystem::current_path(before);
}

TEST(TableFiles, ANameThatExistsIsNoGlob) {
  TemporaryFolder folder;
  WriteRows(folder.Path("a[1].parquet"), 0, 3);
  WriteRows(folder.Path("a1.parquet"), 7, 3);
  EXPECT_EQ(IdsOf(folder.Path("a[1].parquet")), Count(0, 3));
}

TEST(TableFiles, FileAddressesWork) {
  TemporaryFolder folder;
  WriteRows(folder.Path("a.parquet"), 0, 3);
  EXPECT_EQ(IdsOf("file://" + folder.Path("a.parquet")), Count(0, 3));
  EXPECT_EQ(IdsOf("file://" + folder.path() + "/*.parquet"), Count(0, 3));
  EXPECT_EQ(IdsOf("file://" + folder.path()), Count(0, 3));
}

TEST(TableFiles, MissingAndEmptyAreNotFound) {
  TemporaryFolder folder;
  for (const std::string name : {"absent.parquet", "absent", "absent/x.parquet"}) {
    const auto status = OpenTable(folder.path() + "/" + name).status();
    EXPECT_EQ(CodeOf(status), ErrorCode::kNotFound) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(name));
  }
  std::filesystem::create_directory(folder.Path("empty"));
  EXPECT_EQ(CodeOf(OpenTable(folder.Path("empty")).status()), ErrorCode::kNotFound);
  folder.Write("hidden/_SUCCESS", "");
  EXPECT_EQ(CodeOf(OpenTable(folder.Path("hidden")).status()), ErrorCode::kNotFound);
}

TEST(TableFiles, HivePartitionsBecomeColumns) {
  TemporaryFolder folder;
  WriteRows(folder.Path("t/year=2023/city=Rome/a.parquet"), 0, 3);
  WriteRows(folder.Path("t/year=2024/city=Oslo/a.parquet"), 3, 2);
  auto source = OpenTable(folder.Path("t")).ValueOrDie();
  EXPECT_EQ(source->schema()->field_names(),
            (std::vector<std::string>{"id", "name", "v", "d", "year", "city"}));
  const auto table = ReadAll(source.get(), {{"city", "id", "year"}}).ValueOrDie();
  const auto expected = BatchFromJson(
      table->schema(), R"([{"city":"Rome","id":0,"year":2023},{"city":"Rome","id":1,"year":2023},
          {"city":"Rome","id":2,"year":2023},{"city":"Oslo","id":3,"year":2024},
          {"city":"Oslo","id":4,"year":2024}])");
  EXPECT_EQ("", Difference(*table, *ToTable({expected})));
  const std::vector<uint64_t> ordinals = {1, 3, 4};
  const auto taken = source->Take({"year", "id"}, ordinals).ValueOrDie();
  EXPECT_TRUE(taken->Equals(*BatchFromJson(
      taken->schema(), R"([{"year":2023,"id":1},{"year":2024,"id":3},{"year":2024,"id":4}])")));
  // Partition columns alone still know their rows.
  EXPECT_EQ(ReadAll(source.get(), {{"year"}}).ValueOrDie()->num_rows(), 5);
  // A glob has partitions too, below its part without wildcards.
  EXPECT_EQ(ReadUri(folder.path() + "/t/year=*/*/*.parquet")->num_columns(), 6);
  // One file is just that file.
  EXPECT_EQ(ReadUri(folder.Path("t/year=2023/city=Rome/a.parquet"))->num_columns(), 4);
}

TEST(TableFiles, TheFilesOwnColumnWinsOverAPartition) {
  TemporaryFolder folder;
  WriteRows(folder.Path("t/id=77/a.parquet"), 0, 3);
  EXPECT_EQ(IdsOf(folder.Path("t")), Count(0, 3));
  EXPECT_EQ(ReadUri(folder.Path("t"))->num_columns(), 4);
}

TEST(TableFiles, MismatchesNameFileAndColumn) {
  TemporaryFolder folder;
  WriteRows(folder.Path("a/0.parquet"), 0, 2);
  const auto refuse = [&](const std::string& fields, const std::vector<std::string>& words) {
    const auto batch = VectorRows(0, 2);
    auto schema = batch->schema();
    std::vector<std::shared_ptr<arrow::Array>> columns = batch->columns();
    if (fields == "type") {
      schema = schema->SetField(0, arrow::field("id", arrow::utf8())).ValueOrDie();
      columns[0] = columns[1];
    } else if (fields == "missing") {
      schema = schema->RemoveField(1).ValueOrDie();
      columns.erase(columns.begin() + 1);
    } else {
      schema = schema->AddField(4, arrow::field("extra", arrow::int64())).ValueOrDie();
      columns.push_back(columns[0]);
    }
    ASSERT_TRUE(
        WriteAll(folder.Path("a/1.parquet"), {arrow::RecordBatch::Make(schema, 2, columns)}).ok());
    const auto status = OpenTable(folder.Path("a")).status();
    EXPECT_EQ(CodeOf(status), ErrorCode::kInvalid);
    for (const std::string& word : words) EXPECT_THAT(status.message(), HasSubstr(word));
  };
  refuse("type", {"1.parquet", "column id", "string", "int64"});
  refuse("missing", {"1.parquet", "column name"});
  refuse("extra", {"1.parquet", "column extra"});
}

TEST(TableFiles, ColumnsMayComeInAnotherOrder) {
  TemporaryFolder folder;
  WriteRows(folder.Path("a/0.parquet"), 0, 2);
  const auto batch = VectorRows(2, 2);
  ASSERT_TRUE(
      WriteAll(folder.Path("a/1.parquet"), {batch->SelectColumns({3, 1, 0, 2}).ValueOrDie()}).ok());
  EXPECT_EQ("", Difference(*ReadUri(folder.Path("a")), *ToTable({VectorRows(0, 2), batch})));
}

TEST(TableFiles, MixedFormatsAskForOne) {
  TemporaryFolder folder;
  WriteRows(folder.Path("a/0.parquet"), 0, 2);
  folder.Write("a/1.csv", "id\n5\n");
  const auto status = OpenTable(folder.Path("a")).status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("csv and parquet"));
  EXPECT_EQ(ReadUri(folder.Path("a"), {.format = "csv"})->num_rows(), 1);
  EXPECT_EQ(ReadUri(folder.Path("a"), {.format = "parquet"})->num_rows(), 2);
  EXPECT_EQ(CodeOf(OpenTable(folder.Path("a"), {.format = "npy"}).status()), ErrorCode::kNotFound);
}

TEST(TableFiles, UnknownEndingsAskForAnother) {
  TemporaryFolder folder;
  WriteRows(folder.Path("a.parquet"), 0, 2);
  std::filesystem::rename(folder.Path("a.parquet"), folder.Path("part-0"));
  const auto status = OpenTable(folder.Path("part-0")).status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kInvalid);
  EXPECT_THAT(
      status.message(),
      HasSubstr("end the name in .parquet, .arrow, .csv, .jsonl, .npy, .fvecs, .bvecs or .ivecs"));
  EXPECT_EQ(ReadUri(folder.Path("part-0"), {.format = "parquet"})->num_rows(), 2);
  EXPECT_EQ(ReadUri(folder.path(), {.format = "parquet"})->num_rows(), 2);
  EXPECT_EQ(CodeOf(OpenTable(folder.Path("part-0"), {.format = "xls"}).status()),
            ErrorCode::kInvalid);
}

TEST(TableFiles, OptionsAreChecked) {
  TemporaryFolder folder;
  WriteRows(folder.Path("a.parquet"), 0, 2);
  EXPECT_EQ(CodeOf(OpenTable(folder.Path("a.parquet"), {.batch_rows = 0}).status()),
            ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf(OpenTable(folder.Path("a.parquet"), {.lance_version = 3}).status()),
            ErrorCode::kInvalid);
}

TEST(TableFiles, TakeAcrossFilesEqualsRead) {
  TemporaryFolder folder;
  for (const std::string ending : {"parquet", "arrow", "csv", "jsonl"}) {
    const std::string under = folder.Path("take-" + ending);
    for (int64_t i = 0; i < 4; ++i) {
      WriteRows(folder.Path("take-" + ending + "/" + std::to_string(i) + "." + ending), i * 25, 25);
    }
    auto source = OpenTable(under, {.batch_rows = 10}).ValueOrDie();
    const auto all = ReadAll(source.get(), {{"v", "name"}}, 10).ValueOrDie();
    const std::vector<uint64_t> ordinals = {0, 1, 24, 25, 26, 49, 74, 75, 99};
    const auto taken = source->Take({"v", "name"}, ordinals).ValueOrDie();
    ASSERT_EQ(taken->num_rows(), 9);
    for (size_t i = 0; i < ordinals.size(); ++i) {
      const auto row = all->Slice(static_cast<int64_t>(ordinals[i]), 1);
      const auto got = arrow::Table::FromRecordBatches({taken->Slice(static_cast<int64_t>(i), 1)});
      EXPECT_TRUE((*got)->Equals(*row)) << ending << " " << ordinals[i];
    }
    const std::vector<uint64_t> past = {3, 100};
    EXPECT_EQ(CodeOf(source->Take({"v"}, past).status()), ErrorCode::kInvalid) << ending;
  }
}

TEST(StreamSource, IsReadOnceAndCantTake) {
  const auto batch = VectorRows(0, 4);
  auto reader = arrow::RecordBatchReader::Make({batch}, batch->schema()).ValueOrDie();
  auto source = MakeStreamSource(reader, "left stream");
  EXPECT_EQ(source->num_rows(), std::nullopt);
  EXPECT_EQ(CodeOf(source->Read({{"absent"}}).status()), ErrorCode::kNotFound);
  const auto table = ReadAll(source.get(), {{"v", "id"}}).ValueOrDie();
  EXPECT_EQ("", Difference(*table, *ToTable({batch->SelectColumns({2, 0}).ValueOrDie()})));
  EXPECT_EQ(CodeOf(source->Read(std::nullopt).status()), ErrorCode::kState);
  EXPECT_EQ(CodeOf(source->Take({"id"}, {}).status()), ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace kinjo::tabular
