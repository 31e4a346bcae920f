// Joins with `by` and `exclude_self`, and with equal left vectors, on every path, against brute
// force.
#include <cstdlib>
#include <functional>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "join/brute_force.h"
#include "join/explain.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

using kernels::Metric;
using Lists = std::vector<std::vector<kernels::Neighbor>>;
using Key = std::optional<std::string>;
using KeyOf = std::function<Key(int64_t)>;
using testing::HasSubstr;

constexpr int64_t kDim = 5;
constexpr int64_t kRows = 1000;
constexpr int64_t kLeftRows = 150;

std::shared_ptr<arrow::Array> MakeKeys(const arrow::Array& ids, const KeyOf& key_of) {
  arrow::StringBuilder builder;
  for (int64_t i = 0; i < ids.length(); ++i) {
    const Key key = key_of(static_cast<const arrow::Int64Array&>(ids).Value(i));
    if (!(key.has_value() ? builder.Append(*key) : builder.AppendNull()).ok()) std::abort();
  }
  return builder.Finish().ValueOrDie();
}

/// A scan of `id` that gives the column `key` too.
class KeyedScan final : public dataset::Scan {
 public:
  KeyedScan(std::unique_ptr<dataset::Scan> scan, std::vector<std::string> columns, KeyOf key_of)
      : scan_(std::move(scan)), columns_(std::move(columns)), key_of_(std::move(key_of)) {}

  arrow::Result<dataset::ScanBatch> Next() override {
    ARROW_ASSIGN_OR_RAISE(dataset::ScanBatch batch, scan_->Next());
    if (batch.batch == nullptr) return batch;
    const auto keys = MakeKeys(*batch.batch->GetColumnByName("id"), key_of_);
    ARROW_ASSIGN_OR_RAISE(batch.batch, batch.batch->AddColumn(0, "key", keys));
    batch.batch = SelectByName(*batch.batch, columns_);
    return batch;
  }

 private:
  std::unique_ptr<dataset::Scan> scan_;
  std::vector<std::string> columns_;
  KeyOf key_of_;
};

/// A memory dataset with a column `key`, made of each row's `id`.
class KeyedSide final : public RightSide {
 public:
  KeyedSide(std::shared_ptr<MemoryDataset> dataset, KeyOf key_of)
      : side_(MakeDatasetSide(std::move(dataset))), key_of_(std::move(key_of)) {}

  const std::string& uri() const override { return side_->uri(); }
  std::string format() const override { return side_->format(); }
  std::shared_ptr<arrow::Schema> schema() const override {
    return side_->schema()->AddField(0, arrow::field("key", arrow::utf8())).ValueOrDie();
  }
  std::optional<int64_t> num_rows() const override { return side_->num_rows(); }
  std::shared_ptr<dataset::Dataset> dataset() const override { return side_->dataset(); }
  arrow::Result<std::unique_ptr<dataset::Scan>> ScanColumns(
      const std::vector<std::string>& columns,
      const std::optional<std::vector<uint64_t>>& fragment_ids, int64_t batch_rows,
      const std::shared_ptr<const dataset::RowMask>& rows) override {
    std::vector<std::string> stored = {"id"};
    for (const std::string& column : columns) {
      if (column != "key" && column != "id") stored.push_back(column);
    }
    ARROW_ASSIGN_OR_RAISE(auto scan, side_->ScanColumns(stored, fragment_ids, batch_rows, rows));
    return std::make_unique<KeyedScan>(std::move(scan), columns, key_of_);
  }
  arrow::Result<dataset::FilterAnswer> EvaluateFilter(const predicate::Predicate& filter,
                                                      base::ThreadPool* pool,
                                                      const base::CancelToken& cancel) override {
    return side_->EvaluateFilter(filter, pool, cancel);
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> addresses) override {
    return side_->Take(columns, addresses);
  }
  arrow::Status RowIds(std::span<const uint64_t> addresses,
                       std::span<uint64_t> row_ids) const override {
    return side_->RowIds(addresses, row_ids);
  }
  arrow::Result<std::vector<tabular::Trait>> Identity() const override { return side_->Identity(); }
  int64_t requests() const override { return 0; }
  int64_t bytes_read() const override { return 0; }

