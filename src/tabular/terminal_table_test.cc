#include <string>

#include "arrow/buffer.h"
#include "arrow/io/memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/format_writer.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string Show(const std::shared_ptr<arrow::Schema>& schema,
                 const arrow::RecordBatchVector& batches) {
  auto out = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto table = MakeTerminalTable(out.get(), schema, {}).ValueOrDie();
  for (const auto& batch : batches) EXPECT_TRUE(table->Write(*batch).ok());
  EXPECT_TRUE(table->Finish().ok());
  return out->Finish().ValueOrDie()->ToString();
}

TEST(TerminalTable, AlignsColumnsByWhatIsSeen) {
  const auto schema = arrow::schema({arrow::field("word", arrow::utf8()),
                                     arrow::field("_distance", arrow::float32()),
                                     arrow::field("v", arrow::fixed_size_list(arrow::float32(), 4)),
                                     arrow::field("note", arrow::utf8())});
  const auto batch = BatchFromJson(schema, R"([
      {"word":"近所","_distance":0.123456789,"v":[0.5,-0.25,3,4],"note":"a\nb"},
      {"word":null,"_distance":null,"v":null,"note":null},
      {"word":"e\u0301tude","_distance":12,"v":[1,2,3,4],"note":"x"}])");
  EXPECT_EQ(Show(schema, {batch}),
            "word   _distance  v                  note\n"
            "─────  ─────────  ─────────────────  ────\n"
            "近所    0.123457  [0.5, -0.25, … 4]  a b\n"
            "null        null  null               null\n"
            "e\xCC\x81tude         12  [1, 2, … 4]        x\n"
            "3 rows\n");
}

TEST(TerminalTable, LongTextsAreCut) {
  const auto schema = arrow::schema({arrow::field("t", arrow::utf8())});
  const auto batch =
      BatchFromJson(schema, "[{\"t\":\"" + std::string(100, 'x') + "\"},{\"t\":\"y\"}]");
  EXPECT_THAT(Show(schema, {batch}), HasSubstr("\n" + std::string(39, 'x') + "…\ny\n"));
}

TEST(TerminalTable, NoRowsStillShowTheColumns) {
  const auto schema = arrow::schema({arrow::field("a", arrow::int8())});
  EXPECT_EQ(Show(schema, {}), "a\n─\nno rows\n");
  EXPECT_THAT(Show(schema, {BatchFromJson(schema, "[{\"a\":1}]")}), EndsWith("1\n1 row\n"));
}

TEST(TerminalTable, WidthsAreThoseOfTheFirstRows) {
  const auto schema =
      arrow::schema({arrow::field("a", arrow::utf8()), arrow::field("b", arrow::utf8())});
  arrow::RecordBatchVector batches(49, BatchFromJson(schema, R"([{"a":"xx","b":"y"}])"));
  batches.push_back(BatchFromJson(schema, R"([{"a":"xxx","b":"y"},{"a":"xxxxxx","b":"y"}])"));
  const std::string shown = Show(schema, batches);
  EXPECT_THAT(shown, HasSubstr("\nxx   y\nxxx  y\nxxxxxx  y\n51 rows\n"));
}

}  // namespace
}  // namespace kinjo::tabular
