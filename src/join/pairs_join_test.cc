// Joins that give pairs of rows, against brute force: unordered_pairs, mutual and clusters.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "join/brute_force.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

using Lists = std::vector<std::vector<kernels::Neighbor>>;

/// The live rows of a memory dataset as a left side: what a self-join reads. From the second read
/// on it may give fewer rows, as a file does that is written meanwhile.
class DatasetTable final : public tabular::TableSource {
 public:
  explicit DatasetTable(std::shared_ptr<MemoryDataset> dataset, int64_t rows_later = -1)
      : dataset_(std::move(dataset)), rows_later_(rows_later) {
    std::vector<int64_t> live;
    Vectors vectors;
    for (int64_t row = 0; row < static_cast<int64_t>(dataset_->vectors().size()); ++row) {
      if (!dataset_->live(row)) continue;
      live.push_back(row);
      vectors.push_back(dataset_->vectors()[row]);
    }
    const auto width =
        static_cast<int32_t>(vectors[0].empty() ? vectors[1].size() : vectors[0].size());
    arrow::Int64Builder ids;
    EXPECT_TRUE(ids.AppendValues(live).ok());
    rows_ = arrow::RecordBatch::Make(
        dataset_->arrow_schema(), static_cast<int64_t>(live.size()),
        {ids.Finish().ValueOrDie(), MakeVectorArray(vectors, arrow::float32(), width)});
  }

  const std::string& uri() const override { return dataset_->uri(); }
  const std::string& format() const override { return format_; }
  std::shared_ptr<arrow::Schema> schema() const override { return dataset_->arrow_schema(); }
  std::optional<int64_t> num_rows() const override { return rows_->num_rows(); }
  std::shared_ptr<dataset::Dataset> dataset() const override { return dataset_; }
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    const bool fewer = reads_++ > 0 && rows_later_ >= 0;
    const auto rows = fewer ? rows_->Slice(0, rows_later_) : rows_;
    return tabular::MakeBatchSource(rows, uri())->Read(columns);
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(const std::vector<std::string>&,
                                                          std::span<const uint64_t>) override {
    return base::Internal("not taken here");
  }

 private:
  std::shared_ptr<MemoryDataset> dataset_;
  std::shared_ptr<arrow::RecordBatch> rows_;
  const int64_t rows_later_;
  int reads_ = 0;
  std::string format_ = "lance";
};

/// Small integers, so ties are many, with rows that match nothing and rows that are deleted.
std::shared_ptr<MemoryDataset> SomeDataset(int64_t rows, uint32_t seed, bool indexed) {
  Vectors vectors = IntegerVectors(rows, 4, seed, -4, 4);
  vectors[5] = {};
  vectors[17] = {1, NAN, 0, 0};
  auto dataset = std::make_shared<MemoryDataset>(std::move(vectors), 50, 4);
  std::mt19937 random(seed);
  for (int64_t i = 0; i < rows / 10; ++i) dataset->Delete(20 + random() % (rows - 20));
  if (indexed) {
    // Fragment 0 is scanned, the others lie in two segments.
    std::vector<uint64_t> later;
    for (uint64_t id = 2; id < dataset->fragments().size(); ++id) later.push_back(id);
    dataset->AddIndex("ivf", "l2", {{1}, later}, IntegerVectors(4, 4, seed + 1));
  }
  return dataset;
}

/// The k nearest other rows of each row of the dataset, named by their numbers; none for dead rows.
Lists SelfLists(const MemoryDataset& dataset, int64_t k, bool with_self, float upper) {
  const Vectors& vectors = dataset.vectors();
  Lists lists(vectors.size());
  for (size_t a = 0; a < vectors.size(); ++a) {
    if (!dataset.live(static_cast<int64_t>(a))) continue;
    for (size_t b = 0; b < vectors.size(); ++b) {
      if (!dataset.live(static_cast<int64_t>(b)) || (a == b && !with_self)) continue;
      const auto distance =
          static_cast<float>(PlainDistance(kernels::Metric::kL2, vectors[a], vectors[b]));
      if (distance < upper) lists[a].push_back({distance, b});
    }
    std::sort(lists[a].begin(), lists[a].end());
    if (static_cast<int64_t>(lists[a].size()) > k) lists[a].resize(static_cast<size_t>(k));
  }
  return lists;
}

bool Has(const std::vector<kernels::Neighbor>& list, uint64_t row) {
  return std::any_of(list.begin(), list.end(),
                     [&](const auto& neighbour) { return neighbour.address == row; });
}