 private:
  std::unique_ptr<RightSide> side_;
  KeyOf key_of_;
};

std::shared_ptr<MemoryDataset> MakeDataset(const std::vector<std::vector<uint64_t>>& segments,
                                           int64_t partitions = 20) {
  Vectors vectors = IntegerVectors(kRows, kDim, 8);
  vectors[400].clear();  // null
  auto dataset = std::make_shared<MemoryDataset>(std::move(vectors), 200, kDim);
  for (int64_t row = 0; row < kRows; row += 7) dataset->Delete(row);
  if (!segments.empty()) {
    dataset->AddIndex("vec", "l2", segments, IntegerVectors(partitions, kDim, 99, -4, 4));
  }
  return dataset;
}

// Keys of the left rows, whose `q` is their number: a large group, two middling ones, small ones,
// one that the right doesn't have, and null.
Key LeftKey(int64_t row) {
  if (row % 11 == 0) return std::nullopt;
  if (row % 11 == 1) return "absent";
  if (row % 11 < 4) return base::Concat("small", row % 7);
  return row % 2 == 0 ? "even" : "a third";
}
Key RightKey(int64_t id) {
  if (id % 13 == 0) return std::nullopt;
  if (id % 50 == 3) return base::Concat("small", id / 50 % 7);
  if (id % 3 == 0) return "a third";
  return id % 2 == 0 ? Key("even") : Key("huge");
}

std::shared_ptr<MemoryTable> Left(const Vectors& left, const KeyOf& key_of = LeftKey) {
  auto batch = MakeVectorBatch("q", "v", left, arrow::float32(), kDim);
  const auto keys = MakeKeys(*batch->GetColumnByName("q"), key_of);
  batch = batch->AddColumn(2, "key", keys).ValueOrDie();
  return std::make_shared<MemoryTable>(batch, "left", 64);
}

JoinOptions Options(int64_t k = 6) {
  JoinOptions options;
  options.k = k;
  options.with_query_index = true;
  options.left_select = std::vector<std::string>{};
  options.right_select = std::vector<std::string>{"id"};
  options.threads = 2;
  options.memory_limit_bytes = int64_t{1} << 30;
  return options;
}

/// Brute force, where `eligible(left row, id)` says which rows may come out.
Lists Expected(const MemoryDataset& dataset, const Vectors& left, int64_t k,
               const std::function<bool(int64_t, int64_t)>& eligible) {
  Lists out;
  for (size_t q = 0; q < left.size(); ++q) {
    std::vector<bool> rows;
    for (int64_t id = 0; id < kRows; ++id) {
      rows.push_back(dataset.live(id) && eligible(static_cast<int64_t>(q), id));
    }
    out.push_back(BruteForce(Metric::kL2, {left[q]}, dataset.vectors(), k, rows)[0]);
  }
  return out;
}

Lists Found(const JoinOutcome& outcome, size_t left_rows) {
  return NeighboursOf(*outcome.table, static_cast<int64_t>(left_rows), "id");
}

void ExpectSame(const Lists& got, const Lists& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t q = 0; q < want.size(); ++q) {
    ASSERT_EQ(got[q].size(), want[q].size()) << what << ", left row " << q;
    for (size_t i = 0; i < want[q].size(); ++i) {
      ASSERT_EQ(got[q][i].address, want[q][i].address) << what << ", left row " << q;
      ASSERT_EQ(got[q][i].distance, want[q][i].distance) << what << ", left row " << q;
    }
  }
}

const std::vector<std::vector<std::vector<uint64_t>>>& Coverages() {
  static const std::vector<std::vector<std::vector<uint64_t>>> coverages = {
      {}, {{0, 1, 2, 3, 4}}, {{1, 3}}, {{0, 1}, {4}}};
  return coverages;
}

