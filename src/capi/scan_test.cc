// Rows of a dataset, tables that stay in memory, and joins on them, through the C++ header.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "arrow/api.h"
#include "arrow/c/bridge.h"
#include "gtest/gtest.h"
#include "kinjo/kinjo.hpp"

namespace {

const std::string kDataset = std::string(KINJO_GOLDEN_DIR) + "/deletes.lance";

#define ASSERT_KINJO_OK(result) ASSERT_TRUE((result).ok()) << (result).error().message

std::shared_ptr<arrow::Table> RowsOf(kinjo::Result<kinjo::Stream> stream) {
  EXPECT_TRUE(stream.ok()) << stream.error().message;
  auto exported = stream->Export();
  const auto reader = arrow::ImportRecordBatchReader(exported->get()).ValueOrDie();
  return reader->ToTable().ValueOrDie()->CombineChunks().ValueOrDie();
}

TEST(Scan, GivesColumnsRowsAndRowIds) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  const int64_t live = static_cast<int64_t>(dataset.value().Info().value().num_rows);
  const auto all = RowsOf(kinjo::Scan(dataset.value()));
  EXPECT_EQ(all->num_rows(), live);
  EXPECT_EQ(kinjo::CountRows(dataset.value()).value(), live);
  const auto few = RowsOf(kinjo::Scan(
      dataset.value(), {std::vector<std::string>{"id"}, "", 3, /*with_row_id=*/true, 2}));
  EXPECT_EQ(few->schema()->field_names(), (std::vector<std::string>{"id", "_rowid"}));
  EXPECT_EQ(few->num_rows(), 3);
  EXPECT_TRUE(few->column(0)->Equals(all->GetColumnByName("id")->Slice(0, 3)));
  EXPECT_EQ(RowsOf(kinjo::Scan(dataset.value(), {{}, "", 0, false, {}}))->num_rows(), 0);
}

TEST(Scan, ReadsTheFragmentsAskedFor) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  kinjo::ScanOptions options;
  int64_t rows = 0;
  for (const uint64_t id : {0, 1}) {
    options.fragment_ids = {id};
    const int64_t some = RowsOf(kinjo::Scan(dataset.value(), options))->num_rows();
    EXPECT_GT(some, 0);
    rows += some;
  }
  EXPECT_EQ(rows, static_cast<int64_t>(dataset.value().Info().value().num_rows));
  options.fragment_ids = std::vector<uint64_t>();
  EXPECT_EQ(RowsOf(kinjo::Scan(dataset.value(), options))->num_rows(), 0);
  options.fragment_ids = {7};
  const auto none = kinjo::Scan(dataset.value(), options);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, KINJO_ERROR_NOT_FOUND);
}

TEST(Scan, FiltersAndCounts) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  const auto all = RowsOf(kinjo::Scan(dataset.value()));
  const auto ids =
      std::static_pointer_cast<arrow::Int64Array>(all->GetColumnByName("id")->chunk(0));
  int64_t expected = 0;
  for (int64_t i = 0; i < ids->length(); ++i) expected += ids->Value(i) < 100 ? 1 : 0;
  ASSERT_GT(expected, 0);
  const auto passing = RowsOf(kinjo::Scan(dataset.value(), {{}, "id < 100", {}, false, {}}));
  EXPECT_EQ(passing->num_rows(), expected);
  EXPECT_EQ(kinjo::CountRows(dataset.value(), "id < 100").value(), expected);
}

TEST(Scan, PassesOverTheFirstRows) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  for (const char* where : {"", "id % 3 = 1"}) {
    kinjo::ScanOptions options{{}, where, {}, /*with_row_id=*/true, 64};
    const auto all = RowsOf(kinjo::Scan(dataset.value(), options));
    const int64_t rows = all->num_rows();
    ASSERT_GT(rows, 150);
    for (const int64_t offset : {int64_t{0}, int64_t{1}, int64_t{63}, rows - 20, rows - 1}) {
      options.offset = offset;
      options.limit = 100;
      EXPECT_TRUE(RowsOf(kinjo::Scan(dataset.value(), options))->Equals(*all->Slice(offset, 100)));
    }
    options.offset = rows;
    EXPECT_EQ(RowsOf(kinjo::Scan(dataset.value(), options))->num_rows(), 0);
    options.offset = INT64_MAX;
    EXPECT_EQ(RowsOf(kinjo::Scan(dataset.value(), options))->num_rows(), 0);
    options.offset = -2;
    EXPECT_EQ(kinjo::Scan(dataset.value(), options).error().message,
              "offset must not be negative, but is -2");
  }
}

TEST(Scan, TellsTheRowsThatItHandsOn) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  std::vector<kinjo_progress> told;
  const kinjo::ProgressFunction tell = [&](const kinjo_progress& progress) {
    told.push_back(progress);
  };
  kinjo::ScanOptions options{{}, "id % 3 = 1", 100};
  options.offset = 5;
  EXPECT_EQ(RowsOf(kinjo::Scan(dataset.value(), options, {nullptr, &tell}))->num_rows(), 100);
  ASSERT_GE(told.size(), 2U);
  EXPECT_EQ(told.front().done_rows, 0);
  EXPECT_EQ(told.front().total_rows, 100);
  EXPECT_EQ(told.back().done_rows, 100);
}

