#include "tabular/jsonl_file.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

using base::CodeOf;
using base::ErrorCode;
using testing::HasSubstr;

std::shared_ptr<arrow::Schema> TestSchema() {
  return arrow::schema({arrow::field("id", arrow::int64()), arrow::field("w", arrow::utf8()),
                        arrow::field("v", arrow::list(arrow::float64())),
                        arrow::field("s", arrow::struct_({arrow::field("a", arrow::int64())}))});
}

TEST(JsonlFile, ReadsNestedRowsAndMissingKeys) {
  TemporaryFolder folder;
  const std::string text = R"({"id":1,"w":"é \"q\" \n","v":[0.1,2],"s":{"a":5}})"
                           "\n"
                           R"({"v":[1.5,-2.25e-3],"w":"no id"})"
                           "\n"
                           R"({"id":3,"w":null,"v":null,"s":null})"
                           "\n";
  const auto expected = BatchFromJson(TestSchema(), R"([
      {"id":1,"w":"é \"q\" \n","v":[0.1,2],"s":{"a":5}},
      {"id":null,"w":"no id","v":[1.5,-2.25e-3],"s":null},
      {"id":3,"w":null,"v":null,"s":null}])");
  for (const std::string name : {"a.jsonl", "a.ndjson", "a.json"}) {
    auto source = OpenTable(folder.Write(name, text), {.batch_rows = 2}).ValueOrDie();
    EXPECT_EQ(source->format(), "jsonl");
    EXPECT_EQ(
        "", Difference(*ReadAll(source.get(), std::nullopt, 2).ValueOrDie(), *ToTable({expected})));
    EXPECT_EQ("", Difference(*ReadAll(source.get(), {{"v", "id"}}).ValueOrDie(),
                             *ToTable({expected->SelectColumns({2, 0}).ValueOrDie()})));
    EXPECT_EQ(ReadAll(source.get(), std::vector<std::string>{}).ValueOrDie()->num_rows(), 3);
  }
}

TEST(JsonlFile, RoundTripKeepsEveryValue) {
  TemporaryFolder folder;
  const auto batch = BatchFromJson(TestSchema(), R"([
      {"id":-9007199254740993,"w":"tab\t \\ / \u0001","v":[0.1,1e300,-4.9e-324],"s":{"a":-1}},
      {"id":9223372036854775807,"w":"","v":[0.5],"s":{"a":null}},
      {"id":null,"w":null,"v":[],"s":null}])");
  const std::string path = folder.Path("a.jsonl");
  ASSERT_TRUE(WriteAll(path, {batch}).ok());
  EXPECT_EQ("", Difference(*ReadUri(path), *ToTable({batch})));
}

TEST(JsonlFile, EmptyFilesHaveNoRows) {
  TemporaryFolder folder;
  for (const std::string text : {"", "\n", "  \n\n"}) {
    const auto table = ReadUri(folder.Write("a.jsonl", text));
    EXPECT_EQ(table->num_rows(), 0);
    EXPECT_EQ(table->num_columns(), 0);
  }
}

TEST(JsonlFile, FilesOfAFolderMeetOnTheWiderType) {
  TemporaryFolder folder;
  folder.Write("t/a.jsonl", "{\"v\":[1,2],\"n\":null}\n");
  folder.Write("t/b.jsonl", "{\"n\":\"x\",\"v\":[0.5]}\n");
  folder.Write("t/c.jsonl", "");
  const auto schema = arrow::schema(
      {arrow::field("v", arrow::list(arrow::float64())), arrow::field("n", arrow::utf8())});
  EXPECT_EQ(
      "", Difference(
              *ReadUri(folder.Path("t")),
              *ToTable({BatchFromJson(schema, R"([{"v":[1,2],"n":null},{"v":[0.5],"n":"x"}])")})));
}

TEST(JsonlFile, AKeyThatComesLateIsAnErrorUnlessColumnsAreChosen) {
  TemporaryFolder folder;
  std::string text;
  const std::string filler(200, 'x');
  constexpr int kRows = 45000;  // more than two blocks
  for (int i = 0; i < kRows; ++i) {
    text += "{\"id\":" + std::to_string(i) + ",\"w\":\"" + filler + "\"}\n";
  }
  text += "{\"id\":1,\"w\":\"x\",\"late\":true}\n";
  auto source = OpenTable(folder.Write("a.jsonl", text)).ValueOrDie();
  const auto status = ReadAll(source.get()).status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("a.jsonl"));
  EXPECT_THAT(status.message(), HasSubstr("select the columns that you need from: id, w"));
  EXPECT_EQ(ReadAll(source.get(), {{"id"}}).ValueOrDie()->num_rows(), kRows + 1);
}

TEST(JsonlFile, WhatIsNotJsonLinesIsNamed) {
  TemporaryFolder folder;
  const auto array = OpenTable(folder.Write("a.json", "[{\"id\":1}]")).status();
  EXPECT_EQ(CodeOf(array), ErrorCode::kInvalid);
  EXPECT_THAT(array.message(), HasSubstr("one object a line"));
  const auto text = OpenTable(folder.Write("b.jsonl", "hello\n")).status();
  EXPECT_EQ(CodeOf(text), ErrorCode::kInvalid);
  EXPECT_THAT(text.message(), HasSubstr("b.jsonl"));
  const auto mixed = OpenTable(folder.Write("c.jsonl", "{\"a\":1}\n{\"a\":\"x\"}\n")).status();
  EXPECT_EQ(CodeOf(mixed), ErrorCode::kInvalid);
  const auto cut = OpenTable(folder.Write("d.jsonl", "{\"a\":1}\n{\"a\":")).status();
  EXPECT_EQ(CodeOf(cut), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace kinjo::tabular