/// What came out: left row, right row, rank, distance.
struct Match {
  int64_t left, right;
  int32_t rank;
  float distance;
  friend bool operator==(const Match&, const Match&) = default;
};
void PrintTo(const Match& match, std::ostream* out) {
  *out << "(" << match.left << ", " << match.right << ", rank " << match.rank << ")";
}

std::vector<Match> MatchesIn(const arrow::Table& table) {
  std::vector<Match> matches;
  if (table.num_rows() == 0) return matches;
  const auto& left = ColumnOf<arrow::Int64Array>(table, "id");
  const auto& right = ColumnOf<arrow::Int64Array>(table, "id_right");
  const auto& rank = ColumnOf<arrow::Int32Array>(table, "_rank");
  const auto& distance = ColumnOf<arrow::FloatArray>(table, "_distance");
  for (int64_t i = 0; i < table.num_rows(); ++i) {
    if (rank.IsNull(i)) continue;
    matches.push_back({left.Value(i), right.Value(i), rank.Value(i), distance.Value(i)});
  }
  return matches;
}

/// Those of the lists that `keep(left, right)` lets out.
template <typename Keep>
std::vector<Match> Expected(const Lists& lists, Keep keep) {
  std::vector<Match> matches;
  for (size_t row = 0; row < lists.size(); ++row) {
    int32_t rank = 0;
    for (const auto& [distance, other] : lists[row]) {
      if (!keep(row, other)) continue;
      matches.push_back({static_cast<int64_t>(row), static_cast<int64_t>(other), ++rank, distance});
    }
  }
  return matches;
}

int64_t CountMatches(const Lists& lists) {
  int64_t matches = 0;
  for (const auto& list : lists) matches += static_cast<int64_t>(list.size());
  return matches;
}

/// Runs in every way that must not show, and calls check(outcome) for each.
template <typename Check>
void InEveryWay(const std::shared_ptr<MemoryDataset>& dataset, JoinOptions options, Check check) {
  for (const int64_t block_rows : {1, 7, 4096}) {
    for (const int64_t threads : {1, 2}) {
      options.block_rows = block_rows;
      options.threads = threads;
      KINJO_ASSERT_RESULT(outcome, RunJoin(std::make_shared<DatasetTable>(dataset),
                                           MakeDatasetSide(dataset), options));
      SCOPED_TRACE(base::Concat("block_rows ", block_rows, ", threads ", threads));
      check(outcome);
    }
  }
}

JoinOptions AllOfIndex(int64_t k) {
  JoinOptions options;
  options.k = k;
  options.minimum_nprobes = 4;
  return options;
}

TEST(PairsJoin, UnorderedPairsComeOnceAtTheEarlierRowThatHasThem) {
  for (const bool indexed : {false, true}) {
    for (uint32_t seed = 0; seed < 3; ++seed) {
      const auto dataset = SomeDataset(230, seed, indexed);
      JoinOptions options = AllOfIndex(1 + 4 * seed);
      options.unordered_pairs = true;
      const Lists lists = SelfLists(*dataset, options.k, false, INFINITY);
      const auto expected = Expected(lists, [&](uint64_t row, uint64_t other) {
        return row < other || !Has(lists[other], row);
      });
      InEveryWay(dataset, options, [&](const JoinOutcome& outcome) {
        EXPECT_EQ(MatchesIn(*outcome.table), expected);
        EXPECT_EQ(outcome.report.path, indexed ? "index" : "exact");
        EXPECT_EQ(outcome.report.result_rows, static_cast<int64_t>(expected.size()));
        EXPECT_EQ(outcome.report.dropped_matches,
                  CountMatches(lists) - static_cast<int64_t>(expected.size()));
      });
    }
  }
}

TEST(PairsJoin, MutualMatchesOfASelfJoin) {
  for (const bool indexed : {false, true}) {
    for (const bool once : {false, true}) {
      const auto dataset = SomeDataset(230, 7, indexed);
      JoinOptions options = AllOfIndex(5);
      options.mutual = true;
      options.unordered_pairs = once;
      const Lists lists = SelfLists(*dataset, options.k, !once, INFINITY);
      const auto expected = Expected(lists, [&](uint64_t row, uint64_t other) {
        return Has(lists[other], row) && (!once || row < other);
      });
      ASSERT_GT(expected.size(), 100u);
      InEveryWay(dataset, options, [&](const JoinOutcome& outcome) {
        EXPECT_EQ(MatchesIn(*outcome.table), expected);
        EXPECT_EQ(outcome.report.dropped_matches,
                  CountMatches(lists) - static_cast<int64_t>(expected.size()));
      });
    }
  }
}