TEST(Scan, IsWrittenWhole) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  const auto path = std::filesystem::temp_directory_path() /
                    ("kinjo_scan_" + std::to_string(getpid()) + ".jsonl");
  auto stream = kinjo::Scan(dataset.value(), {std::vector<std::string>{"id"}, "", 5, false, 2});
  ASSERT_KINJO_OK(stream);
  ASSERT_KINJO_OK(stream->Next(2));
  const auto written = stream->Write(path);
  ASSERT_KINJO_OK(written);
  EXPECT_EQ(written.value(), 3);
  std::ifstream file(path);
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(file), {}, '\n'), 3);
  std::filesystem::remove(path);

  const auto cancel = kinjo::Cancel::Make();
  cancel.value().Raise();
  auto stopped = kinjo::Scan(dataset.value(), {}, {&cancel.value()});
  const auto nothing = stopped->Write(path);
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, KINJO_ERROR_CANCELLED);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Scan, RefusesWhatIsntThere) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  const auto column =
      kinjo::Scan(dataset.value(), {std::vector<std::string>{"no"}, "", {}, false, {}});
  ASSERT_FALSE(column.ok());
  EXPECT_EQ(column.error().code, KINJO_ERROR_NOT_FOUND);
  EXPECT_NE(column.error().message.find("has no column no; it has id"), std::string::npos);
  const auto where = kinjo::CountRows(dataset.value(), "id <");
  ASSERT_FALSE(where.ok());
  EXPECT_EQ(where.error().code, KINJO_ERROR_INVALID);
  EXPECT_EQ(where.error().message.rfind("where: ", 0), 0U);
  const auto limit = kinjo::Scan(dataset.value(), {{}, "", -1, false, {}});
  ASSERT_FALSE(limit.ok());
  EXPECT_EQ(limit.error().message, "limit must not be negative, but is -1");
}

TEST(Scan, StopsOnRequest) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  ASSERT_KINJO_OK(dataset);
  const auto cancel = kinjo::Cancel::Make();
  cancel.value().Raise();
  auto stream = kinjo::Scan(dataset.value(), {}, {&cancel.value()});
  ASSERT_KINJO_OK(stream);
  const auto batch = stream->Next();
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().code, KINJO_ERROR_CANCELLED);
}

// The rows of the dataset, kept in memory in batches of 50.
kinjo::Result<kinjo::Table> InMemory() {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  auto exported = kinjo::Scan(dataset.value(), {{}, "", {}, false, 50})->Export();
  return kinjo::Table::FromRows(exported->get(), "memory");
}

TEST(RowsInMemory, AreARightSideLikeTheFilesTheyCameFrom) {
  const auto rows = InMemory();
  ASSERT_KINJO_OK(rows);
  const auto left = kinjo::Table::Open(kDataset);
  kinjo::JoinOptions options;
  options.k = 4;
  options.index = "never";
  auto in_memory = kinjo::Join::Make(left.value(), rows.value(), options);
  ASSERT_KINJO_OK(in_memory);
  auto in_files = kinjo::Join::Make(left.value(), kDataset, options);
  ASSERT_KINJO_OK(in_files);
  EXPECT_TRUE(RowsOf(in_memory->Run())->Equals(*RowsOf(in_files->Run())));
}

TEST(RowsInMemory, JoinWithThemselves) {
  const auto rows = InMemory();
  ASSERT_KINJO_OK(rows);
  kinjo::JoinOptions options;
  options.k = 3;
  options.exclude_self = "";
  auto in_memory = kinjo::Join::Make(rows.value(), rows.value(), options);
  ASSERT_KINJO_OK(in_memory);
  options.index = "never";
  auto in_files = kinjo::Join::Make(kinjo::Table::Open(kDataset).value(), kDataset, options);
  ASSERT_KINJO_OK(in_files);
  EXPECT_TRUE(RowsOf(in_memory->Run())->Equals(*RowsOf(in_files->Run())));
  const auto others = InMemory();
  const auto refused = kinjo::Join::Make(rows.value(), others.value(), options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, KINJO_ERROR_INVALID);
}

TEST(RowsInMemory, ALanceTableIsJoinedAsADataset) {
  const auto left = kinjo::Table::Open(kDataset);
  kinjo::JoinOptions options;
  options.index = "require";
  options.on = "vec";
  const std::string indexed = std::string(KINJO_GOLDEN_DIR) + "/pq8_l2.lance";
  const auto right = kinjo::Table::Open(indexed);
  const auto join = kinjo::Join::Make(right.value(), right.value(), options);
  ASSERT_KINJO_OK(join);
}

TEST(RowsInMemory, AStreamIsNoRightSide) {
  const auto dataset = kinjo::Dataset::Open(kDataset);
  auto exported = kinjo::Scan(dataset.value())->Export();
  const auto stream = kinjo::Table::FromStream(exported->get(), "some rows");
  const auto join = kinjo::Join::Make(kinjo::Table::Open(kDataset).value(), stream.value());
  ASSERT_FALSE(join.ok());
  EXPECT_EQ(join.error().code, KINJO_ERROR_INVALID);
  EXPECT_NE(join.error().message.find("some rows"), std::string::npos);
  kinjo::JoinOptions versioned;
  versioned.right_version = 1;
  const auto rows = InMemory();
  const auto version = kinjo::Join::Make(rows.value(), rows.value(), versioned);
  ASSERT_FALSE(version.ok());
  EXPECT_NE(version.error().message.find("right_version = 1"), std::string::npos);
}

}  // namespace
