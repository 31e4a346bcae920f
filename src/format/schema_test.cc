#include "format/schema.h"

#include <gtest/gtest.h>

#include "format/proto/file_messages.h"

namespace kinjo::format {
namespace {

Field Make(std::string type, int32_t id = 0, int32_t parent_id = -1, std::string name = "f") {
  return Field{
      .id = id, .parent_id = parent_id, .name = std::move(name), .logical_type = std::move(type)};
}

std::string TypeText(const std::string& logical_type) {
  const auto type = ToArrowType(Make(logical_type));
  return type.ok() ? (*type)->ToString() : base::MessageOf(type.status());
}

TEST(SchemaTest, KnowsEveryLogicalType) {
  EXPECT_EQ(TypeText("halffloat"), "halffloat");
  EXPECT_EQ(TypeText("float"), "float");
  EXPECT_EQ(TypeText("large_string"), "large_string");
  EXPECT_EQ(TypeText("json"), "large_binary");
  EXPECT_EQ(TypeText("date64:ms"), "date64[ms]");
  EXPECT_EQ(TypeText("time64:us"), "time64[us]");
  EXPECT_EQ(TypeText("timestamp:us:-"), "timestamp[us]");
  EXPECT_EQ(TypeText("timestamp:ns:UTC"), "timestamp[ns, tz=UTC]");
  EXPECT_EQ(TypeText("timestamp:s:+05:30"), "timestamp[s, tz=+05:30]");
  EXPECT_EQ(TypeText("duration:ms"), "duration[ms]");
  EXPECT_EQ(TypeText("decimal:128:20:2"), "decimal128(20, 2)");
  EXPECT_EQ(TypeText("decimal:256:50:0"), "decimal256(50, 0)");
  EXPECT_EQ(TypeText("fixed_size_binary:16"), "fixed_size_binary[16]");
  EXPECT_EQ(TypeText("fixed_size_list:float:128"), "fixed_size_list<item: float>[128]");
  EXPECT_EQ(TypeText("fixed_size_list:fixed_size_list:float:3:2"),
            "fixed_size_list<item: fixed_size_list<item: float>[3]>[2]");
  EXPECT_EQ(TypeText("dict:string:int32:false"),
            "dictionary<values=string, indices=int32, ordered=0>");
}

TEST(SchemaTest, RefusesOtherTypesByName) {
  for (const char* text : {"", "interval", "time32:us", "decimal:128:99:0", "fixed_size_list:float",
                           "fixed_size_list:float:0", "list", "timestamp", "dict:string"}) {
    const auto type = ToArrowType(Make(text));
    ASSERT_FALSE(type.ok()) << text;
    EXPECT_EQ(base::CodeOf(type.status()), base::ErrorCode::kNotSupported);
    EXPECT_NE(base::MessageOf(type.status()).find("'f'"), std::string::npos);
  }
}

std::vector<Field> Flat() {
  // a struct<b int32, c list<item: string>>, d int64
  return {Make("struct", 0, -1, "a"), Make("int32", 1, 0, "b"), Make("list", 2, 0, "c"),
          Make("string", 3, 2, "item"), Make("int64", 4, -1, "d")};
}

TEST(SchemaTest, BuildsTheTree) {
  const auto schema = MakeSchema(Flat(), {{"key", "value"}});
  ASSERT_TRUE(schema.ok()) << schema.status();
  ASSERT_EQ(schema->fields.size(), 2u);
  ASSERT_NE(schema->FindPath("a.c"), nullptr);
  EXPECT_EQ(schema->FindPath("a.c")->id, 2);
  EXPECT_EQ(schema->FindPath("a.x"), nullptr);
  EXPECT_EQ(schema->FindPath("b"), nullptr);
  EXPECT_EQ(schema->FindId(3)->name, "item");
  EXPECT_EQ(schema->FindId(9), nullptr);
  const auto type = ToArrowType(schema->fields[0]);
  ASSERT_TRUE(type.ok());
  EXPECT_EQ((*type)->ToString(), "struct<b: int32, c: list<item: string>>");
}

TEST(SchemaTest, RefusesTreesThatAreNone) {
  auto twice = Flat();
  twice[4].id = 1;
  EXPECT_FALSE(MakeSchema(twice, {}).ok());
  auto orphan = Flat();
  orphan[1].parent_id = 77;
  EXPECT_FALSE(MakeSchema(orphan, {}).ok());
  auto own_parent = Flat();
  own_parent[1].parent_id = 1;
  EXPECT_FALSE(MakeSchema(own_parent, {}).ok());
  std::vector<Field> deep;
  for (int32_t i = 0; i < 200; ++i) {
    deep.push_back(Make("struct", i, i - 1));
  }
  EXPECT_FALSE(MakeSchema(deep, {}).ok());
}

TEST(SchemaTest, ReadsAFieldMessage) {
  // name "id", parent_id -1, logical type "int64", encoding 1; id absent, not nullable
  const std::string_view bytes(
      "\x12\x02"
      "id\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x2a\x05"
      "int64\x38\x01",
      24);
  Field field;
  ASSERT_TRUE(proto::ParseField(bytes, &field));
  EXPECT_EQ(field.name, "id");
  EXPECT_EQ(field.id, 0);
  EXPECT_EQ(field.parent_id, -1);
  EXPECT_EQ(field.logical_type, "int64");
  EXPECT_FALSE(field.nullable);
}

}  // namespace
}  // namespace kinjo::format
