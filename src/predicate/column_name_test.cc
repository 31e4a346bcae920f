// How names in a predicate find columns and fields.
#include "predicate/column_name.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "predicate/predicate_samples.h"

namespace kinjo::predicate {
namespace {

using samples::Answer;
using samples::FromJson;
using samples::MakeBatch;
using ::testing::AllOf;
using ::testing::HasSubstr;

samples::BatchPtr Named() {
  const auto one = FromJson(arrow::int32(), "[1]");
  const auto two = FromJson(arrow::int32(), "[2]");
  const auto inner = arrow::struct_({arrow::field("C d", arrow::int32())});
  const auto outer = arrow::struct_({arrow::field("b", inner), arrow::field("e", arrow::utf8())});
  return MakeBatch({{"Up", one},
                    {"same", one},
                    {"SAME", two},
                    {"odd name", one},
                    {"a.b", two},
                    {"a", FromJson(outer, R"([{"b": {"C d": 3}, "e": "x"}])")}});
}

TEST(ColumnNameTest, BareNamesInAnyCase) {
  EXPECT_EQ(Answer("up = 1 AND UP = 1 AND Up = 1", Named()), "t");
  EXPECT_EQ(Answer("same = 1 AND SAME = 2", Named()), "t");
  EXPECT_THAT(Answer("Same = 1", Named()),
              HasSubstr("invalid: predicate, character 1: more than one column fits the name Same: "
                        "same, SAME"));
}

TEST(ColumnNameTest, QuotedNamesExactly) {
  EXPECT_EQ(Answer("`Up` = 1 AND \"Up\" = 1 AND `odd name` = 1", Named()), "t");
  EXPECT_THAT(Answer("`up` = 1", Named()), HasSubstr("not_found: predicate, character 1: no column "
                                                     "up; there are Up, same, SAME, odd name"));
  EXPECT_THAT(Answer("Up = \"one\"", Named()), HasSubstr("text is put in single quotes"));
}

TEST(ColumnNameTest, Fields) {
  EXPECT_EQ(Answer("a.b.`C d` = 3 AND A.e = 'x' AND a['b']['C d'] = 3", Named()), "t");
  EXPECT_EQ(Answer("`a.b` = 2", Named()), "t");
  EXPECT_THAT(Answer("1 = a.c", Named()),
              HasSubstr("character 5: no field c in a; there are b, e"));
  EXPECT_THAT(Answer("up.x = 1", Named()), HasSubstr("Up has type int32, it has no field x"));
  EXPECT_THAT(Answer("lower(s).x = 1", Named()), HasSubstr("expected a column before the name"));
}

TEST(ColumnNameTest, LongListsAreCut) {
  std::vector<std::pair<std::string, samples::ArrayPtr>> columns;
  for (int i = 0; i < 100; ++i)
    columns.emplace_back(base::Concat("c", i), FromJson(arrow::int32(), "[1]"));
  EXPECT_THAT(Answer("x = 1", MakeBatch(columns)),
              AllOf(HasSubstr("c39 and 60 more"), ::testing::Not(HasSubstr("c40"))));
}

}  // namespace
}  // namespace kinjo::predicate
