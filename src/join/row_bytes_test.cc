#include "join/row_bytes.h"

#include "arrow/type.h"
#include "gtest/gtest.h"

namespace kinjo::join {
namespace {

TEST(ValueBytes, OfFixedWidths) {
  EXPECT_EQ(ValueBytes(*arrow::boolean()), 1);
  EXPECT_EQ(ValueBytes(*arrow::int16()), 2);
  EXPECT_EQ(ValueBytes(*arrow::float64()), 8);
  EXPECT_EQ(ValueBytes(*arrow::fixed_size_binary(20)), 20);
}

TEST(ValueBytes, OfNestedTypesAreThoseOfTheirParts) {
  const auto vector = arrow::fixed_size_list(arrow::float32(), 768);
  EXPECT_EQ(ValueBytes(*vector), 768 * 4);
  const auto nested = arrow::struct_({arrow::field("v", vector), arrow::field("s", arrow::utf8()),
                                      arrow::field("b", arrow::int8())});
  EXPECT_EQ(ValueBytes(*nested), 768 * 4 + ValueBytes(*arrow::utf8()) + 1);
  EXPECT_EQ(ValueBytes(*arrow::fixed_size_list(nested, 3)), 3 * ValueBytes(*nested));
}

TEST(ValueBytes, OfOtherTypesAreAGuess) {
  EXPECT_GT(ValueBytes(*arrow::utf8()), 0);
  EXPECT_EQ(ValueBytes(*arrow::utf8()), ValueBytes(*arrow::list(arrow::int32())));
}

}  // namespace
}  // namespace kinjo::join
