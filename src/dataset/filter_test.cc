// A filter means the same with scalar indexes and without, on datasets whose indexes are stale in
// every way: deleted and moved rows, fragments that no index covers, stable row ids.
#include "dataset/filter.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "arrow/api.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What a filter gives with `use_indexes` or without.
struct Found {
  std::vector<RowAddress> rows;
  std::vector<std::string> indexes;
  int64_t rows_evaluated = 0;
};

class FilterTest : public testing::TestWithParam<const char*> {
 protected:
  FilterTest() {
    dataset_ =
        Dataset::Open(std::string(KINJO_GOLDEN_DIR) + "/" + GetParam() + ".lance").ValueOrDie();
  }

  arrow::Result<Found> Run(const std::string& text, bool use_indexes, int64_t batch_rows = 8192) {
    ARROW_ASSIGN_OR_RAISE(const auto filter,
                          predicate::Predicate::Parse(text, dataset_->arrow_schema()));
    ARROW_ASSIGN_OR_RAISE(const FilterAnswer answer,
                          EvaluateFilter(dataset_.get(), *filter, &pool_, base::CancelToken(),
                                         {.use_indexes = use_indexes, .batch_rows = batch_rows}));
    Found found{.indexes = answer.indexes, .rows_evaluated = answer.rows_evaluated};
    answer.rows->ForEach([&](RowAddress address) {
      found.rows.push_back(address);
      return true;
    });
    return found;
  }

  /// Both ways give the same; returns the one with indexes.
  Found RunBoth(const std::string& text) {
    const auto scanned = Run(text, false, 7);
    const auto looked_up = Run(text, true);
    EXPECT_TRUE(scanned.ok() && looked_up.ok())
        << text << ": " << scanned.status() << ", " << looked_up.status();
    if (!scanned.ok() || !looked_up.ok()) return {};
    EXPECT_EQ(looked_up->rows, scanned->rows) << text;
    EXPECT_THAT(scanned->indexes, IsEmpty());
    EXPECT_EQ(scanned->rows_evaluated, static_cast<int64_t>(dataset_->num_rows()));
    return *looked_up;
  }

  base::ThreadPool pool_{3};
  std::shared_ptr<Dataset> dataset_;
};

std::string NameOf(const testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Datasets, FilterTest, testing::Values("filters", "filters_stable"),
                         NameOf);

/// Conditions on single columns that have an index.
const std::vector<std::string>& Conditions() {
  static const std::vector<std::string> conditions = {
      "i = 17",
      "i <> 17",
      "i < -50",
      "i >= 1000",
      "i BETWEEN 0 AND 9",
      "i IN (1, 5, 900, -7)",
      "i IN (1, NULL)",
      "i IS NULL",
      "i IS NOT NULL",
      "f = 0",
      "f > 3",
      "f <= 0",
      "f < -1",
      "isnan(f)",
      "f IN (0.0, 2.25)",
      "f_bits = 0",
      "f_bits > 3",
      "f_bits < -1",
      "isnan(f_bits)",
      "f_bits IS NULL",
      "s = 's05'",
      "s LIKE 's1%'",
      "s LIKE '%1'",
      "s >= 's20'",
      "s_bits = 'moved'",
      "s_bits IN ('s01', 's02', 'none')",
      "s_bits LIKE '%1'",
      "lower(s_bits) = 's07'",
      "b",
      "NOT b",
      "b IS TRUE",
      "b IS NOT TRUE",
      "b IS NULL",
      "d = DATE '1970-02-01'",
      "d > DATE '1970-12-01'",
      "t < TIMESTAMP '1970-01-01 00:00:01'",
      "t IS NULL",
  };
  return conditions;
}

TEST_P(FilterTest, SingleConditionsEqualAScan) {
  for (const std::string& condition : Conditions()) {
    RunBoth(condition);
    RunBoth(base::Concat("NOT (", condition, ")"));
  }
}

TEST_P(FilterTest, JoinedConditionsEqualAScan) {
  std::mt19937 random(5);
  const auto pick = [&] {
    const std::string condition =
        random() % 5 == 0 ? "plain < 4" : Conditions()[random() % Conditions().size()];
    return base::Concat(random() % 3 == 0 ? "NOT (" : "(", condition, ")");
  };
  for (int round = 0; round < 150; ++round) {
    const char* first = round % 2 == 0 ? " AND " : " OR ";
    const char* second = round % 4 < 2 ? " AND " : " OR ";
    std::string text = base::Concat("(", pick(), first, pick(), ")", second, pick());
    if (round % 5 == 0) text = base::Concat("NOT (", text, ") AND ", pick());
    RunBoth(text);
  }
}

