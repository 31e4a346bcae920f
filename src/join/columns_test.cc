#include "join/columns.h"

#include <gtest/gtest.h>

namespace kinjo::join {
namespace {

using arrow::field;

Side MakeSide(const std::string& name, arrow::FieldVector fields) {
  return {.name = name,
          .option = name + "_on",
          .uri = name + ".parquet",
          .schema = arrow::schema(std::move(fields))};
}

std::shared_ptr<arrow::DataType> Floats(int width) {
  return arrow::fixed_size_list(arrow::float32(), width);
}

void ExpectError(const arrow::Status& status, base::ErrorCode code, const std::string& message) {
  EXPECT_EQ(base::CodeOf(status), code);
  EXPECT_EQ(base::MessageOf(status), message);
}

TEST(Columns, TheOnlyVectorIsFoundAndSeveralAreListed) {
  const Side one = MakeSide("left", {field("id", arrow::int64()), field("v", Floats(4)),
                                     field("tags", arrow::list(arrow::int32()))});
  const auto found = ResolveVectorColumn(one, "");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->name, "v");
  EXPECT_EQ(found->what, "left column \"v\"");
  EXPECT_EQ(found->type.width, 4);
  // A list of integers is a vector when it is named.
  EXPECT_TRUE(ResolveVectorColumn(one, "tags").ok());

  const Side two =
      MakeSide("right", {field("a", Floats(4)), field("b", arrow::list(arrow::float64()))});
  ExpectError(ResolveVectorColumn(two, "").status(), base::ErrorCode::kInvalid,
              "the right side (right.parquet) has 2 vector columns: a, b; name one with right_on");
  const Side none = MakeSide("left", {field("id", arrow::int64())});
  ExpectError(ResolveVectorColumn(none, "").status(), base::ErrorCode::kInvalid,
              "the left side (left.parquet) has no vector column; its columns: id");
}

TEST(Columns, WhatIsNamedMustExistAndBeAVector) {
  const Side side = MakeSide(
      "left", {field("id", arrow::int64()), field("v", Floats(4)), field("empty", Floats(0))});
  ExpectError(
      ResolveVectorColumn(side, "w").status(), base::ErrorCode::kNotFound,
      "left_on: the left side (left.parquet) has no column \"w\"; its columns: id, v, empty");
  ExpectError(ResolveVectorColumn(side, "id").status(), base::ErrorCode::kInvalid,
              "left_on: left column \"id\" of left.parquet is not a vector but int64; a vector is "
              "a (fixed-size) list of floats or integers, a multivector a list of those");
  EXPECT_EQ(base::CodeOf(ResolveVectorColumn(side, "empty").status()), base::ErrorCode::kInvalid);
}

TEST(Columns, WidthsAndHammingAreChecked) {
  const auto vector = [](const std::string& side, std::shared_ptr<arrow::DataType> type) {
    return *ResolveVectorColumn(MakeSide(side, {field("v", std::move(type))}), "v");
  };
  ExpectError(CheckComparable(vector("left", Floats(64)), vector("right", Floats(128)),
                              kernels::Metric::kL2),
              base::ErrorCode::kInvalid,
              "vectors of different widths: left column \"v\" has 64 elements, right column \"v\" "
              "has 128");
  const auto bytes = arrow::fixed_size_list(arrow::uint8(), 8);
  EXPECT_TRUE(
      CheckComparable(vector("left", bytes), vector("right", bytes), kernels::Metric::kHamming)
          .ok());
  ExpectError(
      CheckComparable(vector("left", Floats(8)), vector("right", bytes), kernels::Metric::kHamming),
      base::ErrorCode::kInvalid,
      "metric = hamming compares uint8 vectors, but left column \"v\" has other elements; choose "
      "metric = l2, cosine or dot");
}

arrow::Result<OutputLayout> Layout(arrow::FieldVector left, arrow::FieldVector right,
                                   const JoinOptions& options) {
  VectorColumn vector;
  vector.name = "v";
  return MakeOutputLayout(MakeSide("left", std::move(left)), MakeSide("right", std::move(right)),
                          vector, options);
}

TEST(Columns, OutputIsLeftRightDistanceRank) {
  JoinOptions options;
  options.with_row_id = options.with_query_index = true;
  const auto layout =
      Layout({field("id", arrow::int64()), field("v", Floats(2))},
             {field("id", arrow::int32(), false), field("v", Floats(2)), field("t", arrow::utf8())},
             options);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->schema->ToString(),
            "id: int64\nv: fixed_size_list<item: float>[2]\nid_right: int32 not null\nt: string\n"
            "_distance: float\n_rank: int32 not null\n_rowid: uint64 not null\n"
            "_query_index: int64 not null");
  options.how = How::kLeft;
  options.right_select = std::vector<std::string>{"v"};
  options.left_select = std::vector<std::string>{"id"};
  const auto left =
      Layout({field("id", arrow::int64()), field("v", Floats(2))},
             {field("id", arrow::int32(), false), field("v", Floats(2), false)}, options);
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_EQ(left->schema->ToString(),
            "id: int64\nv: fixed_size_list<item: float>[2]\n_distance: float\n_rank: int32\n"
            "_rowid: uint64\n_query_index: int64 not null");
}

TEST(Columns, AClashThatTheSuffixCantSolveIsNamed) {
  const auto clash = Layout({field("id", arrow::int64()), field("id_right", arrow::int64())},
                            {field("id", arrow::int64()), field("v", Floats(2))}, {});
  ExpectError(clash.status(), base::ErrorCode::kInvalid,
              "right column \"id\" has the name of left column \"id\", and with suffix = "
              "\"_right\" that of left column \"id_right\"; choose another suffix or leave it out "
              "with right_select");
  // The suffix of one right column never takes the name of another, in whichever order they come.
  const auto id = field("id", arrow::int64());
  const auto id_right = field("id_right", arrow::int64());
  for (const auto& right : {arrow::FieldVector{id, id_right}, arrow::FieldVector{id_right, id}}) {
    const arrow::Status status = Layout({id}, right, {}).status();
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kInvalid);
    EXPECT_NE(status.message().find("right column \"id_right\""), std::string::npos) << status;
    EXPECT_NE(status.message().find("right column \"id\""), std::string::npos) << status;
  }
  const auto reserved = Layout({field("_distance", arrow::float32())}, {field("v", Floats(2))}, {});
  ExpectError(reserved.status(), base::ErrorCode::kInvalid,
              "left column \"_distance\" has the name of the join's column \"_distance\"; leave it "
              "out with left_select");
  const auto renamed = Layout({field("q", arrow::int64())}, {field("_rank", arrow::int64())}, {});
  ASSERT_TRUE(renamed.ok()) << renamed.status();
  EXPECT_EQ(renamed->schema->field(1)->name(), "_rank_right");
  JoinOptions options;
  options.right_select = std::vector<std::string>{"nope"};
  ExpectError(
      Layout({field("q", arrow::int64())}, {field("a", arrow::int64())}, options).status(),
      base::ErrorCode::kNotFound,
      "right_select: the right side (right.parquet) has no column \"nope\"; its columns: a");
}

}  // namespace
}  // namespace kinjo::join