bool SameKey(int64_t row, int64_t id) {
  return LeftKey(row).has_value() && LeftKey(row) == RightKey(id);
}

TEST(EligibleJoin, ByFindsTheNearestOfEqualKeysOnEveryPath) {
  const Vectors left = IntegerVectors(kLeftRows, kDim, 9);
  for (const auto& segments : Coverages()) {
    const auto dataset = MakeDataset(segments);
    for (const int variant : {0, 1, 2, 3}) {
      JoinOptions options = Options();
      options.by = {"key"};
      options.minimum_nprobes = 1000;  // every partition
      if (variant == 1) options.refine_factor = 3;
      if (variant == 2) options.where = "id % 4 <> 1";
      if (variant == 3) options.distance_range = std::pair(6.0f, 30.0f);
      auto right = std::make_shared<KeyedSide>(dataset, RightKey);
      KINJO_ASSERT_RESULT(got, RunJoin(Left(left), right, options));
      Lists want = Expected(*dataset, left, variant == 3 ? kRows : 6, [&](int64_t row, int64_t id) {
        return SameKey(row, id) && (variant != 2 || id % 4 != 1);
      });
      if (variant == 3) {
        for (auto& list : want) {
          std::erase_if(list, [](const kernels::Neighbor& neighbor) {
            return neighbor.distance < 6 || neighbor.distance >= 30;
          });
          list.resize(std::min<size_t>(list.size(), 6));
        }
      }
      ExpectSame(
          Found(got, left.size()), want,
          "segments " + std::to_string(segments.size()) + ", variant " + std::to_string(variant));
      EXPECT_EQ(got.report.path, segments.empty() ? "exact" : "index");
    }
  }
}

// By the default probing too: the answer of each key is that of a join with a filter for it.
TEST(EligibleJoin, ByIsAFilterForEachKey) {
  const Vectors left = IntegerVectors(kLeftRows, kDim, 9);
  const auto number = [](int64_t id) { return std::to_string(id % 9 < 4 ? 0 : id % 9); };
  const auto left_key = [](int64_t row) { return Key(std::to_string(row % 9)); };
  const auto dataset = MakeDataset({{0, 1, 2, 3, 4}}, 60);
  for (const int64_t nprobes : {0, 1, 3}) {
    JoinOptions options = Options();
    options.by = {"key"};
    if (nprobes > 0) options.nprobes = nprobes;
    auto right = std::make_shared<KeyedSide>(dataset, number);
    KINJO_ASSERT_RESULT(got, RunJoin(Left(left, left_key), right, options));
    const Lists found = Found(got, left.size());
    options.by.clear();
    for (int64_t key = 0; key < 9; ++key) {
      options.where = "id % 9 = " + std::to_string(key);
      if (key == 0) options.where = "id % 9 < 4";
      if (key > 0 && key < 4) options.where = "id < 0";
      KINJO_ASSERT_RESULT(filtered, RunJoin(Left(left), MakeDatasetSide(dataset), options));
      const Lists want = Found(filtered, left.size());
      for (int64_t row = key; row < kLeftRows; row += 9) {
        ExpectSame({found[row]}, {want[row]}, options.where + ", row " + std::to_string(row));
      }
    }
  }
}

TEST(EligibleJoin, SmallGroupsAreScoredWithoutTheIndex) {
  const auto dataset = MakeDataset({{0, 1, 2, 3, 4}}, 60);
  const Vectors left = IntegerVectors(20, kDim, 9);
  const auto few = [](int64_t id) { return Key(id % 300 == 5 ? "few" : "many"); };
  JoinOptions options = Options();
  options.by = {"key"};
  KINJO_ASSERT_RESULT(got, RunJoin(Left(left, [](int64_t) { return Key("few"); }),
                                   std::make_shared<KeyedSide>(dataset, few), options));
  EXPECT_EQ(got.report.partitions_probed, 0);
  EXPECT_EQ(got.report.rows_scanned, 4);
  EXPECT_EQ(got.report.short_rows, 20);
  EXPECT_EQ(got.report.capped_rows, 0);
  ExpectSame(Found(got, left.size()),
             Expected(*dataset, left, 6, [](int64_t, int64_t id) { return id % 300 == 5; }), "few");
}

