// SQL's names of types and the numbers they take.
#include "predicate/type_name.h"

#include "gtest/gtest.h"

namespace kinjo::predicate {
namespace {

std::string Named(const std::string& name, const std::vector<int64_t>& numbers = {}) {
  const auto type = TypeNamed(name, numbers);
  if (!type.ok()) return "refused";
  return *type == nullptr ? "unknown" : (*type)->ToString();
}

TEST(TypeNameTest, NamesMeanWhatDataFusionMeans) {
  EXPECT_EQ(Named("int"), "int32");
  EXPECT_EQ(Named("int8"), "int64");
  EXPECT_EQ(Named("bigint unsigned"), "uint64");
  EXPECT_EQ(Named("float"), "float");
  EXPECT_EQ(Named("double precision"), "double");
  EXPECT_EQ(Named("varchar"), "string");
  EXPECT_EQ(Named("date"), "date32[day]");
  EXPECT_EQ(Named("foo"), "unknown");
  EXPECT_EQ(Named("INT"), "unknown");
}

TEST(TypeNameTest, Numbers) {
  EXPECT_EQ(Named("decimal"), "decimal128(38, 10)");
  EXPECT_EQ(Named("decimal", {5}), "decimal128(5, 0)");
  EXPECT_EQ(Named("numeric", {50, 3}), "decimal256(50, 3)");
  EXPECT_EQ(Named("decimal", {77}), "refused");
  EXPECT_EQ(Named("decimal", {5, 6}), "refused");
  EXPECT_EQ(Named("decimal", {5, 2, 1}), "refused");
  EXPECT_EQ(Named("timestamp"), "timestamp[ns]");
  EXPECT_EQ(Named("timestamp", {0}), "timestamp[s]");
  EXPECT_EQ(Named("timestamp with time zone", {6}), "timestamp[us, tz=UTC]");
  EXPECT_EQ(Named("timestamp", {4}), "refused");
  EXPECT_EQ(Named("int", {5}), "refused");
}

}  // namespace
}  // namespace kinjo::predicate
