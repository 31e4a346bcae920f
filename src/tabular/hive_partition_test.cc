#include "tabular/hive_partition.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::tabular {
namespace {

using testing::HasSubstr;

TEST(HivePartition, ReadsNumbersTextsAndNulls) {
  const auto partitions = ReadHivePartitions({"year=2023/city=Z%C3%BCrich/a.parquet",
                                              "year=2024/city=__HIVE_DEFAULT_PARTITION__/b.parquet",
                                              "year=-1/city=7%/c.parquet"})
                              .ValueOrDie();
  ASSERT_EQ(partitions.fields.size(), 2u);
  EXPECT_TRUE(partitions.fields[0]->Equals(arrow::field("year", arrow::int64())));
  EXPECT_TRUE(partitions.fields[1]->Equals(arrow::field("city", arrow::utf8())));
  EXPECT_EQ(partitions.values[0][0]->ToString(), "2023");
  EXPECT_EQ(partitions.values[0][1]->ToString(), "Zürich");
  EXPECT_FALSE(partitions.values[1][1]->is_valid);
  EXPECT_EQ(partitions.values[2][0]->ToString(), "-1");
  EXPECT_EQ(partitions.values[2][1]->ToString(), "7%");
}

TEST(HivePartition, OneTextMakesTheColumnText) {
  const auto partitions = ReadHivePartitions({"d=1/a", "d=x/b", "d=99999999999999999999/c"});
  EXPECT_TRUE(partitions->fields[0]->type()->Equals(arrow::utf8()));
  EXPECT_EQ(partitions->values[0][0]->ToString(), "1");
}

TEST(HivePartition, OtherFoldersAreNoPartitions) {
  EXPECT_TRUE(ReadHivePartitions({"a/b=.parquet", "=x/c.parquet"}).ValueOrDie().fields.empty());
  EXPECT_TRUE(ReadHivePartitions({}).ValueOrDie().fields.empty());
}

TEST(HivePartition, DifferentKeysAreRefused) {
  const auto status = ReadHivePartitions({"a=1/x", "b=1/y"}).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("a=1/x"));
  EXPECT_THAT(status.message(), HasSubstr("b=1/y"));
  EXPECT_EQ(base::CodeOf(ReadHivePartitions({"a=1/x", "y"}).status()), base::ErrorCode::kInvalid);
  EXPECT_EQ(base::CodeOf(ReadHivePartitions({"a=1/a=2/x"}).status()), base::ErrorCode::kInvalid);
}

}  // namespace
}  // namespace kinjo::tabular
