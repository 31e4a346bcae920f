// Three-valued logic, guards before what can fail, and columns as they are stored.
#include "predicate/evaluate.h"

#include "arrow/compute/api_vector.h"
#include "arrow/compute/cast.h"
#include "arrow/compute/initialize.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "predicate/predicate_samples.h"

namespace kinjo::predicate {
namespace {

using samples::Answer;
using samples::FromJson;
using samples::MakeBatch;
using samples::OneColumn;
using ::testing::HasSubstr;

TEST(EvaluateTest, AndOrNotAreThreeValued) {
  const auto batch =
      MakeBatch({{"a", FromJson(arrow::boolean(), "[1, 1, 1, 0, 0, 0, null, null, null]")},
                 {"b", FromJson(arrow::boolean(), "[1, 0, null, 1, 0, null, 1, 0, null]")}});
  EXPECT_EQ(Answer("a AND b", batch), "tfnfffnfn");
  EXPECT_EQ(Answer("a OR b", batch), "ttttfntnn");
  EXPECT_EQ(Answer("NOT a", batch), "ffftttnnn");
  EXPECT_EQ(Answer("a IS TRUE", batch), "tttffffff");
  EXPECT_EQ(Answer("a IS FALSE", batch), "ffftttfff");
  EXPECT_EQ(Answer("a IS NOT TRUE", batch), "ffftttttt");
  EXPECT_EQ(Answer("a IS UNKNOWN", batch), "ffffffttt");
  EXPECT_EQ(Answer("a AND NULL", batch), "nnnfffnnn");
  EXPECT_EQ(Answer("a OR NULL OR TRUE", batch), "ttttttttt");
  EXPECT_EQ(Answer("a < b", batch), "ffntfnnnn");
}

TEST(EvaluateTest, AGuardKeepsRowsFromWhatWouldFail) {
  const auto batch = OneColumn(arrow::int32(), "[0, 2, 5, null]");
  EXPECT_THAT(Answer("10 / x = 5", batch), HasSubstr("divide by zero"));
  EXPECT_EQ(Answer("x <> 0 AND 10 / x = 5", batch), "ftfn");
  EXPECT_EQ(Answer("x = 0 OR 10 / x = 5", batch), "ttfn");
  EXPECT_EQ(Answer("NOT (x = 0 OR 10 / x = 5)", batch), "fftn");
  EXPECT_EQ(Answer("x > 100 AND 10 / x = 5", batch), "fffn");
  EXPECT_EQ(Answer("FALSE AND 10 / x = 5", batch), "ffff");
  EXPECT_EQ(Answer("TRUE OR 10 / x = 5", batch), "tttt");
  EXPECT_THAT(Answer("10 / x = 5 AND x <> 0", batch), HasSubstr("divide by zero"));
}

TEST(EvaluateTest, AGuardOverSeveralColumns) {
  const auto batch = MakeBatch({{"kind", FromJson(arrow::utf8(), R"(["n", "t", "n", null])")},
                                {"value", FromJson(arrow::utf8(), R"(["7", "x", "8", "9"])")}});
  EXPECT_EQ(Answer("kind = 'n' AND CAST(value AS INT) > 7", batch), "fftn");
  EXPECT_EQ(Answer("kind = 'n' AND CAST(value AS INT) > 7", batch->Slice(1)), "ftn");
}

TEST(EvaluateTest, AnEmptyBatch) {
  const auto batch = OneColumn(arrow::int32(), "[]");
  EXPECT_EQ(Answer("x = 1", batch), "");
  EXPECT_EQ(Answer("x IN (1, 2) OR x / 0 = 1", batch), "");
  EXPECT_EQ(Answer("TRUE", batch), "");
}

TEST(EvaluateTest, PatternsOfLike) {
  const auto batch = OneColumn(arrow::utf8(), R"(["ab", "a%b", "a\nb", "AB", "", "a\\", null])");
  EXPECT_EQ(Answer("x LIKE 'a_b'", batch), "fttfffn");
  EXPECT_EQ(Answer("x LIKE 'a%'", batch), "tttfftn");
  EXPECT_EQ(Answer("x LIKE 'a\\%b'", batch), "ftffffn");
  EXPECT_EQ(Answer("x LIKE 'a!%%' ESCAPE '!'", batch), "ftffffn");
  EXPECT_EQ(Answer("x LIKE 'a\\'", batch), "ffffftn");
  EXPECT_EQ(Answer("x LIKE ''", batch), "fffftfn");
  EXPECT_EQ(Answer("x LIKE '%'", batch), "ttttttn");
  EXPECT_EQ(Answer("x ILIKE 'Ab'", batch), "tfftffn");
  EXPECT_EQ(Answer("x NOT LIKE 'a%'", batch), "fffttfn");
  EXPECT_EQ(Answer("x LIKE 'a.b'", batch), "ffffffn");
  EXPECT_EQ(Answer("x LIKE NULL", batch), "nnnnnnn");
}

TEST(EvaluateTest, DictionariesRunsAndViews) {
  const auto plain = FromJson(arrow::utf8(), R"(["a", "a", null, "b"])");
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto dictionary = arrow::compute::DictionaryEncode(plain).ValueOrDie().make_array();
  EXPECT_EQ(Answer("x = 'a' OR x LIKE 'b%'", MakeBatch({{"x", dictionary}})), "ttnt");
  EXPECT_EQ(Answer("x IN ('b')", MakeBatch({{"x", dictionary}})->Slice(1)), "fnt");
  const auto runs = arrow::compute::RunEndEncode(plain).ValueOrDie().make_array();
  EXPECT_EQ(Answer("x = 'a'", MakeBatch({{"x", runs}})), "ttnf");
  const auto views = arrow::compute::Cast(*plain, arrow::utf8_view()).ValueOrDie();
  EXPECT_EQ(Answer("x = 'a' OR lower(x) = 'b'", MakeBatch({{"x", views}})), "ttnt");
  const auto null_value =
      arrow::json::DictArrayFromJSONString(arrow::dictionary(arrow::int8(), arrow::utf8()),
                                           "[0, 1, null]", R"(["a", null])")
          .ValueOrDie();
  EXPECT_EQ(Answer("x IS NULL", MakeBatch({{"x", null_value}})), "ftt");
}

TEST(EvaluateTest, FieldsOfNullStructsAreNull) {
  const auto type = arrow::struct_({arrow::field("y", arrow::int32())});
  const auto batch = OneColumn(type, R"([{"y": 1}, null, {"y": null}])");
  EXPECT_EQ(Answer("x.y = 1", batch), "tnn");
  EXPECT_EQ(Answer("x.y IS NULL", batch), "ftt");
  EXPECT_EQ(Answer("x IS NULL", batch), "ftf");
  EXPECT_EQ(Answer("x.y = 1", batch->Slice(1)), "nn");
}

TEST(EvaluateTest, AColumnOfNulls) {
  const auto batch = OneColumn(arrow::null(), "[null, null]");
  EXPECT_EQ(Answer("x = 1", batch), "nn");
  EXPECT_EQ(Answer("x IS NULL", batch), "tt");
  EXPECT_EQ(Answer("x IN (1, 2) OR x", batch), "nn");
}

}  // namespace
}  // namespace kinjo::predicate
