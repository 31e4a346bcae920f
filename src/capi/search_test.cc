// Searches through the C++ header: an open dataset asked many times, and vectors in memory.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "arrow/api.h"
#include "arrow/c/bridge.h"
#include "gtest/gtest.h"
#include "kinjo/kinjo.hpp"

namespace {

const std::string kDataset = std::string(KINJO_GOLDEN_DIR) + "/pq8_l2.lance";
constexpr int64_t kDim = 16;

#define ASSERT_KINJO_OK(result) ASSERT_TRUE((result).ok()) << (result).error().message

std::vector<float> Vectors(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count * kDim));
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  return values;
}

std::shared_ptr<arrow::Table> RowsOf(kinjo::Result<kinjo::Join> join) {
  EXPECT_TRUE(join.ok()) << join.error().message;
  auto stream = join->Run();
  EXPECT_TRUE(stream.ok()) << stream.error().message;
  auto exported = stream->Export();
  const auto reader = arrow::ImportRecordBatchReader(exported->get()).ValueOrDie();
  return reader->ToTable().ValueOrDie()->CombineChunks().ValueOrDie();
}

TEST(Search, OneQueryGivesItsRows) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  const auto query = kinjo::Table::FromVectors(Vectors(1), kDim);
  ASSERT_KINJO_OK(query);
  EXPECT_EQ(query.value().NumRows().value(), 1);
  kinjo::JoinOptions options;
  options.k = 3;
  const auto rows = RowsOf(kinjo::Join::Search(dataset.value(), query.value(), options));
  EXPECT_EQ(rows->schema()->field_names(),
            (std::vector<std::string>{"id", "name", "_distance", "_rank"}));
  EXPECT_EQ(rows->num_rows(), 3);
}

TEST(Search, NearestPartitionsAreThoseThatOneProbeReads) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  std::vector<float> vectors = Vectors(30);
  for (size_t i = 0; i < vectors.size(); ++i) vectors[i] *= static_cast<float>(i / kDim);
  vectors[7 * kDim] = std::nanf("");
  const auto partitions_of = [&](const std::vector<float>& values, const char* index) {
    const auto queries = kinjo::Table::FromVectors(values, kDim);
    kinjo::JoinOptions options;
    options.index = index;
    auto search = kinjo::Join::Search(dataset.value(), queries.value(), options);
    const auto count = static_cast<int64_t>(values.size()) / kDim;
    auto found = search->NearestPartitions(count);
    EXPECT_TRUE(found.ok()) << found.error().message;
    EXPECT_FALSE(search->NearestPartitions(count + 1).ok());
    return found.value();
  };
  const std::vector<int32_t> nearest = partitions_of(vectors, "vec_idx");
  EXPECT_EQ(nearest[7], -1);
  EXPECT_EQ(partitions_of(vectors, "never"), std::vector<int32_t>(30, -1));
  // Rows of one partition, searched together with one probe, read one partition.
  std::map<int32_t, std::vector<float>> rows_of;
  for (size_t row = 0; row < nearest.size(); ++row) {
    if (nearest[row] < 0) continue;
    auto& rows = rows_of[nearest[row]];
    rows.insert(rows.end(), &vectors[row * kDim], &vectors[row * kDim] + kDim);
  }
  ASSERT_GT(rows_of.size(), 1U);
  for (const auto& [partition, rows] : rows_of) {
    const auto queries = kinjo::Table::FromVectors(rows, kDim);
    kinjo::JoinOptions options;
    options.nprobes = 1;
    auto search = kinjo::Join::Search(dataset.value(), queries.value(), options);
    auto stream = search->Run();
    ASSERT_KINJO_OK(stream);
    auto exported = stream->Export();
    ASSERT_TRUE(arrow::ImportRecordBatchReader(exported->get()).ValueOrDie()->ToTable().ok());
    EXPECT_NE(search->DescribeReport().value().find("\"partitions_read\":1,"), std::string::npos)
        << partition;
  }
}

TEST(Search, AnOpenDatasetIsAskedManyTimesAndByJoins) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  const auto queries = kinjo::Table::FromVectors(Vectors(25), kDim);
  ASSERT_KINJO_OK(queries);
  kinjo::JoinOptions options;
  options.refine_factor = 4;
  const auto found = RowsOf(kinjo::Join::Search(dataset.value(), queries.value(), options));
  EXPECT_EQ(found->num_rows(), 250);
  options.left_select = std::vector<std::string>{};
  options.with_query_index = true;
  for (int round = 0; round < 3; ++round) {
    const auto again = RowsOf(kinjo::Join::Search(dataset.value(), queries.value(), options));
    EXPECT_TRUE(found->Equals(*again));
    const auto open = RowsOf(kinjo::Join::Make(queries.value(), dataset.value(), options));
    EXPECT_TRUE(found->Equals(*open));
    const auto named = RowsOf(kinjo::Join::Make(queries.value(), kDataset, options));
    EXPECT_TRUE(found->Equals(*named));
  }
}

TEST(Search, OneByOneOrAsABatchIsTheSame) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  const std::vector<float> values = Vectors(7);
  const auto batch = kinjo::Table::FromVectors(values, kDim);
  ASSERT_KINJO_OK(batch);
  kinjo::JoinOptions options;
  options.k = 5;
  const auto all = RowsOf(kinjo::Join::Search(dataset.value(), batch.value(), options));
  ASSERT_EQ(all->num_rows(), 35);
  const auto without_index = all->RemoveColumn(all->num_columns() - 1).ValueOrDie();
  for (int64_t i = 0; i < 7; ++i) {
    const std::vector<float> one(values.begin() + i * kDim, values.begin() + (i + 1) * kDim);
    const auto query = kinjo::Table::FromVectors(one, kDim);
    ASSERT_KINJO_OK(query);
    const auto rows = RowsOf(kinjo::Join::Search(dataset.value(), query.value(), options));
    EXPECT_TRUE(without_index->Slice(i * 5, 5)->Equals(*rows)) << i;
  }
}

