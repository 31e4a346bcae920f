#include "tabular/vector_text.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

using testing::HasSubstr;

std::optional<std::vector<float>> Parse(const std::string& text) {
  arrow::FloatBuilder builder;
  if (!ParseVectorText(text, &builder)) return std::nullopt;
  std::vector<float> numbers;
  for (int64_t i = 0; i < builder.length(); ++i) numbers.push_back(builder.GetValue(i));
  return numbers;
}

std::shared_ptr<arrow::StringArray> Cells(const std::string& json) {
  return std::static_pointer_cast<arrow::StringArray>(
      arrow::json::ArrayFromJSONString(arrow::utf8(), json).ValueOrDie());
}

TEST(VectorText, ReadsTheUsualForms) {
  const std::vector<float> expected = {0.1f, -2000.0f, 7.0f};
  for (const std::string text : {"[0.1, -2e3, 7]", "[0.1,-2e3,7]", " [ 0.1 , -2e3 , 7 ] ",
                                 "[0.1 -2e3 7]", "[0.1\n -2000.  7.]", "[+0.1, -2E+3, 7.0]"}) {
    EXPECT_EQ(Parse(text), expected) << text;
  }
  EXPECT_EQ(Parse("[]"), std::vector<float>{});
  EXPECT_EQ(Parse("[ ]"), std::vector<float>{});
  EXPECT_EQ(Parse("[5]"), std::vector<float>{5});
}

TEST(VectorText, KeepsNumbersWithoutAFiniteFloat) {
  const auto numbers = Parse("[nan, inf, -inf, 1e60, -1e60, 1e-60]").value();
  EXPECT_TRUE(std::isnan(numbers[0]));
  EXPECT_EQ(numbers[1], HUGE_VALF);
  EXPECT_EQ(numbers[2], -HUGE_VALF);
  EXPECT_EQ(numbers[3], HUGE_VALF);
  EXPECT_EQ(numbers[4], -HUGE_VALF);
  EXPECT_EQ(numbers[5], 0.0f);
}

// Beyond what even a double holds, on either side.
TEST(VectorText, TellsTheTooSmallFromTheTooLarge) {
  const std::string zeros(400, '0');
  const auto numbers = Parse("[1e-400, -1e-400, 1e400, -2.5E+400, 1e-99999999999999999999, 0." +
                             zeros + "1, 1" + zeros + ", 1" + zeros + "e-800]")
                           .value();
  EXPECT_EQ(numbers, (std::vector<float>{0, 0, HUGE_VALF, -HUGE_VALF, 0, 0, HUGE_VALF, 0}));
}

TEST(VectorText, OtherTextIsNoVector) {
  for (const std::string text : {"", "[", "]", "[1", "1]", "1, 2", "[1,]", "[,1]", "[1,,2]", "[a]",
                                 "[1-2]", "[1, two]", "[[1]]", "[0x10]", "[1;2]", "[1] x"}) {
    EXPECT_EQ(Parse(text), std::nullopt) << text;
  }
}

TEST(VectorText, AColumnIsVectorsOnlyWhenAllValuesAre) {
  EXPECT_TRUE(HoldsVectors(*Cells(R"(["[1, 2]", null, "[3]"])")));
  EXPECT_FALSE(HoldsVectors(*Cells(R"(["[1, 2]", "x"])")));
  EXPECT_FALSE(HoldsVectors(*Cells(R"([null, null])")));
  EXPECT_FALSE(HoldsVectors(*Cells(R"([])")));
}

TEST(VectorText, TheWrongValueIsNamedWithItsRow) {
  const auto lists =
      ParseVectors(*Cells(R"(["[1, 2.5]", null, "[]"])"), "v", "q.csv", 1).ValueOrDie();
  const auto expected =
      arrow::json::ArrayFromJSONString(arrow::list(arrow::float32()), "[[1, 2.5], null, []]");
  EXPECT_TRUE(lists->Equals(**expected));
  const auto status = ParseVectors(*Cells(R"(["[1]", "oops"])"), "v", "q.csv", 40).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("row 41 of q.csv, column v: \"oops\""));
}

}  // namespace
}  // namespace kinjo::tabular
