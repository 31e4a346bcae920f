#include "tabular/plain_types.h"

#include "arrow/array/util.h"
#include "arrow/compute/cast.h"
#include "arrow/compute/initialize.h"
#include "arrow/scalar.h"
#include "gtest/gtest.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

std::shared_ptr<arrow::RecordBatchReader> ReaderOf(const arrow::RecordBatchVector& batches) {
  return arrow::RecordBatchReader::Make(batches, batches.at(0)->schema()).ValueOrDie();
}

TEST(PlainTypes, ViewsBecomeStringsAndBinariesAtEveryDepth) {
  const auto views =
      arrow::schema({arrow::field("s", arrow::utf8_view()), arrow::field("b", arrow::binary_view()),
                     arrow::field("l", arrow::list(arrow::utf8_view())),
                     arrow::field("r", arrow::struct_({arrow::field("x", arrow::utf8_view())}))});
  const auto plain =
      arrow::schema({arrow::field("s", arrow::utf8()), arrow::field("b", arrow::binary()),
                     arrow::field("l", arrow::list(arrow::utf8())),
                     arrow::field("r", arrow::struct_({arrow::field("x", arrow::utf8())}))});
  const std::string json =
      R"([{"s":"a text longer than twelve bytes","b":"x","l":["p",null],"r":{"x":"y"}},)"
      R"({"s":null,"b":null,"l":null,"r":null}])";
  const auto expected = BatchFromJson(plain, json);
  const auto given = BatchFromJson(views, json);
  const auto read = WithPlainTypes(ReaderOf({given, given->Slice(1)}))->ToTable().ValueOrDie();
  EXPECT_EQ("", Difference(*read->CombineChunks().ValueOrDie(),
                           *ToTable({expected, expected->Slice(1)})));
}

TEST(PlainTypes, LongBatchesAreCut) {
  const auto schema = arrow::schema({arrow::field("s", arrow::utf8_view())});
  const auto text = arrow::MakeArrayFromScalar(*arrow::MakeScalar("text"), 150'000).ValueOrDie();
  const auto views = arrow::compute::Cast(*text, arrow::utf8_view()).ValueOrDie();
  const auto batch = arrow::RecordBatch::Make(schema, views->length(), {views});
  const auto read = WithPlainTypes(ReaderOf({batch}))->ToRecordBatches().ValueOrDie();
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read.back()->num_rows(), 150'000 - 2 * 65'536);
  EXPECT_TRUE(ToTable(read)->column(0)->chunk(0)->Equals(*text));
}

TEST(PlainTypes, OthersAreLeftAlone) {
  const auto reader = ReaderOf({VectorRows(0, 3)});
  EXPECT_EQ(WithPlainTypes(reader), reader);
}

}  // namespace
}  // namespace kinjo::tabular