TEST(PairsJoin, MutualMatchesOfTwoTablesAskTheLeftToo) {
  const Vectors left = IntegerVectors(400, 4, 3, -4, 4);
  const auto dataset = SomeDataset(230, 4, true);
  const auto table =
      tabular::MakeBatchSource(MakeVectorBatch("id", "vector", left, arrow::float64(), 4), "left");
  JoinOptions options = AllOfIndex(4);
  options.mutual = true;
  options.how = How::kLeft;
  for (const float upper : {INFINITY, 20.0F}) {
    if (upper < INFINITY) options.distance_range = {-INFINITY, upper};
    const auto near = [&](const std::vector<double>& query, const Vectors& rows, auto live) {
      std::vector<kernels::Neighbor> list;
      for (size_t row = 0; row < rows.size(); ++row) {
        const auto distance =
            static_cast<float>(PlainDistance(kernels::Metric::kL2, query, rows[row]));
        if (live(row) && distance < upper) list.push_back({distance, row});
      }
      std::sort(list.begin(), list.end());
      if (list.size() > 4) list.resize(4);
      return list;
    };
    Lists lists;
    for (const auto& query : left) {
      lists.push_back(near(query, dataset->vectors(),
                           [&](size_t row) { return dataset->live(static_cast<int64_t>(row)); }));
    }
    const auto expected = Expected(lists, [&](uint64_t row, uint64_t other) {
      return Has(near(dataset->vectors()[other], left, [](size_t) { return true; }), row);
    });
    ASSERT_GT(expected.size(), 10u);
    std::set<int64_t> matched;
    for (const Match& match : expected) matched.insert(match.left);
    ASSERT_LT(matched.size(), left.size());
    for (const int64_t block_rows : {1, 7, 4096}) {
      options.block_rows = block_rows;
      options.threads = block_rows == 7 ? 2 : 1;
      KINJO_ASSERT_RESULT(outcome, RunJoin(table, MakeDatasetSide(dataset), options));
      EXPECT_EQ(MatchesIn(*outcome.table), expected);
      // Left rows without a match come once.
      EXPECT_EQ(outcome.table->num_rows(),
                static_cast<int64_t>(expected.size() + left.size() - matched.size()));
    }
  }
}

TEST(PairsJoin, ClustersAreTheComponentsOfThePairs) {
  for (const bool indexed : {false, true}) {
    for (const float upper : {2.5F, 4.5F, 9.0F}) {
      for (const bool mutual : {false, true}) {
        const auto dataset = SomeDataset(230, 9, indexed);
        JoinOptions options = AllOfIndex(6);
        options.clusters = true;
        options.mutual = mutual;
        options.with_query_index = true;
        options.distance_range = {-INFINITY, upper};
        const Lists lists = SelfLists(*dataset, options.k, false, upper);
        // Labels fall until no pair disagrees.
        std::vector<int64_t> ordinals(lists.size(), -1), labels(lists.size(), -1);
        int64_t rows = 0;
        for (size_t row = 0; row < lists.size(); ++row) {
          if (dataset->live(static_cast<int64_t>(row))) labels[row] = ordinals[row] = rows++;
        }
        for (bool changed = true; changed;) {
          changed = false;
          for (size_t row = 0; row < lists.size(); ++row) {
            for (const auto& neighbour : lists[row]) {
              if (mutual && !Has(lists[neighbour.address], row)) continue;
              const int64_t label = std::min(labels[row], labels[neighbour.address]);
              changed = changed || labels[row] != label || labels[neighbour.address] != label;
              labels[row] = labels[neighbour.address] = label;
            }
          }
        }
        InEveryWay(dataset, options, [&](const JoinOutcome& outcome) {
          ASSERT_EQ(outcome.table->schema()->field_names(),
                    (std::vector<std::string>{"id", "vector", "_cluster", "_query_index"}));
          ASSERT_EQ(outcome.table->num_rows(), rows);
          const auto& id = ColumnOf<arrow::Int64Array>(*outcome.table, "id");
          const auto& cluster = ColumnOf<arrow::Int64Array>(*outcome.table, "_cluster");
          const auto& ordinal = ColumnOf<arrow::Int64Array>(*outcome.table, "_query_index");
          std::set<int64_t> names;
          for (int64_t i = 0; i < rows; ++i) {
            EXPECT_EQ(ordinal.Value(i), i);
            EXPECT_EQ(ordinals[id.Value(i)], i);
            EXPECT_EQ(cluster.Value(i), labels[id.Value(i)]);
            names.insert(cluster.Value(i));
          }
          EXPECT_EQ(outcome.report.clusters, static_cast<int64_t>(names.size()));
          EXPECT_EQ(outcome.report.result_rows, rows);
        });
      }
    }
  }
}

