#include "gtest/gtest.h"
#include "tabular/table_samples.h"
#include "tabular/table_source.h"

namespace kinjo::tabular {
namespace {

std::shared_ptr<arrow::RecordBatch> Rows(const std::shared_ptr<arrow::Schema>& schema,
                                         const std::string& json) {
  return arrow::RecordBatch::FromStructArray(
             arrow::json::ArrayFromJSONString(arrow::struct_(schema->fields()), json).ValueOrDie())
      .ValueOrDie();
}

const auto kSchema =
    arrow::schema({arrow::field("a", arrow::int32()), arrow::field("b", arrow::utf8())});
constexpr const char* kRows = R"([{"a":1,"b":"x"},{"a":2,"b":null},{"a":3,"b":"z"}])";

TEST(BatchSource, IsReadAgainAndAgain) {
  const auto source = MakeBatchSource(Rows(kSchema, kRows), "memory");
  EXPECT_EQ(source->num_rows(), 3);
  EXPECT_EQ(source->uri(), "memory");
  for (int round = 0; round < 2; ++round) {
    const auto all = source->Read(std::nullopt).ValueOrDie()->ToTable().ValueOrDie();
    EXPECT_EQ("", Difference(*all, *ToTable({Rows(kSchema, kRows)})));
  }
}

TEST(BatchSource, SelectsColumnsAndRows) {
  const auto source = MakeBatchSource(Rows(kSchema, kRows), "memory");
  const auto reader = source->Read(std::vector<std::string>{"b"}).ValueOrDie();
  EXPECT_EQ(reader->schema()->field_names(), std::vector<std::string>{"b"});
  const std::vector<uint64_t> ordinals = {0, 2};
  const auto taken = source->Take({"b", "a"}, ordinals).ValueOrDie();
  const auto turned = arrow::schema({kSchema->field(1), kSchema->field(0)});
  EXPECT_TRUE(taken->Equals(*Rows(turned, R"([{"b":"x","a":1},{"b":"z","a":3}])")));
  EXPECT_EQ(base::CodeOf(source->Read(std::vector<std::string>{"c"}).status()),
            base::ErrorCode::kNotFound);
}

TEST(BatchSource, ManyBatchesAreOneTable) {
  const auto rows = Rows(kSchema, kRows);
  const auto source =
      MakeRowsSource(kSchema, {rows->Slice(0, 1), rows->Slice(1, 0), rows->Slice(1)}, "memory");
  EXPECT_EQ(source->num_rows(), 3);
  const auto all = source->Read(std::nullopt).ValueOrDie()->ToTable().ValueOrDie();
  EXPECT_EQ("", Difference(*all->CombineChunks().ValueOrDie(), *ToTable({rows})));
  const std::vector<uint64_t> ordinals = {0, 2};
  const auto taken = source->Take({"a"}, ordinals).ValueOrDie();
  EXPECT_TRUE(taken->Equals(*Rows(arrow::schema({kSchema->field(0)}), R"([{"a":1},{"a":3}])")));
  EXPECT_EQ(MakeRowsSource(kSchema, {}, "memory")
                ->Read(std::nullopt)
                .ValueOrDie()
                ->ToTable()
                .ValueOrDie()
                ->num_rows(),
            0);
}

}  // namespace
}  // namespace kinjo::tabular