TEST(Search, TheDatasetAndTheQueriesMayGoFirst) {
  auto search = [] {
    const auto dataset = kinjo::Dataset::Open(kDataset);
    const auto query = kinjo::Table::FromVectors(Vectors(1), kDim);
    return kinjo::Join::Search(dataset.value(), query.value());
  }();
  EXPECT_EQ(RowsOf(std::move(search))->num_rows(), 10);
}

TEST(Search, IsExplained) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  const auto query = kinjo::Table::FromVectors(Vectors(1), kDim);
  ASSERT_KINJO_OK(query);
  const auto search = kinjo::Join::Search(dataset.value(), query.value());
  ASSERT_KINJO_OK(search);
  const auto plan = search.value().Explain();
  ASSERT_KINJO_OK(plan);
  EXPECT_NE(plan.value().find("ANNIvfPartition"), std::string::npos) << plan.value();
  EXPECT_NE(plan.value().find("rows=1"), std::string::npos) << plan.value();
}

TEST(Vectors, HaveTheElementTypeTheyAreGivenIn) {
  const auto type_of = [](kinjo::Result<kinjo::Table> table) {
    EXPECT_TRUE(table.ok()) << table.error().message;
    auto schema = table->Schema();
    return arrow::ImportSchema(schema->get()).ValueOrDie()->field(0)->type()->field(0)->type();
  };
  EXPECT_TRUE(
      type_of(kinjo::Table::FromVectors(std::vector<float>{1, 2}, 2))->Equals(*arrow::float32()));
  EXPECT_TRUE(
      type_of(kinjo::Table::FromVectors(std::vector<double>{1, 2}, 2))->Equals(*arrow::float64()));
  EXPECT_TRUE(
      type_of(kinjo::Table::FromVectors(std::vector<uint8_t>{1, 2}, 1))->Equals(*arrow::uint8()));
  EXPECT_TRUE(type_of(kinjo::Table::FromVectors(std::vector<int8_t>{}, 1))->Equals(*arrow::int8()));
}

TEST(Vectors, InListsAreRowsOfLists) {
  auto table = kinjo::Table::FromVectorLists(Vectors(3), {2, 0, 1}, kDim);
  ASSERT_KINJO_OK(table);
  EXPECT_EQ(*table->NumRows(), 3);
  const auto schema = arrow::ImportSchema(table->Schema()->get()).ValueOrDie();
  ASSERT_EQ(schema->field(0)->type()->id(), arrow::Type::LIST);
  const auto vector = schema->field(0)->type()->field(0)->type();
  ASSERT_EQ(vector->id(), arrow::Type::FIXED_SIZE_LIST);
  EXPECT_TRUE(vector->field(0)->type()->Equals(*arrow::float32()));
  EXPECT_TRUE(kinjo::Table::FromVectorLists(std::vector<double>{}, {}, 4).ok());
}

TEST(Vectors, InListsThatCannotBeAreRefused) {
  const float value = 1;
  kinjo_table* table = nullptr;
  const auto refused = [&](const void* values, std::vector<int64_t> lengths, int64_t lists) {
    kinjo_error* error = nullptr;
    EXPECT_FALSE(
        kinjo_table_from_vector_lists(values, nullptr, lengths.data(), lists, 1, &table, &error));
    EXPECT_EQ(table, nullptr);
    const kinjo::Error taken = kinjo::Error::Take(error);
    EXPECT_EQ(taken.code, KINJO_ERROR_INVALID);
    return taken.message;
  };
  EXPECT_EQ(refused(&value, {1}, -1), "num_lists is -1; it must not be negative");
  EXPECT_NE(refused(&value, {1, -2}, 2).find("list_lengths[1] is -2;"), std::string::npos);
  EXPECT_NE(refused(&value, {1, INT32_MAX}, 2).find("list_lengths[1] is"), std::string::npos);
  EXPECT_NE(refused(nullptr, {1}, 1).find("values"), std::string::npos);
}

TEST(Vectors, ThatCannotBeAreRefused) {
  const float value = 1;
  kinjo_table* table = nullptr;
  const auto refused = [&](const void* values, const char* type, int64_t count, int64_t width) {
    kinjo_error* error = nullptr;
    EXPECT_FALSE(kinjo_table_from_vectors(values, type, count, width, &table, &error));
    EXPECT_EQ(table, nullptr);
    const kinjo::Error taken = kinjo::Error::Take(error);
    EXPECT_EQ(taken.code, KINJO_ERROR_INVALID);
    return taken.message;
  };
  EXPECT_EQ(refused(&value, "float", 1, 1),
            "element_type is 'float'; it must be float16, float32, float64, uint8 or int8");
  EXPECT_EQ(refused(&value, nullptr, -1, 1), "num_vectors is -1; it must not be negative");
  EXPECT_EQ(refused(&value, nullptr, 1, 0), "width is 0; it must be from 1 to 2147483647");
  EXPECT_NE(refused(&value, nullptr, INT64_MAX / 2, 3).find("vectors of width 3"),
            std::string::npos);
  EXPECT_NE(refused(nullptr, nullptr, 1, 1).find("values"), std::string::npos);
}

}  // namespace
