#include "tabular/csv_file.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

using base::CodeOf;
using base::ErrorCode;
using testing::HasSubstr;

TEST(CsvFile, GuessesTypesAndReadsVectors) {
  TemporaryFolder folder;
  const std::string path = folder.Write("a.csv",
                                        "id,word,score,ok,v,day\n"
                                        "1,one,0.5,true,\"[0.1, 0.2]\",2024-02-29\n"
                                        "2,\"two, \"\"2\"\"\",nan,false,[3 4 5],1969-12-31\n"
                                        "3,\"li\nne\",-1e300,true,,2000-01-01\n");
  const auto schema = arrow::schema(
      {arrow::field("id", arrow::int64()), arrow::field("word", arrow::utf8()),
       arrow::field("score", arrow::float64()), arrow::field("ok", arrow::boolean()),
       arrow::field("v", arrow::list(arrow::float32())), arrow::field("day", arrow::date32())});
  const auto expected = BatchFromJson(
      schema, R"([{"id":1,"word":"one","score":0.5,"ok":true,"v":[0.1,0.2],"day":19782},
                  {"id":2,"word":"two, \"2\"","score":NaN,"ok":false,"v":[3,4,5],"day":-1},
                  {"id":3,"word":"li\nne","score":-1e300,"ok":true,"v":null,"day":10957}])");
  EXPECT_EQ("", Difference(*ReadUri(path), *ToTable({expected})));
}

TEST(CsvFile, OnlyAnEmptyCellWithoutQuotesIsNull) {
  TemporaryFolder folder;
  const std::string path = folder.Write("a.csv", "n,w\n1,NA\n,\n3,\"\"\n4,null\n");
  const auto schema =
      arrow::schema({arrow::field("n", arrow::int64()), arrow::field("w", arrow::utf8())});
  const auto expected = BatchFromJson(
      schema, R"([{"n":1,"w":"NA"},{"n":null,"w":null},{"n":3,"w":""},{"n":4,"w":"null"}])");
  EXPECT_EQ("", Difference(*ReadUri(path), *ToTable({expected})));
}

TEST(CsvFile, RoundTripKeepsEveryValue) {
  TemporaryFolder folder;
  const auto schema = arrow::schema(
      {arrow::field("id", arrow::int64()), arrow::field("w", arrow::utf8()),
       arrow::field("x", arrow::float64()), arrow::field("v", arrow::list(arrow::float32()))});
  const auto batch =
      BatchFromJson(schema,
                    R"([{"id":-9223372036854775808,"w":"a,b","x":0.1,"v":[0.1,-3e-38,16777216]},
          {"id":9223372036854775807,"w":"say \"hi\"","x":NaN,"v":[NaN,Inf,-Inf]},
          {"id":0,"w":"","x":1e308,"v":[]},
          {"id":null,"w":null,"x":null,"v":null},
          {"id":7,"w":" spaces ","x":-0.0,"v":[1]},
          {"id":8,"w":"two\nlines\r\n","x":4.9e-324,"v":[2,3]},
          {"id":9,"w":"日本語 é","x":-Inf,"v":[0.30000001]}])");
  const std::string path = folder.Path("a.csv");
  ASSERT_TRUE(WriteAll(path, {batch}).ok());
  EXPECT_EQ("", Difference(*ReadUri(path, {.batch_rows = 2}), *ToTable({batch})));
}

TEST(CsvFile, HeaderAloneAndNothingAtAllAreTablesWithoutRows) {
  TemporaryFolder folder;
  const auto header = ReadUri(folder.Write("a.csv", "id,v\n"));
  EXPECT_EQ(header->num_rows(), 0);
  EXPECT_EQ(header->schema()->field_names(), (std::vector<std::string>{"id", "v"}));
  const auto nothing = ReadUri(folder.Write("b.csv", ""));
  EXPECT_EQ(nothing->num_rows(), 0);
  EXPECT_EQ(nothing->num_columns(), 0);
}

TEST(CsvFile, FilesOfAFolderMeetOnTheWiderType) {
  TemporaryFolder folder;
  folder.Write("t/a.csv", "n,w,v\n1,,[1]\n");
  folder.Write("t/b.csv", "n,w,v\n2.5,x,[2]\n");
  folder.Write("t/c.csv", "");
  folder.Write("t/d.csv", "v,n,w\n,,\n");
  const auto schema =
      arrow::schema({arrow::field("n", arrow::float64()), arrow::field("w", arrow::utf8()),
                     arrow::field("v", arrow::list(arrow::float32()))});
  const auto expected = BatchFromJson(schema, R"([{"n":1,"w":null,"v":[1]},
      {"n":2.5,"w":"x","v":[2]},{"n":null,"w":null,"v":null}])");
  EXPECT_EQ("", Difference(*ReadUri(folder.Path("t")), *ToTable({expected})));

  folder.Write("t/e.csv", "n,w,v\nword,x,[2]\n");
  const auto status = OpenTable(folder.Path("t")).status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("column n of"));
  EXPECT_THAT(status.message(), HasSubstr("e.csv"));
}

TEST(CsvFile, ALargeFileIsStreamedAndALateMisfitNamesItsRow) {
  TemporaryFolder folder;
  std::string text = "id,v\n";
  constexpr int kRows = 120000;  // more than two blocks
  const std::string filler = std::string(60, '0');
  for (int i = 0; i < kRows; ++i) {
    text += std::to_string(i) + ",[" + std::to_string(i) + " 0." + filler + "]\n";
  }
  const std::string path = folder.Write("big.csv", text);
  auto source = OpenTable(path, {.batch_rows = 1000}).ValueOrDie();
  EXPECT_EQ(ReadAll(source.get(), {{"v"}}, 1000).ValueOrDie()->num_rows(), kRows);
  EXPECT_EQ(ReadAll(source.get(), std::vector<std::string>{}).ValueOrDie()->num_rows(), kRows);

  const auto late = OpenTable(folder.Write("late.csv", text + "120000,oops\n")).ValueOrDie();
  const auto status = ReadAll(late.get()).status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("row 120001 of"));
  EXPECT_THAT(status.message(), HasSubstr("oops"));
  const auto number = OpenTable(folder.Write("number.csv", text + "x,[1]\n")).ValueOrDie();
  const auto other = ReadAll(number.get()).status();
  EXPECT_EQ(CodeOf(other), ErrorCode::kInvalid);
  EXPECT_THAT(other.message(), HasSubstr("number.csv"));
}

TEST(CsvFile, RaggedRowsAndDoubleNamesAreErrors) {
  TemporaryFolder folder;
  const auto ragged = OpenTable(folder.Write("a.csv", "a,b\n1,2\n3\n")).status();
  EXPECT_EQ(CodeOf(ragged), ErrorCode::kInvalid);
  EXPECT_THAT(ragged.message(), HasSubstr("a.csv"));
  const auto twice = OpenTable(folder.Write("b.csv", "a,a\n1,2\n")).status();
  EXPECT_EQ(CodeOf(twice), ErrorCode::kInvalid);
  EXPECT_THAT(twice.message(), HasSubstr("named a"));
}

}  // namespace
}  // namespace kinjo::tabular
