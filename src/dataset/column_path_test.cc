#include "dataset/column_path.h"

#include <gtest/gtest.h>

#include "arrow/api.h"
#include "arrow/json/from_string.h"

namespace kinjo::dataset {
namespace {

std::shared_ptr<arrow::RecordBatch> Batch() {
  const auto inner = arrow::struct_({arrow::field("c", arrow::int32())});
  const auto outer = arrow::struct_({arrow::field("b", inner), arrow::field("x", arrow::int32())});
  const auto column =
      arrow::json::ArrayFromJSONString(
          outer, R"([{"b": {"c": 1}, "x": 5}, null, {"b": null, "x": 6}, {"b": {"c": 4}, "x": 7}])")
          .ValueOrDie();
  const auto dotted = arrow::json::ArrayFromJSONString(arrow::int32(), "[9, 9, 9, 9]").ValueOrDie();
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("a", outer), arrow::field("a.x", arrow::int32())}), 4,
      {column, dotted});
}

TEST(ColumnPath, LeadsThroughStructsAndTheirNulls) {
  const auto batch = Batch()->Slice(1);
  const auto column = ColumnAt(*batch, "a.b.c").ValueOrDie();
  ASSERT_TRUE(column->ValidateFull().ok());
  EXPECT_EQ(column->ToString(), "[\n  null,\n  null,\n  4\n]");
  EXPECT_EQ(RootOf(*batch->schema(), "a.b.c"), "a");
  EXPECT_EQ(FindNested(*batch->schema(), "a.b.c")->type()->ToString(), "int32");
}

TEST(ColumnPath, AColumnWhoseNameHoldsADotComesFirst) {
  const auto batch = Batch();
  EXPECT_EQ(RootOf(*batch->schema(), "a.x"), "a.x");
  EXPECT_EQ(ColumnAt(*batch, "a.x").ValueOrDie()->ToString(), "[\n  9,\n  9,\n  9,\n  9\n]");
}

TEST(ColumnPath, WhatLeadsNowhere) {
  const auto batch = Batch();
  for (const char* path : {"", ".", "a.", "a.y", "a.b.d", "a.b.c.d", "z", "z.b", ".a", "a..b"}) {
    EXPECT_EQ(FindNested(*batch->schema(), path), nullptr) << path;
    EXPECT_FALSE(ColumnAt(*batch, path).ok()) << path;
  }
}

}  // namespace
}  // namespace kinjo::dataset
