#include "join/search.h"

#include <gtest/gtest.h>

#include "join/brute_force.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

std::shared_ptr<tabular::TableSource> Queries(const Vectors& vectors) {
  return tabular::MakeBatchSource(MakeVectorBatch("id", "q", vectors, arrow::float32(), 2),
                                  "queries");
}

TEST(SearchOptions, GiveTheQueriesNumberWhereThereAreMany) {
  EXPECT_FALSE(SearchOptions({}, *Queries({{1, 2}})).with_query_index);
  EXPECT_TRUE(SearchOptions({}, *Queries({{1, 2}, {3, 4}})).with_query_index);
  EXPECT_TRUE(SearchOptions({}, *Queries({})).with_query_index);
  JoinOptions asked;
  asked.with_query_index = true;
  EXPECT_TRUE(SearchOptions(asked, *Queries({{1, 2}})).with_query_index);
  const auto reader = Queries({{1, 2}})->Read(std::nullopt).ValueOrDie();
  EXPECT_TRUE(SearchOptions({}, *tabular::MakeStreamSource(reader, "stream")).with_query_index);
}

TEST(SearchOptions, GiveNoColumnOfTheQueriesUnlessAsked) {
  const auto none = SearchOptions({}, *Queries({{1, 2}}));
  EXPECT_EQ(none.left_select, std::vector<std::string>{});
  JoinOptions asked;
  asked.left_select = {"id"};
  EXPECT_EQ(SearchOptions(asked, *Queries({{1, 2}})).left_select, std::vector<std::string>{"id"});
}

TEST(SearchOptions, OnNeedNotBeAColumnOfTheQueries) {
  JoinOptions options;
  options.on = "embedding";
  JoinOptions search = SearchOptions(options, *Queries({{1, 2}}));
  EXPECT_EQ(search.on, "");
  EXPECT_EQ(search.right_on, "embedding");
  options.right_on = "other";
  search = SearchOptions(options, *Queries({{1, 2}}));
  EXPECT_EQ(search.right_on, "other");
  options.on = "q";
  search = SearchOptions(options, *Queries({{1, 2}}));
  EXPECT_EQ(search.on, "q");
}

TEST(Search, IsTheJoinOfItsQueries) {
  const Vectors vectors = IntegerVectors(900, 2, 1, -30, 30);
  const auto dataset = std::make_shared<MemoryDataset>(vectors, 300, 2);
  dataset->AddIndex("vec", "l2", {{0, 1, 2}}, IntegerVectors(8, 2, 2, -30, 30));
  const Vectors queries = IntegerVectors(20, 2, 3, -30, 30);
  JoinOptions options;
  options.k = 4;
  options.threads = 1;
  options.memory_limit_bytes = int64_t{1} << 28;
  KINJO_ASSERT_RESULT(search, MakeSearch(dataset, Queries(queries), options));
  KINJO_ASSERT_RESULT(stream, search->Run({}, {}));
  arrow::RecordBatchVector batches;
  while (true) {
    KINJO_ASSERT_RESULT(batch, stream->Next());
    if (batch == nullptr) break;
    batches.push_back(batch);
  }
  const auto schema = search->output_schema();
  const auto found = arrow::Table::FromRecordBatches(schema, batches).ValueOrDie();
  options.left_select.emplace();
  options.with_query_index = true;
  KINJO_ASSERT_RESULT(joined, RunJoin(Queries(queries), MakeDatasetSide(dataset), options));
  EXPECT_TRUE(
      found->CombineChunks().ValueOrDie()->Equals(*joined.table->CombineChunks().ValueOrDie()));
  EXPECT_EQ(found->num_rows(), 80);
}

TEST(Search, KnowsTheVersionThatIsOpen) {
  const auto dataset = std::make_shared<MemoryDataset>(IntegerVectors(9, 2, 1), 300, 2);
  JoinOptions options;
  options.right_version = dataset->version();
  EXPECT_TRUE(MakeSearch(dataset, Queries({{1, 2}}), options).ok());
  options.right_version = dataset->version() + 1;
  const arrow::Status status = MakeSearch(dataset, Queries({{1, 2}}), options).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kInvalid);
  EXPECT_NE(base::MessageOf(status).find("is open at version"), std::string::npos);
  options.right_version.reset();
  options.right_tag = "stable";
  EXPECT_EQ(base::CodeOf(MakeSearch(dataset, Queries({{1, 2}}), options).status()),
            base::ErrorCode::kInvalid);
}

}  // namespace
}  // namespace kinjo::join