TEST(PairsJoin, WhatIsKeptOfAllRowsIsPlannedAndTheSmallestLimitTold) {
  const auto dataset = SomeDataset(20000, 1, false);
  JoinOptions options;
  options.k = 100;
  options.threads = 1;
  options.mutual = true;
  options.memory_limit_bytes = 20 << 20;
  const auto refused =
      RunJoin(std::make_shared<DatasetTable>(dataset), MakeDatasetSide(dataset), options);
  ASSERT_EQ(base::CodeOf(refused.status()), base::ErrorCode::kCapacity);
  const std::string message = base::MessageOf(refused.status());
  ASSERT_NE(message.find("for the pairs of all left rows"), std::string::npos) << message;
  std::smatch named;
  ASSERT_TRUE(std::regex_search(message, named,
                                std::regex(R"(the smallest that would do is [^ ]+ \((\d+) bytes)")))
      << message;
  const int64_t smallest = std::stoll(named[1]);
  EXPECT_GT(smallest, 18000 * 100 * 16);
  options.memory_limit_bytes = smallest - 1;
  EXPECT_FALSE(
      MakePlan(std::make_shared<DatasetTable>(dataset), MakeDatasetSide(dataset), options).ok());
  options.memory_limit_bytes = smallest;
  EXPECT_TRUE(
      MakePlan(std::make_shared<DatasetTable>(dataset), MakeDatasetSide(dataset), options).ok());
}

TEST(PairsJoin, ALeftSideThatChangesBetweenItsReadsIsAnError) {
  for (const bool clusters : {false, true}) {
    const auto dataset = SomeDataset(100, 1, false);
    JoinOptions options;
    options.mutual = !clusters;
    options.clusters = clusters;
    options.distance_range = {0.0F, 5.0F};
    const auto outcome =
        RunJoin(std::make_shared<DatasetTable>(dataset, 30), MakeDatasetSide(dataset), options);
    EXPECT_EQ(base::CodeOf(outcome.status()), base::ErrorCode::kIo);
    EXPECT_EQ(base::MessageOf(outcome.status()),
              "the rows of memory.lance changed while the join read them");
  }
}

TEST(PairsJoin, StopsBetweenItsPassesAndInTheSecond) {
  const auto dataset = SomeDataset(230, 2, false);
  JoinOptions options;
  options.mutual = true;
  options.block_rows = 64;
  KINJO_ASSERT_RESULT(
      plan, MakePlan(std::make_shared<DatasetTable>(dataset), MakeDatasetSide(dataset), options));
  Executor executor(plan, {});
  const base::CancelToken cancel;
  int batches = 0;
  const arrow::Status status =
      executor.Run(cancel, [&](const std::shared_ptr<arrow::RecordBatch>&) {
        ++batches;
        cancel.Cancel();
        return arrow::Status::OK();
      });
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCancelled);
  EXPECT_EQ(batches, 1);
}

TEST(PairsJoin, OtherJoinsAreNoSelfJoin) {
  const auto dataset = SomeDataset(60, 2, false);
  const auto table = tabular::MakeBatchSource(
      MakeVectorBatch("id", "vector", {{1, 2, 3, 4}}, arrow::float32(), 4), "left");
  JoinOptions options;
  options.unordered_pairs = true;
  const auto pairs = MakePlan(table, MakeDatasetSide(dataset), options);
  EXPECT_EQ(base::CodeOf(pairs.status()), base::ErrorCode::kInvalid);
  EXPECT_NE(base::MessageOf(pairs.status()).find("unordered_pairs = true needs a self-join"),
            std::string::npos);
  options.unordered_pairs = false;
  options.mutual = true;
  const auto reader = table->Read(std::nullopt).ValueOrDie();
  const auto mutual =
      MakePlan(tabular::MakeStreamSource(reader, "a stream"), MakeDatasetSide(dataset), options);
  EXPECT_EQ(base::CodeOf(mutual.status()), base::ErrorCode::kNotSupported);
  EXPECT_EQ(base::MessageOf(mutual.status()),
            "mutual = true reads the left side again, but a stream is a stream; write it to a file "
            "first");
}

}  // namespace
}  // namespace kinjo::join
