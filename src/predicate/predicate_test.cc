// The face of the room: what a predicate tells of itself, and the batches it takes.
#include "predicate/predicate.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "predicate/operand.h"
#include "predicate/predicate_samples.h"

namespace kinjo::predicate {
namespace {

using samples::Answer;
using samples::FromJson;
using samples::MakeBatch;
using samples::OneColumn;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<arrow::Schema> Schema() {
  return arrow::schema({arrow::field("z", arrow::int32()),
                        arrow::field("a", arrow::struct_({arrow::field("b", arrow::utf8())})),
                        arrow::field("m", arrow::boolean())});
}

TEST(PredicateTest, ColumnsInTheOrderOfTheSchema) {
  const std::string text = "m AND (a.b = 'x' OR z + z > 1) AND A.B <> 'y'";
  const auto predicate = Predicate::Parse(text, Schema()).ValueOrDie();
  EXPECT_EQ(predicate->text(), text);
  EXPECT_THAT(predicate->columns(), ElementsAre("z", "a", "m"));
  EXPECT_THAT(ColumnsOf(predicate->root()), ElementsAre("a", "m", "z"));
  EXPECT_THAT(ColumnsOf(*predicate->root().inputs[0]), ElementsAre("m"));
  EXPECT_THAT(Predicate::Parse("1 < 2", Schema()).ValueOrDie()->columns(), IsEmpty());
}

TEST(PredicateTest, APartIsEvaluatedAlone) {
  const auto batch = MakeBatch({{"m", FromJson(arrow::boolean(), "[true, null]")},
                                {"z", FromJson(arrow::int32(), "[1, 2]")}});
  const auto predicate = Predicate::Parse("m AND z = 2", batch->schema()).ValueOrDie();
  const auto part = Evaluate(*predicate->root().inputs[1], *batch).ValueOrDie();
  EXPECT_TRUE(part->Equals(*FromJson(arrow::boolean(), "[false, true]")));
}

TEST(PredicateTest, TheBatchMustHaveTheColumns) {
  const auto predicate = Predicate::Parse("m AND z = 2", Schema()).ValueOrDie();
  const auto without = MakeBatch({{"m", FromJson(arrow::boolean(), "[true]")}});
  EXPECT_THAT(base::MessageOf(predicate->Evaluate(*without).status()),
              HasSubstr("the batch has no column z"));
  const auto other = MakeBatch(
      {{"m", FromJson(arrow::boolean(), "[true]")}, {"z", FromJson(arrow::int64(), "[1]")}});
  EXPECT_THAT(base::MessageOf(predicate->Evaluate(*other).status()),
              HasSubstr("column z of the batch has type int64, the filter was made for int32"));
}

TEST(PredicateTest, OnlyConditionsAreFilters) {
  const auto batch = OneColumn(arrow::int32(), "[1]");
  EXPECT_THAT(Answer("x", batch),
              HasSubstr("expected a condition for the filter, found a value of type int32"));
  EXPECT_THAT(Answer("x AND TRUE", batch), HasSubstr("expected a condition for AND"));
  EXPECT_EQ(Answer("NULL", batch), "n");
}

TEST(PredicateTest, TreesAreBounded) {
  const auto batch = OneColumn(arrow::boolean(), "[true, null]");
  // Each level holds the one below twice.
  std::string text = "x";
  for (int i = 0; i < 30; ++i) text = base::Concat("(", text, " BETWEEN FALSE AND TRUE)");
  EXPECT_THAT(Answer(text, batch), HasSubstr("too large: more than 100000 operations"));
  std::string chain = "x";
  for (int i = 0; i < 20'000; ++i) chain += " OR x";
  EXPECT_EQ(Answer(chain, batch), "tn");
}

TEST(PredicateTest, LongListsOfValues) {
  std::string list = "x IN (0";
  for (int i = 2; i < 100'000; i += 2) list += base::Concat(", ", i);
  const auto batch = OneColumn(arrow::int64(), "[99998, 1, 50000, null]");
  EXPECT_EQ(Answer(list + ")", batch), "tftn");
}

TEST(PredicateTest, CodesOfErrors) {
  const auto code = [](const std::string& text) {
    return base::CodeOf(Predicate::Parse(text, Schema()).status());
  };
  EXPECT_EQ(code("z = "), base::ErrorCode::kInvalid);
  EXPECT_EQ(code("y = 1"), base::ErrorCode::kNotFound);
  EXPECT_EQ(code("z + m = 1"), base::ErrorCode::kInvalid);
}

}  // namespace
}  // namespace kinjo::predicate