// The left row `q` is the right row whose id is q.
TEST(EligibleJoin, ExcludeSelfByAKeyStillGivesKOthers) {
  for (const auto& segments : Coverages()) {
    const auto dataset = MakeDataset(segments);
    const Vectors left(dataset->vectors().begin() + 200, dataset->vectors().begin() + 399);
    for (const bool refines : {false, true}) {
      for (const int64_t k : {1, 6, 900}) {
        JoinOptions options = Options(k);
        options.exclude_self = "key:id";
        options.minimum_nprobes = 1000;
        if (refines) options.refine_factor = 2;
        auto batch = MakeVectorBatch("q", "v", left, arrow::float32(), kDim);
        batch = batch->AddColumn(2, "key", MakeIds(batch->num_rows(), 200)).ValueOrDie();
        KINJO_ASSERT_RESULT(got, RunJoin(std::make_shared<MemoryTable>(batch, "left"),
                                         MakeDatasetSide(dataset), options));
        ExpectSame(
            Found(got, left.size()),
            Expected(*dataset, left, k, [](int64_t row, int64_t id) { return id != row + 200; }),
            "k " + std::to_string(k));
      }
    }
  }
}

TEST(EligibleJoin, SeveralRowsOfOneKeyAreAllDropped) {
  const auto group = [](int64_t id) -> Key {
    return id % 10 == 0 ? std::nullopt : Key(std::to_string(id / 100));
  };
  const auto own = [](int64_t row) -> Key {
    return row % 5 == 0 ? std::nullopt : Key(std::to_string(row % 11));
  };
  const Vectors left = IntegerVectors(kLeftRows, kDim, 9);
  for (const auto& segments : Coverages()) {
    const auto dataset = MakeDataset(segments);
    JoinOptions options = Options();
    options.exclude_self = "key";
    options.minimum_nprobes = 1000;
    KINJO_ASSERT_RESULT(
        got, RunJoin(Left(left, own), std::make_shared<KeyedSide>(dataset, group), options));
    ExpectSame(Found(got, left.size()),
               Expected(*dataset, left, 6,
                        [&](int64_t row, int64_t id) {
                          return !own(row).has_value() || own(row) != group(id);
                        }),
               "dropped");
  }
}

// Late search counts the rows that may come out, and so does the report.
TEST(EligibleJoin, AShortRowIsNotCalledCapped) {
  const auto dataset = MakeDataset({{0, 1, 2, 3, 4}}, 60);
  const Vectors left = IntegerVectors(30, kDim, 9);
  JoinOptions options = Options(1000);
  options.exclude_self = "q:id";
  options.distance_range = std::pair(-1.0f, 1e9f);
  KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), options));
  EXPECT_EQ(got.report.short_rows, 30);
  EXPECT_EQ(got.report.capped_rows, 0);
  options.distance_range = std::pair(-1.0f, 20.0f);
  KINJO_ASSERT_RESULT(cut, RunJoin(Left(left), MakeDatasetSide(dataset), options));
  EXPECT_EQ(cut.report.capped_rows, 30);
}

