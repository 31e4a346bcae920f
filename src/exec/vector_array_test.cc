#include "exec/vector_array.h"

#include <gtest/gtest.h>

#include "arrow/api.h"
#include "arrow/json/from_string.h"

namespace kinjo::exec {
namespace {

std::shared_ptr<arrow::Array> FromJson(const std::shared_ptr<arrow::DataType>& type,
                                       const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

template <typename T>
VectorRows<T> ReadAll(const std::shared_ptr<arrow::Array>& array) {
  auto rows = ReadVectors<T>(array, {.what = "left column \"v\""});
  EXPECT_TRUE(rows.ok()) << rows.status();
  return std::move(rows).ValueOrDie();
}

TEST(VectorArray, KnowsVectorTypes) {
  EXPECT_EQ(VectorTypeOf(*arrow::fixed_size_list(arrow::float16(), 7))->width, 7);
  EXPECT_FALSE(VectorTypeOf(*arrow::list(arrow::float64()))->width.has_value());
  EXPECT_TRUE(VectorTypeOf(*arrow::large_list(arrow::uint8()))->widens_to_float());
  EXPECT_FALSE(VectorTypeOf(*arrow::list(arrow::int32()))->widens_to_float());
  EXPECT_FALSE(VectorTypeOf(*arrow::list(arrow::utf8())).has_value());
  EXPECT_FALSE(VectorTypeOf(*arrow::list(arrow::list(arrow::float32()))).has_value());
  EXPECT_FALSE(VectorTypeOf(*arrow::float32()).has_value());
}

TEST(VectorArray, ReadsSlicesOfEveryShape) {
  const std::string json = "[[9, 9], [1, 2], null, [3, 4], [5, 6]]";
  for (const auto& type :
       {arrow::fixed_size_list(arrow::float32(), 2), arrow::fixed_size_list(arrow::int64(), 2),
        arrow::fixed_size_list(arrow::uint8(), 2), arrow::list(arrow::float64()),
        arrow::large_list(arrow::float32())}) {
    const auto rows = ReadAll<double>(FromJson(type, json)->Slice(1));
    ASSERT_EQ(rows.num_rows, 4) << type->ToString();
    ASSERT_EQ(rows.width, 2);
    EXPECT_EQ(rows.states[1], VectorState::kNull);
    EXPECT_EQ(rows.row(0)[1], 2);
    EXPECT_EQ(rows.row(2)[0], 3);
    EXPECT_EQ(rows.row(3)[1], 6);
  }
}

TEST(VectorArray, FloatsAreReadInPlace) {
  const auto array =
      FromJson(arrow::fixed_size_list(arrow::float32(), 2), "[[1, 2], [3, 4], [5, 6]]")->Slice(1);
  const auto rows = ReadAll<float>(array);
  EXPECT_TRUE(rows.own.empty());
  EXPECT_EQ(rows.row(1)[0], 5);
}

TEST(VectorArray, MarksRowsThatCantMatch) {
  const auto rows = ReadAll<float>(FromJson(arrow::fixed_size_list(arrow::float32(), 2),
                                            "[[1, null], [NaN, 0], [0, -Inf], [0, 0]]"));
  EXPECT_EQ(rows.states[0], VectorState::kNull);
  EXPECT_EQ(rows.states[1], VectorState::kNonFinite);
  EXPECT_EQ(rows.states[2], VectorState::kNonFinite);
  EXPECT_EQ(rows.states[3], VectorState::kValid);
}

TEST(VectorArray, ListsOfAnotherWidthNameTheRow) {
  const auto array = FromJson(arrow::list(arrow::float32()), "[null, [1, 2], [1, 2, 3]]");
  const auto ragged = ReadVectors<float>(array, {.what = "left column \"v\"", .first_row = 40});
  EXPECT_EQ(base::MessageOf(ragged.status()),
            "left column \"v\": row 42 has 3 elements, but row 41 has 2");
  const auto asked = ReadVectors<float>(
      array, {.what = "left column \"v\"", .width = 3, .expected = "right column \"w\""});
  EXPECT_EQ(base::MessageOf(asked.status()),
            "left column \"v\": row 1 has 2 elements, but right column \"w\" has 3");
}

TEST(VectorArray, IntegersThatDoubleRoundsNameTheRow) {
  const VectorRead read{.what = "left column \"v\"", .first_row = 40};
  for (const auto& element : {arrow::int64(), arrow::uint64()}) {
    for (const auto& type : {arrow::fixed_size_list(element, 2), arrow::list(element)}) {
      // The ends of what is exact, and powers of two beyond.
      const auto exact =
          FromJson(type, "[[1, 9007199254740992], null, [9007199254740994, 4611686018427387904]]");
      EXPECT_EQ(ReadAll<double>(exact).row(2)[0], 9007199254740994.0);
      const auto odd = FromJson(type, "[[1, 2], [3, 4], null, [5, 9007199254740993]]")->Slice(1);
      const auto read_odd = ReadVectors<double>(odd, read);
      EXPECT_EQ(base::CodeOf(read_odd.status()), base::ErrorCode::kInvalid);
      EXPECT_NE(base::MessageOf(read_odd.status())
                    .find("left column \"v\": row 42 has the element 9007199254740993"),
                std::string::npos)
          << read_odd.status();
    }
  }
  const auto ends = arrow::fixed_size_list(arrow::int64(), 1);
  EXPECT_TRUE(ReadVectors<double>(FromJson(ends, "[[-9223372036854775808]]"), read).ok());
  EXPECT_FALSE(ReadVectors<double>(FromJson(ends, "[[-9223372036854775807]]"), read).ok());
  EXPECT_FALSE(ReadVectors<double>(FromJson(ends, "[[9223372036854775807]]"), read).ok());
  const auto unsigned_end = arrow::fixed_size_list(arrow::uint64(), 1);
  EXPECT_FALSE(ReadVectors<double>(FromJson(unsigned_end, "[[18446744073709551615]]"), read).ok());
}

TEST(VectorArray, EmptyVectorsMatchNothing) {
  const auto rows = ReadAll<double>(FromJson(arrow::list(arrow::float32()), "[[], []]"));
  EXPECT_EQ(rows.states[0], VectorState::kNull);
  EXPECT_EQ(ReadAll<double>(FromJson(arrow::list(arrow::float32()), "[]")).num_rows, 0);
  const auto mixed = FromJson(arrow::list(arrow::float32()), "[[], [1, 2], [], [3, 4]]");
  const auto some = ReadAll<double>(mixed);
  EXPECT_EQ(some.width, 2);
  EXPECT_EQ(some.states, (std::vector<VectorState>{VectorState::kNull, VectorState::kValid,
                                                   VectorState::kNull, VectorState::kValid}));
  EXPECT_EQ(some.row(3)[1], 4);
}

}  // namespace
}  // namespace kinjo::exec