TEST_P(FilterTest, IndexesAnswerWhatTheyCan) {
  EXPECT_THAT(RunBoth("i = 17").indexes, ElementsAre("i_idx"));
  EXPECT_THAT(RunBoth("i <> 17").indexes, ElementsAre("i_idx"));
  EXPECT_THAT(RunBoth("i IS NOT NULL").indexes, ElementsAre("i_idx"));
  EXPECT_THAT(RunBoth("i > 3 AND b AND plain = 2").indexes, ElementsAre("b_idx", "i_idx"));
  EXPECT_THAT(RunBoth("i > 3 OR s_bits = 'moved'").indexes, ElementsAre("i_idx", "s_bits_idx"));
  EXPECT_THAT(RunBoth("i > 3 OR plain = 2").indexes, IsEmpty());
  EXPECT_THAT(RunBoth("plain = 2").indexes, IsEmpty());
  EXPECT_THAT(RunBoth("i = plain").indexes, IsEmpty());
}

// Only the fragments that the index doesn't cover are read for it, and for a second condition
// only the rows that the first lets through.
TEST_P(FilterTest, IndexesSpareRows) {
  const int64_t uncovered = RunBoth("i = 17").rows_evaluated;
  EXPECT_GT(uncovered, 0);
  EXPECT_LT(uncovered, 100);
  const int64_t both = RunBoth("i = 17 AND plain < 100").rows_evaluated;
  EXPECT_GE(both, uncovered);
  EXPECT_LT(both, uncovered + 6);
}

TEST_P(FilterTest, NothingAndEverything) {
  EXPECT_THAT(RunBoth("i = 5000").rows, IsEmpty());
  EXPECT_THAT(RunBoth("false").rows, IsEmpty());
  EXPECT_EQ(RunBoth("true").rows.size(), dataset_->num_rows());
  EXPECT_EQ(RunBoth("b OR NOT b OR b IS NULL").rows.size(), dataset_->num_rows());
}

// A row that an index drops must fail as it does in a scan.
TEST_P(FilterTest, WhatFailsFailsWithIndexesToo) {
  const std::string fails = "plain / (id - id) = 1";
  for (const char* text :
       {"i = 17 AND ", "i IS NULL AND ", "i > 2 AND i < 1 AND ", "i = 5000 AND "}) {
    const auto scanned = Run(text + fails, false);
    const auto looked_up = Run(text + fails, true);
    EXPECT_EQ(scanned.ok(), looked_up.ok()) << text;
    if (scanned.ok() && looked_up.ok()) {
      EXPECT_EQ(scanned->rows, looked_up->rows);
    }
  }
  EXPECT_FALSE(Run(fails + " AND i = 5000", true).ok());
  EXPECT_FALSE(Run(fails + " AND i = 5000", false).ok());
}

TEST_P(FilterTest, StopsWhenCancelled) {
  const auto filter =
      predicate::Predicate::Parse("i > 3 AND plain = 2", dataset_->arrow_schema()).ValueOrDie();
  base::CancelToken cancel;
  cancel.Cancel();
  const auto status = EvaluateFilter(dataset_.get(), *filter, &pool_, cancel).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCancelled) << status;
}

TEST_P(FilterTest, IndexesAreNamedBeforeTheyAreRead) {
  const auto names = [&](const std::string& text) {
    const auto filter = predicate::Predicate::Parse(text, dataset_->arrow_schema()).ValueOrDie();
    const auto requests = dataset_->io_counters().requests.load();
    auto found = IndexesFor(dataset_.get(), *filter);
    EXPECT_EQ(dataset_->io_counters().requests.load(), requests);
    return found;
  };
  EXPECT_THAT(names("i = 3 AND b"), ElementsAre("b_idx", "i_idx"));
  EXPECT_THAT(names("plain = 3"), IsEmpty());
}

/// A copy of the dataset whose index files are damaged at `from_end` bytes before their ends.
class DamagedIndexes : public testing::Test {
 protected:
  ~DamagedIndexes() override { std::filesystem::remove_all(path_); }

  arrow::Result<FilterAnswer> Run(int64_t from_end, char byte) {
    namespace fs = std::filesystem;
    fs::remove_all(path_);
    fs::copy(fs::path(KINJO_GOLDEN_DIR) / "filters.lance", path_, fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(path_ / "_indices")) {
      if (!entry.is_regular_file()) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-from_end, std::ios::end);
      file.put(byte);
    }
    ARROW_ASSIGN_OR_RAISE(const auto dataset, Dataset::Open(path_.string()));
    rows_ = static_cast<int64_t>(dataset->num_rows());
    ARROW_ASSIGN_OR_RAISE(const auto filter,
                          predicate::Predicate::Parse("i > 3 AND b", dataset->arrow_schema()));
    return EvaluateFilter(dataset.get(), *filter, &pool_, base::CancelToken());
  }

  // Tests run side by side, each in a process of its own.
  const std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) /
                                      base::Concat("kinjo_damaged_indexes_", ::getpid(), ".lance");
  base::ThreadPool pool_{2};
  int64_t rows_ = 0;
};

TEST_F(DamagedIndexes, AnIndexOfAnotherVersionIsLeftToTheScan) {
  const auto answer = Run(6, 9);  // the file's minor version
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->indexes, IsEmpty());
  EXPECT_EQ(answer->rows_evaluated, rows_);
  EXPECT_GT(answer->rows->count(), 0u);
}

TEST_F(DamagedIndexes, ADamagedIndexIsAnError) {
  EXPECT_EQ(base::CodeOf(Run(1, 'X').status()), base::ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace kinjo::dataset