TEST(EligibleJoin, BlocksAndThreadsChangeNothing) {
  Vectors left = IntegerVectors(kLeftRows, kDim, 9);
  for (size_t row = 0; row < left.size(); row += 4) left[row] = left[row / 8];
  for (const auto& segments : Coverages()) {
    const auto dataset = MakeDataset(segments);
    for (const bool by : {false, true}) {
      JoinOptions options = Options();
      if (by) options.by = {"key"};
      options.exclude_self = "q:id";
      options.how = How::kLeft;
      auto right = std::make_shared<KeyedSide>(dataset, RightKey);
      KINJO_ASSERT_RESULT(whole, RunJoin(Left(left), right, options));
      for (const int64_t block_rows : {1, 7, 64}) {
        for (const int64_t threads : {1, 3}) {
          options.block_rows = block_rows;
          options.threads = threads;
          KINJO_ASSERT_RESULT(cut, RunJoin(Left(left), right, options));
          EXPECT_TRUE(cut.table->Equals(*whole.table)) << block_rows << " rows";
        }
      }
    }
  }
}

TEST(EligibleJoin, EqualLeftVectorsAreSearchedOnce) {
  Vectors left = IntegerVectors(kLeftRows, kDim, 9, -2, 2);
  for (size_t row = 10; row < left.size(); ++row) left[row] = left[row % 10];
  left[50].clear();
  for (const auto& segments : Coverages()) {
    const auto dataset = MakeDataset(segments);
    JoinOptions options = Options();
    KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), options));
    EXPECT_EQ(got.report.duplicate_rows, kLeftRows - 10 - 1);
    EXPECT_EQ(got.report.left_rows, kLeftRows);
    EXPECT_EQ(got.report.skipped_null_rows, 1);
    options.block_rows = 1;
    KINJO_ASSERT_RESULT(one_by_one, RunJoin(Left(left), MakeDatasetSide(dataset), options));
    EXPECT_EQ(one_by_one.report.duplicate_rows, 0);
    EXPECT_TRUE(got.table->Equals(*one_by_one.table));
    EXPECT_EQ(got.report.short_rows, one_by_one.report.short_rows);
    if (segments.empty()) continue;
    EXPECT_LT(got.report.partitions_probed, one_by_one.report.partitions_probed / 5);
    // Capped rows are counted row by row.
    options.block_rows.reset();
    options.k = 900;
    options.nprobes = 1;
    KINJO_ASSERT_RESULT(capped, RunJoin(Left(left), MakeDatasetSide(dataset), options));
    EXPECT_EQ(capped.report.capped_rows, kLeftRows - 1);
  }
}

TEST(EligibleJoin, MistakesAreToldWhenTheJoinIsPlanned) {
  const auto plan_of = [](const JoinOptions& options) {
    return MakePlan(Left(IntegerVectors(3, kDim, 9)),
                    std::make_shared<KeyedSide>(MakeDataset({}), RightKey), options)
        .status();
  };
  JoinOptions options = Options();
  options.by = {"key:id"};
  EXPECT_EQ(base::CodeOf(plan_of(options)), base::ErrorCode::kInvalid);
  EXPECT_THAT(plan_of(options).message(),
              testing::AllOf(HasSubstr("left column \"key\" is a string"),
                             HasSubstr("right column \"id\" is an integer")));
  options.by = {"key:nowhere"};
  EXPECT_EQ(base::CodeOf(plan_of(options)), base::ErrorCode::kNotFound);
  options.by = {"v:vector"};
  EXPECT_THAT(plan_of(options).message(), HasSubstr("can't be keys"));
  options.by.clear();
  options.exclude_self = "";
  EXPECT_EQ(base::CodeOf(plan_of(options)), base::ErrorCode::kInvalid);
  EXPECT_THAT(plan_of(options).message(), HasSubstr("name the key column"));
  options.exclude_self = "q:id";
  options.by = {"key"};
  KINJO_ASSERT_RESULT(plan,
                      MakePlan(Left(IntegerVectors(3, kDim, 9)),
                               std::make_shared<KeyedSide>(MakeDataset({}), RightKey), options));
  const std::string text = exec::RenderPlan(DescribePlan(*plan, false, nullptr), {});
  EXPECT_THAT(text, HasSubstr("by=[key]"));
  EXPECT_THAT(text, HasSubstr("exclude_self=q:id"));
}

}  // namespace
}  // namespace kinjo::join
