#include "exec/multivector_array.h"

#include <gtest/gtest.h>

#include "arrow/json/from_string.h"
#include "exec/query_lists.h"

namespace kinjo::exec {
namespace {

using arrow::fixed_size_list;
using arrow::list;

std::shared_ptr<arrow::Array> FromJson(const std::shared_ptr<arrow::DataType>& type,
                                       const std::string& json) {
  return *arrow::json::ArrayFromJSONString(type, json);
}

const VectorRead kRead{.what = "left column \"v\"", .first_row = 40};

TEST(MultivectorArray, ListsOfVectorsAreMultivectors) {
  for (const auto& type : {list(fixed_size_list(arrow::float16(), 3)), list(list(arrow::float32())),
                           arrow::large_list(arrow::large_list(arrow::float64())),
                           fixed_size_list(fixed_size_list(arrow::uint8(), 4), 2)}) {
    EXPECT_TRUE(MultivectorTypeOf(*type).has_value()) << type->ToString();
  }
  EXPECT_EQ(MultivectorTypeOf(*list(fixed_size_list(arrow::float16(), 3)))->width, 3);
  for (const auto& type : {arrow::float32(), list(arrow::float32()), list(list(arrow::utf8())),
                           list(list(list(arrow::float32())))}) {
    EXPECT_FALSE(MultivectorTypeOf(*type).has_value()) << type->ToString();
  }
}

TEST(MultivectorArray, RowsAreTakenApartAlsoFromSlices) {
  const auto whole = FromJson(list(fixed_size_list(arrow::float32(), 2)),
                              "[[[9, 9]], [[1, 2], [3, 4]], null, [], [[5, 6], null]]");
  const FlatLists lists = *FlattenLists(whole->Slice(1), kRead);
  EXPECT_EQ(lists.begins, (std::vector<int64_t>{0, 2, 2, 2, 4}));
  EXPECT_EQ(lists.width, 2);
  EXPECT_TRUE(lists.vectors->Equals(
      FromJson(fixed_size_list(arrow::float32(), 2), "[[1, 2], [3, 4], [5, 6], null]")));
}

TEST(MultivectorArray, WhatLiesBelowNullRowsIsLeftOut) {
  const auto values = FromJson(fixed_size_list(arrow::float32(), 1), "[[1], [2], [3]]");
  const auto offsets = FromJson(arrow::int32(), "[0, 1, 2, 3]");
  const auto validity = arrow::Buffer::FromString(std::string(1, '\x05'));
  const auto array = *arrow::ListArray::FromArrays(list(values->type()), *offsets, *values,
                                                   arrow::default_memory_pool(), validity);
  const FlatLists lists = *FlattenLists(array, kRead);
  EXPECT_EQ(lists.begins, (std::vector<int64_t>{0, 1, 1, 2}));
  EXPECT_TRUE(lists.vectors->Equals(FromJson(fixed_size_list(arrow::float32(), 1), "[[1], [3]]")));
}

TEST(MultivectorArray, AVectorOfAnotherWidthIsNamedWithItsRow) {
  const auto array =
      FromJson(list(list(arrow::float32())), "[null, [[1, 2]], [[3, 4], null, [5]]]");
  const auto own = FlattenLists(array, kRead);
  EXPECT_EQ(base::CodeOf(own.status()), base::ErrorCode::kInvalid);
  EXPECT_EQ(base::MessageOf(own.status()),
            "left column \"v\": vector 2 of row 42 has 1 elements, but row 41 has 2");
  VectorRead read = kRead;
  read.width = 3;
  read.expected = "right column \"w\"";
  EXPECT_EQ(base::MessageOf(FlattenLists(array, read).status()),
            "left column \"v\": vector 0 of row 41 has 2 elements, but right column \"w\" has 3");
}

TEST(MultivectorArray, CountsTheRowsThatFit) {
  const auto array = FromJson(list(list(arrow::float32())), "[[[1], [2]], null, [[3]], [[4]]]");
  EXPECT_EQ(*CountListsWithin(*array, 1), 0);
  EXPECT_EQ(*CountListsWithin(*array, 2), 2);
  EXPECT_EQ(*CountListsWithin(*array, 3), 3);
  EXPECT_EQ(*CountListsWithin(*array, 100), 4);
  EXPECT_EQ(*CountListsWithin(*array->Slice(1), 0), 1);
}

TEST(MultivectorArray, VectorsThatCannotMatchArePassedOver) {
  const auto array = FromJson(list(fixed_size_list(arrow::float32(), 2)),
                              "[[[0, 0], [3, 4], null], null, [], [null], [[0, 0], null],"
                              " [[1, 0], [NaN, 1], [0, 2]], [[1, Inf]]]");
  QueryLists lists;
  lists.vectors.metric = kernels::Metric::kCosine;
  std::vector<VectorState> states;
  const FlatLists flat = *FlattenLists(array, kRead);
  ASSERT_TRUE(AppendLists(flat, kRead, &lists, &states).ok());
  constexpr auto kNull = VectorState::kNull;
  constexpr auto kOdd = VectorState::kNonFinite;
  EXPECT_EQ(states, (std::vector<VectorState>{VectorState::kValid, kNull, kNull, kNull, kOdd,
                                              VectorState::kValid, kOdd}));
  EXPECT_EQ(lists.begins, (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(lists.vectors.values, (std::vector<double>{3, 4, 1, 0, 0, 2}));
  EXPECT_EQ(lists.vectors.norms, (std::vector<double>{5, 1, 2}));
}

}  // namespace
}  // namespace kinjo::exec
