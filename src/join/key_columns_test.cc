#include "join/key_columns.h"

#include <cmath>

#include "arrow/json/from_string.h"
#include "gtest/gtest.h"
#include "join/key_table.h"

namespace kinjo::join {
namespace {

std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& values) {
  return arrow::json::ArrayFromJSONString(type, values).ValueOrDie();
}

KeyBytes KeysOf(const std::vector<std::shared_ptr<arrow::Array>>& arrays) {
  arrow::FieldVector fields;
  std::vector<KeyColumn> columns;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const std::string name = base::Concat("c", i);
    fields.push_back(arrow::field(name, arrays[i]->type()));
    columns.push_back({.name = name, .root = name, .type = arrays[i]->type()});
  }
  const auto batch = arrow::RecordBatch::Make(arrow::schema(fields), arrays[0]->length(), arrays);
  return ReadKeys(*batch, columns).ValueOrDie();
}

Side MakeSide(const std::string& name, const std::shared_ptr<arrow::DataType>& type) {
  return {.name = name,
          .option = "",
          .uri = name + ".table",
          .schema = arrow::schema({arrow::field("k", type)})};
}

/// Two arrays of one kind whose rows are equal pairwise, and differ from each other otherwise.
struct Pair {
  std::shared_ptr<arrow::Array> a, b;
};

std::vector<Pair> EqualPairs() {
  using namespace arrow;  // NOLINT: types only
  const auto coded = dictionary(int8(), utf8());
  return {
      {Json(int8(), "[-1, 0, 7]"), Json(int64(), "[-1, 0, 7]")},
      {Json(uint16(), "[1, 0, 7]"), Json(int32(), "[1, 0, 7]")},
      {Json(uint64(), "[18446744073709551615, 0]"), Json(uint64(), "[18446744073709551615, 0]")},
      {Json(utf8(), R"(["", "a", "a\u0000"])"), Json(large_utf8(), R"(["", "a", "a\u0000"])")},
      {Json(utf8(), R"(["x", "a quite long text, longer than most"])"),
       Json(utf8_view(), R"(["x", "a quite long text, longer than most"])")},
      {Json(binary(), R"(["ab", "cd"])"), Json(fixed_size_binary(2), R"(["ab", "cd"])")},
      {Json(boolean(), "[true, false]"), Json(boolean(), "[true, false]")},
      {Json(float32(), "[0.5, -0.0, 1e9]"), Json(float64(), "[0.5, 0.0, 1e9]")},
      {Json(date32(), "[-1, 0, 19000]"), Json(date64(), "[-86400000, 0, 1641600000000]")},
      {Json(timestamp(TimeUnit::SECOND), "[-1, 0, 5]"),
       Json(timestamp(TimeUnit::NANO), "[-1000000000, 0, 5000000000]")},
      {Json(timestamp(TimeUnit::MICRO, "UTC"), "[1500000, 7]"),
       Json(timestamp(TimeUnit::MICRO, "Europe/Berlin"), "[1500000, 7]")},
      {Json(time32(TimeUnit::MILLI), "[1, 2]"), Json(time64(TimeUnit::MICRO), "[1000, 2000]")},
      {Json(duration(TimeUnit::SECOND), "[-2, 2]"),
       Json(duration(TimeUnit::MILLI), "[-2000, 2000]")},
      {Json(decimal128(10, 2), R"(["1.50", "0.00", "-100.00"])"),
       Json(decimal256(40, 5), R"(["1.50000", "0.00000", "-100.00000"])")},
      {Json(coded, R"(["b", "a"])"), Json(utf8(), R"(["b", "a"])")},
  };
}

TEST(KeyColumnsTest, EqualValuesOfOneKindAreEqualKeys) {
  for (const Pair& pair : EqualPairs()) {
    const std::string what = pair.a->type()->ToString() + " and " + pair.b->type()->ToString();
    const auto resolved = ResolveKeys("by", {"k"}, MakeSide("left", pair.a->type()),
                                      MakeSide("right", pair.b->type()));
    ASSERT_TRUE(resolved.ok()) << what << ": " << resolved.status();
    const KeyBytes a = KeysOf({pair.a});
    const KeyBytes b = KeysOf({pair.b});
    for (size_t i = 0; i < a.keys.size(); ++i) {
      EXPECT_TRUE(a.is_key[i] && b.is_key[i]) << what;
      for (size_t j = 0; j < b.keys.size(); ++j) EXPECT_EQ(a.keys[i] == b.keys[j], i == j) << what;
    }
  }
}

TEST(KeyColumnsTest, OtherKindsAreRefusedWithBothNames) {
  const auto pairs = EqualPairs();
  for (const Pair& a : pairs) {
    for (const Pair& b : pairs) {
      const auto resolved =
          ResolveKeys("by", {"k"}, MakeSide("left", a.a->type()), MakeSide("right", b.b->type()));
      if (resolved.ok()) continue;
      const std::string message = resolved.status().message();
      EXPECT_NE(message.find("left column \"k\" is "), std::string::npos) << message;
      EXPECT_NE(message.find(b.b->type()->ToString()), std::string::npos) << message;
    }
  }
  EXPECT_FALSE(
      ResolveKeys("by", {"k"}, MakeSide("left", arrow::int8()), MakeSide("right", arrow::float32()))
          .ok());
  EXPECT_FALSE(ResolveKeys("by", {"k"}, MakeSide("left", arrow::list(arrow::int8())),
                           MakeSide("right", arrow::list(arrow::int8())))
                   .ok());
}

TEST(KeyColumnsTest, NullAndNanEqualNothing) {
  EXPECT_EQ(KeysOf({Json(arrow::float64(), "[NaN, null, 1]")}).is_key,
            (std::vector<bool>{false, false, true}));
  EXPECT_EQ(
      KeysOf({Json(arrow::utf8(), R"(["a", null, "b"])"), Json(arrow::int8(), "[null, 1, 2]")})
          .is_key,
      (std::vector<bool>{false, false, true}));
}

TEST(KeyColumnsTest, ColumnsDontRunIntoEachOther) {
  const KeyBytes keys = KeysOf(
      {Json(arrow::utf8(), R"(["ab", "a", "ab"])"), Json(arrow::utf8(), R"(["c", "bc", "c"])")});
  EXPECT_NE(keys.keys[0], keys.keys[1]);
  EXPECT_EQ(keys.keys[0], keys.keys[2]);
}

TEST(KeyTableTest, NumbersKeysInTheirOrder) {
  KeyTable table;
  EXPECT_EQ(table.Find("0"), KeyTable::kAbsent);
  for (uint32_t round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < 5000; ++i) EXPECT_EQ(table.Add(std::to_string(i * 7)), i);
  }
  EXPECT_EQ(table.Add(""), 5000u);
  EXPECT_EQ(table.size(), 5001u);
  for (uint32_t i = 0; i < 5000; ++i) EXPECT_EQ(table.Find(std::to_string(i * 7)), i);
  EXPECT_EQ(table.Find("1"), KeyTable::kAbsent);
  EXPECT_GT(table.size_bytes(), 5001 * 12);
}

}  // namespace
}  // namespace kinjo::join
