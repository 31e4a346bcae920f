#include <gtest/gtest.h>

#include <set>

#include "join/brute_force.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

using kernels::Metric;
using kernels::Neighbor;
using Lists = std::vector<std::vector<Neighbor>>;

constexpr int64_t kDim = 5;

JoinOptions Options(int64_t k) {
  JoinOptions options;
  options.k = k;
  options.with_query_index = true;
  options.left_select = std::vector<std::string>{};
  options.threads = 1;
  options.memory_limit_bytes = int64_t{1} << 30;
  return options;
}

std::shared_ptr<MemoryTable> Left(const Vectors& left) {
  return std::make_shared<MemoryTable>(MakeVectorBatch("q", "v", left, arrow::float32(), kDim),
                                       "left");
}

arrow::Result<JoinOutcome> Join(const Vectors& left, std::shared_ptr<MemoryDataset> dataset,
                                const JoinOptions& options) {
  return RunJoin(Left(left), MakeDatasetSide(std::move(dataset)), options);
}

Lists Neighbours(const JoinOutcome& outcome, const Vectors& left) {
  return NeighboursOf(*outcome.table, static_cast<int64_t>(left.size()), "id");
}

void ExpectSame(const Lists& got, const Lists& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t q = 0; q < want.size(); ++q) {
    ASSERT_EQ(got[q].size(), want[q].size()) << "left row " << q;
    for (size_t i = 0; i < want[q].size(); ++i) {
      ASSERT_EQ(got[q][i].address, want[q][i].address) << "left row " << q << " rank " << i + 1;
      ASSERT_EQ(got[q][i].distance, want[q][i].distance) << "left row " << q << " rank " << i + 1;
    }
  }
}

std::vector<bool> LiveRows(const MemoryDataset& dataset) {
  std::vector<bool> live;
  for (size_t i = 0; i < dataset.vectors().size(); ++i) live.push_back(dataset.live(i));
  return live;
}

/// Centroids far enough apart to make partitions of very different sizes.
Vectors Centroids(int64_t count) { return IntegerVectors(count, kDim, 99, -4, 4); }

/// The naive loop: one query after another, its nearest `nprobes` partitions, every row.
Lists OneByOne(const MemoryDataset& dataset, const Vectors& left, const Vectors& centroids,
               int64_t nprobes, int64_t k) {
  const auto partition_of = [&](const std::vector<double>& vector) {
    size_t best = 0;
    for (size_t p = 1; p < centroids.size(); ++p) {
      if (PlainDistance(Metric::kL2, vector, centroids[p]) <
          PlainDistance(Metric::kL2, vector, centroids[best])) {
        best = p;
      }
    }
    return best;
  };
  Lists out;
  for (const auto& query : left) {
    std::vector<std::pair<double, size_t>> ranked;
    for (size_t p = 0; p < centroids.size(); ++p) {
      ranked.emplace_back(PlainDistance(Metric::kL2, query, centroids[p]), p);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<bool> wanted(dataset.vectors().size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto& vector = dataset.vectors()[i];
      if (vector.empty() || !dataset.live(static_cast<int64_t>(i))) continue;
      const size_t p = partition_of(vector);
      for (int64_t r = 0; r < nprobes; ++r) wanted[i] = wanted[i] || ranked[r].second == p;
    }
    out.push_back(BruteForce(Metric::kL2, {query}, dataset.vectors(), k, wanted)[0]);
  }
  return out;
}

std::shared_ptr<MemoryDataset> MakeDataset(int64_t rows, uint32_t seed, int64_t fragment_rows) {
  return std::make_shared<MemoryDataset>(IntegerVectors(rows, kDim, seed), fragment_rows, kDim);
}

/// Vectors that are searched when all are in one block.
int64_t Distinct(const Vectors& vectors) {
  return static_cast<int64_t>(std::set(vectors.begin(), vectors.end()).size());
}

TEST(IndexJoin, FixedProbesEqualTheOneByOneLoop) {
  const Vectors left = IntegerVectors(150, kDim, 1);
  auto dataset = MakeDataset(1200, 2, 5000);
  const Vectors centroids = Centroids(9);
  dataset->AddIndex("vec", "l2", {{0}}, centroids);
  for (int64_t row = 0; row < 1200; row += 3) dataset->Delete(row);
  for (const int64_t nprobes : {1, 2, 5, 9}) {
    JoinOptions options = Options(6);
    options.nprobes = nprobes;
    KINJO_ASSERT_RESULT(got, Join(left, dataset, options));
    ExpectSame(Neighbours(got, left), OneByOne(*dataset, left, centroids, nprobes, 6));
    EXPECT_EQ(got.report.path, "index");
    EXPECT_EQ(got.report.partitions_probed, Distinct(left) * nprobes);
    EXPECT_LE(got.report.partitions_read, 9);
  }
}

TEST(IndexJoin, AllPartitionsAndAFullRefineEqualBruteForce) {
  const Vectors left = IntegerVectors(90, kDim, 3);
  for (const auto& [metric, name] : {std::pair{Metric::kL2, "l2"}, {Metric::kDot, "dot"}}) {
    auto dataset = MakeDataset(700, 4, 200);
    dataset->AddIndex("vec", name, {{0, 1, 2, 3}}, Centroids(7));
    for (int64_t row = 50; row < 120; ++row) dataset->Delete(row);
    JoinOptions options = Options(11);
    options.nprobes = 1000;
    options.refine_factor = 100;
    KINJO_ASSERT_RESULT(got, Join(left, dataset, options));
    ExpectSame(Neighbours(got, left),
               BruteForce(metric, left, dataset->vectors(), 11, LiveRows(*dataset)));
    EXPECT_TRUE(got.report.exact_distances);
    EXPECT_GT(got.report.rows_refined, 0);
  }
}

TEST(IndexJoin, ARefinedRowComesOnceHoweverManyWantIt) {
  // All left rows have the same few candidates, address 0 among them.
  Vectors left(4000, {1, 0, 2, 0, 1});
  for (size_t i = 0; i < left.size(); ++i) left[i][0] = static_cast<double>(i);
  auto dataset = MakeDataset(3, 4, 2);
  dataset->AddIndex("vec", "l2", {{0, 1}}, Centroids(2));
  JoinOptions options = Options(5);
  options.refine_factor = 2;
  options.threads = 2;
  KINJO_ASSERT_RESULT(got, Join(left, dataset, options));
  ExpectSame(Neighbours(got, left), BruteForce(Metric::kL2, left, dataset->vectors(), 5, {}));
  EXPECT_EQ(got.report.rows_refined, 3);
  EXPECT_EQ(got.report.exact_comparisons, 12000);
}

TEST(IndexJoin, DeltasAndUnindexedFragmentsAreMerged) {
  const Vectors left = IntegerVectors(60, kDim, 5);
  auto dataset = MakeDataset(900, 6, 150);
  dataset->AddIndex("vec", "l2", {{0, 3}, {1}}, Centroids(6));
  for (int64_t row = 0; row < 900; row += 7) dataset->Delete(row);
  JoinOptions options = Options(10);
  options.nprobes = 6;
  KINJO_ASSERT_RESULT(all, Join(left, dataset, options));
  ExpectSame(Neighbours(all, left),
             BruteForce(Metric::kL2, left, dataset->vectors(), 10, LiveRows(*dataset)));
  options.fast_search = true;
  KINJO_ASSERT_RESULT(fast, Join(left, dataset, options));
  std::vector<bool> covered = LiveRows(*dataset);
  for (size_t row = 0; row < covered.size(); ++row) {
    const size_t fragment = row / 150;
    covered[row] = covered[row] && (fragment == 0 || fragment == 1 || fragment == 3);
  }
  ExpectSame(Neighbours(fast, left),
             BruteForce(Metric::kL2, left, dataset->vectors(), 10, covered));
}

TEST(IndexJoin, LateSearchFindsKRowsBehindDeletions) {
  const Vectors left = IntegerVectors(40, kDim, 7);
  auto dataset = MakeDataset(4000, 8, 5000);
  dataset->AddIndex("vec", "l2", {{0}}, Centroids(40));
  for (int64_t row = 0; row < 4000; ++row) {
    if (row % 200 != 11) dataset->Delete(row);
  }
  KINJO_ASSERT_RESULT(got, Join(left, dataset, Options(9)));
  for (const auto& list : Neighbours(got, left)) EXPECT_EQ(list.size(), 9u);
  EXPECT_EQ(got.report.short_rows, 0);
  // More than are left: every partition is visited, and all of them come.
  KINJO_ASSERT_RESULT(more, Join(left, dataset, Options(50)));
  ExpectSame(Neighbours(more, left),
             BruteForce(Metric::kL2, left, dataset->vectors(), 50, LiveRows(*dataset)));
  EXPECT_EQ(more.report.short_rows, 40);
  // A cap stays a cap.
  JoinOptions capped = Options(9);
  capped.maximum_nprobes = 2;
  KINJO_ASSERT_RESULT(few, Join(left, dataset, capped));
  EXPECT_EQ(few.report.partitions_probed, 40 * 2);
  EXPECT_GT(few.report.short_rows, 0);
}

TEST(IndexJoin, SearchEffortMovesTheFirstRound) {
  const Vectors left = IntegerVectors(40, kDim, 7);
  auto dataset = MakeDataset(4000, 8, 5000);
  dataset->AddIndex("vec", "l2", {{0}}, Centroids(40));
  const auto probes = [&](std::optional<double> effort, int64_t minimum,
                          std::optional<int64_t> maximum) -> arrow::Result<int64_t> {
    JoinOptions options = Options(1);
    options.search_effort = effort;
    options.minimum_nprobes = minimum;
    options.maximum_nprobes = maximum;
    ARROW_ASSIGN_OR_RAISE(const JoinOutcome got, Join(left, dataset, options));
    return got.report.partitions_probed;
  };
  KINJO_ASSERT_RESULT(adaptive, probes({}, 2, {}));
  EXPECT_GE(adaptive, 40 * 5);  // the rule's floor for k = 1
  KINJO_ASSERT_RESULT(half, probes(0.5, 2, {}));
  EXPECT_EQ(half, adaptive);
  KINJO_ASSERT_RESULT(none, probes(0, 2, {}));
  EXPECT_EQ(none, 40 * 2);
  KINJO_ASSERT_RESULT(less, probes(0.3, 2, {}));
  KINJO_ASSERT_RESULT(more, probes(0.7, 2, {}));
  EXPECT_GT(less, none);
  EXPECT_GT(adaptive, less);
  EXPECT_GT(more, adaptive);
  KINJO_ASSERT_RESULT(all, probes(1, 2, {}));
  EXPECT_EQ(all, 40 * 40);
  KINJO_ASSERT_RESULT(capped, probes(1, 2, 7));
  EXPECT_EQ(capped, 40 * 7);
}

// A short row is the caller's doing only where a cap kept rows away that would have come.
TEST(IndexJoin, RowsThatACapCutAreCountedApart) {
  const Vectors left = IntegerVectors(40, kDim, 7);
  auto dataset = MakeDataset(600, 8, 300);
  dataset->AddIndex("vec", "l2", {{0}}, Centroids(12));
  const auto capped = [&](JoinOptions options) {
    const auto got = Join(left, dataset, options);
    EXPECT_TRUE(got.ok()) << got.status();
    EXPECT_LE(got->report.capped_rows, got->report.short_rows);
    return got->report;
  };
  // More is asked than there is: every row is short, none is cut.
  EXPECT_EQ(capped(Options(1000)).short_rows, 40);
  EXPECT_EQ(capped(Options(1000)).capped_rows, 0);
  // Every partition is visited, so no cap on them bites.
  JoinOptions options = Options(1000);
  options.nprobes = 12;
  EXPECT_EQ(capped(options).capped_rows, 0);
  options.nprobes = 2;
  EXPECT_EQ(capped(options).capped_rows, 40);
  options = Options(1000);
  options.maximum_nprobes = 2;
  EXPECT_EQ(capped(options).capped_rows, 40);
  options = Options(1);
  options.maximum_nprobes = 2;
  EXPECT_EQ(capped(options).short_rows, capped(options).capped_rows);
  options = Options(1000);
  options.fast_search = true;
  EXPECT_EQ(capped(options).capped_rows, 40);
  options = Options(200);
  options.distance_range = {0.0f, 6.0f};
  EXPECT_EQ(capped(options).short_rows, 40);
  EXPECT_EQ(capped(options).capped_rows, 40);
  options.distance_range = {0.0f, 1e6f};
  EXPECT_EQ(capped(options).capped_rows, 0);
  // The exact path knows the range only.
  options.index = IndexUse::kNever;
  EXPECT_EQ(capped(options).capped_rows, 0);
  options.distance_range = {3.0f, 6.0f};
  EXPECT_EQ(capped(options).capped_rows, 40);
}

TEST(IndexJoin, SameBytesForAnyThreadsAndBlocks) {
  const Vectors left = FloatVectors(211, kDim, 9);
  auto dataset = std::make_shared<MemoryDataset>(FloatVectors(3000, kDim, 10), 1000, kDim);
  dataset->AddIndex("vec", "l2", {{0}, {1}}, Centroids(30));
  for (int64_t row = 0; row < 2000; ++row) {
    if (row % 11 != 0) dataset->Delete(row);
  }
  for (const bool fast : {false, true}) {
    JoinOptions options = Options(10);
    options.fast_search = fast;
    if (!fast) options.refine_factor = 3;
    KINJO_ASSERT_RESULT(first, Join(left, dataset, options));
    for (const int64_t threads : {1, 2, 4}) {
      for (const int64_t block_rows : {1, 7, 4096}) {
        options.threads = threads;
        options.block_rows = block_rows;
        KINJO_ASSERT_RESULT(other, Join(left, dataset, options));
        EXPECT_TRUE(first.table->Equals(*other.table))
            << "threads " << threads << " block_rows " << block_rows;
      }
    }
  }
}

TEST(IndexJoin, APartitionIsReadOnceForAllItsQueries) {
  const Vectors left = IntegerVectors(500, kDim, 11);
  auto dataset = MakeDataset(2000, 12, 5000);
  dataset->AddIndex("vec", "l2", {{0}}, Centroids(8));
  JoinOptions options = Options(3);
  options.block_rows = 100;
  options.nprobes = 4;
  KINJO_ASSERT_RESULT(got, Join(left, dataset, options));
  int64_t searched = 0;
  for (auto block = left.begin(); block != left.end(); block += 100) {
    searched += Distinct(Vectors(block, block + 100));
  }
  EXPECT_EQ(got.report.partitions_probed, 4 * searched);
  EXPECT_LE(dataset->partition_reads(), 8);
  EXPECT_EQ(got.report.partitions_read, dataset->partition_reads());
}

TEST(IndexJoin, OddRowsOnBothSides) {
  Vectors left = IntegerVectors(20, kDim, 13);
  left[3] = {};
  left[4][0] = std::numeric_limits<double>::quiet_NaN();
  Vectors right = IntegerVectors(300, kDim, 14);
  right[0] = {};
  right[1][2] = std::numeric_limits<double>::infinity();
  right[250] = {};
  right[251][1] = std::numeric_limits<double>::quiet_NaN();
  auto dataset = std::make_shared<MemoryDataset>(right, 200, kDim);
  dataset->AddIndex("vec", "l2", {{0}}, Centroids(4));
  KINJO_ASSERT_RESULT(got, Join(left, dataset, Options(500)));
  ExpectSame(Neighbours(got, left), BruteForce(Metric::kL2, left, right, 500, {}));
  EXPECT_EQ(got.report.skipped_null_rows, 1);
  EXPECT_EQ(got.report.skipped_non_finite_rows, 1);
}

TEST(IndexJoin, CosineOfAFlatIndexIsOneMinusCos) {
  const Vectors left = FloatVectors(30, kDim, 15);
  auto dataset = std::make_shared<MemoryDataset>(FloatVectors(400, kDim, 16), 500, kDim);
  dataset->AddIndex("vec", "cosine", {{0}}, FloatVectors(5, kDim, 17));
  JoinOptions options = Options(7);
  options.nprobes = 5;
  KINJO_ASSERT_RESULT(got, Join(left, dataset, options));
  const auto want = BruteForce(Metric::kCosine, left, dataset->vectors(), 7, {});
  const auto lists = Neighbours(got, left);
  for (size_t q = 0; q < lists.size(); ++q) {
    ASSERT_EQ(lists[q].size(), 7u);
    for (size_t i = 0; i < 7; ++i) {
      EXPECT_NEAR(lists[q][i].distance, want[q][i].distance, 1e-6);
    }
  }
}

// Left vectors that float32 can't hold beside rows that it can: the distance is the true one, with
// and without a refine, and the report may say so.
TEST(IndexJoin, AWiderLeftIsComparedInItsOwnType) {
  const Vectors right = IntegerVectors(300, kDim, 41, -40, 40);
  for (const char* name : {"l2", "dot"}) {
    const Metric metric = std::string(name) == "l2" ? Metric::kL2 : Metric::kDot;
    Vectors left(right.begin(), right.begin() + 60);
    std::mt19937 random(42);
    std::normal_distribution<double> noise(0, 1e-9);
    for (auto& vector : left) {
      for (double& element : vector) element += noise(random);
    }
    auto dataset = std::make_shared<MemoryDataset>(right, 400, kDim);
    dataset->AddIndex("vec", name, {{0}}, Centroids(4));
    JoinOptions options = Options(3);
    options.nprobes = 4;
    const auto table =
        std::make_shared<MemoryTable>(MakeVectorBatch("q", "v", left, arrow::float64(), kDim), "l");
    KINJO_ASSERT_RESULT(got, RunJoin(table, MakeDatasetSide(dataset), options));
    EXPECT_TRUE(got.report.exact_distances);
    const auto want = BruteForce(metric, left, right, 3, {});
    const auto lists = Neighbours(got, left);
    for (size_t q = 0; q < want.size(); ++q) {
      ASSERT_EQ(lists[q].size(), 3u);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(lists[q][i].distance, want[q][i].distance,
                    1e-5 * std::abs(want[q][i].distance));
      }
    }
    options.refine_factor = 1;
    KINJO_ASSERT_RESULT(refined, RunJoin(table, MakeDatasetSide(dataset), options));
    EXPECT_TRUE(got.table->Equals(*refined.table));
  }
  // 2^24 + 1 isn't a float: l2 to 2^24 is 1 and not 0.
  auto dataset = std::make_shared<MemoryDataset>(Vectors{{16777216, 0, 0, 0, 0}}, 4, kDim);
  dataset->AddIndex("vec", "l2", {{0}}, {{0, 0, 0, 0, 0}});
  for (const auto& type : {arrow::int32(), arrow::uint64(), arrow::float64()}) {
    const Vectors left = {{16777217, 0, 0, 0, 0}};
    KINJO_ASSERT_RESULT(got, RunJoin(std::make_shared<MemoryTable>(
                                         MakeVectorBatch("q", "v", left, type, kDim), "l"),
                                     MakeDatasetSide(dataset), Options(1)));
    EXPECT_EQ(Neighbours(got, left)[0][0].distance, 1) << type->ToString();
  }
}

/// A segment that raises the cancel flag when the first row is scored.
class CancellingSegment final : public index::IvfSegment {
 public:
  CancellingSegment(std::shared_ptr<index::IvfSegment> inner, base::CancelToken cancel)
      : inner_(std::move(inner)), cancel_(std::move(cancel)) {}

  const std::string& index_type() const override { return inner_->index_type(); }
  Metric metric() const override { return inner_->metric(); }
  int64_t num_partitions() const override { return inner_->num_partitions(); }
  int64_t dim() const override { return inner_->dim(); }
  format::ElementType element_type() const override { return inner_->element_type(); }
  uint64_t partition_rows(int64_t p) const override { return inner_->partition_rows(p); }
  uint64_t partition_bytes(int64_t p) const override { return inner_->partition_bytes(p); }
  bool is_exact() const override { return inner_->is_exact(); }
  index::QueryBlock PrepareQueries(std::span<const double> vectors) const override {
    return inner_->PrepareQueries(vectors);
  }
  void RankPartitions(const index::QueryBlock& queries, int64_t begin, int64_t end, int64_t limit,
                      std::vector<std::vector<index::RankedPartition>>* out) const override {
    inner_->RankPartitions(queries, begin, end, limit, out);
  }
  arrow::Result<format::PartitionRows> LoadRowIds(int64_t p) const override {
    return inner_->LoadRowIds(p);
  }
  arrow::Status LoadCodes(int64_t p, format::PartitionRows* stored) const override {
    return inner_->LoadCodes(p, stored);
  }
  void Decode(int64_t p, const format::PartitionRows& stored, std::span<const uint64_t> addresses,
              uint64_t dead, index::DecodedPartition* out) const override {
    inner_->Decode(p, stored, addresses, dead, out);
  }
  double MoveQuery(int64_t p, const double* query, const index::DecodedPartition& rows,
                   float* moved) const override {
    return inner_->MoveQuery(p, query, rows, moved);
  }
  float Distance(int64_t p, const double* query, const index::DecodedPartition& rows,
                 int64_t slot) const override {
    cancel_.Cancel();
    scored_.fetch_add(1);
    return inner_->Distance(p, query, rows, slot);
  }
  int64_t scored() const { return scored_.load(); }

 private:
  const std::shared_ptr<index::IvfSegment> inner_;
  const base::CancelToken cancel_;
  mutable std::atomic<int64_t> scored_{0};
};

TEST(IndexJoin, CancelStopsInsideALargePartition) {
  constexpr int64_t kRows = 40000;
  constexpr uint32_t kQueries = 10;
  // Equal rows tie: all of them survive the filter and are scored.
  MemoryDataset dataset(Vectors(kRows, {1, 2, 3, 4, 5}), kRows, kDim);
  dataset.AddIndex("vec", "l2", {{0}}, {{0, 0, 0, 0, 0}});
  const dataset::IndexInfo& info = dataset.vector_indexes()[0];
  const base::CancelToken cancel;
  const auto segment =
      std::make_shared<CancellingSegment>(dataset.OpenSegment(info, 0).ValueOrDie(), cancel);
  base::ThreadPool pool(1);
  exec::PartitionCache cache(0);
  exec::BatchCounters counters;
  std::vector<exec::BatchWorker> workers(1);
  exec::AnnIvfBatch batch({.segment = segment, .dataset = &dataset, .info = info.segments[0]},
                          &cache, &counters, &pool, cancel, &workers);
  const index::QueryBlock queries =
      segment->PrepareQueries(std::vector<double>(kQueries * kDim, 1.0));
  exec::NeighborHeaps heaps;
  heaps.Reset(kQueries, 1, {});
  std::vector<exec::Probe> probes;
  for (uint32_t query = 0; query < kQueries; ++query) probes.push_back({query, 0});
  const arrow::Status status = batch.Scan(queries, exec::ProbeList::Invert(probes, 1), &heaps);
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCancelled);
  EXPECT_LT(segment->scored(), kRows * kQueries / 2);
}

TEST(IndexJoin, CosineOfAFlatIndexIsNeverNegative) {
  const Vectors rows = FloatVectors(200, kDim, 20);
  auto dataset = std::make_shared<MemoryDataset>(rows, 500, kDim);
  dataset->AddIndex("vec", "cosine", {{0}}, FloatVectors(5, kDim, 17));
  JoinOptions options = Options(1);
  options.nprobes = 5;
  options.distance_range = {0.0f, 1e-6f};
  KINJO_ASSERT_RESULT(got, Join(rows, dataset, options));
  const auto lists = Neighbours(got, rows);
  for (size_t q = 0; q < lists.size(); ++q) {
    ASSERT_EQ(lists[q].size(), 1u) << "left row " << q;
    EXPECT_EQ(lists[q][0].address, q);
  }
}

// A dataset without live rows has none that an index leaves out, so nothing is refused over that.
TEST(IndexJoin, AnEmptiedDatasetGivesNoRowsOnEveryPath) {
  const Vectors left = IntegerVectors(6, kDim, 7);
  auto dataset = MakeDataset(20, 8, 10);
  dataset->AddIndex("vec", "l2", {{}}, Centroids(2));
  for (int64_t row = 0; row < 19; ++row) dataset->Delete(row);
  const auto join = [&](IndexUse use, bool fast) {
    JoinOptions options = Options(3);
    options.index = use;
    options.index_name = use == IndexUse::kNamed ? "vec" : "";
    options.fast_search = fast;
    options.how = How::kLeft;
    return Join(left, dataset, options);
  };
  // One row lives, and the index has none of it.
  EXPECT_EQ(base::CodeOf(join(IndexUse::kRequire, false).status()), base::ErrorCode::kRefused);
  EXPECT_EQ(base::CodeOf(join(IndexUse::kAuto, true).status()), base::ErrorCode::kInvalid);
  dataset->Delete(19);
  for (const auto& [use, fast] : {std::pair{IndexUse::kRequire, false},
                                  {IndexUse::kAuto, true},
                                  {IndexUse::kNamed, true},
                                  {IndexUse::kNever, false}}) {
    KINJO_ASSERT_RESULT(got, join(use, fast));
    EXPECT_EQ(got.table->num_rows(), 6);
    EXPECT_EQ(got.table->GetColumnByName("_distance")->null_count(), 6);
    EXPECT_EQ(got.report.path, use == IndexUse::kNever ? "exact" : "index");
    EXPECT_EQ(got.report.capped_rows, 0);
  }
}

TEST(IndexJoin, ARangeAppliesBeforeTheCutAndCapsTheSearch) {
  const Vectors left = IntegerVectors(30, kDim, 18);
  auto dataset = MakeDataset(500, 19, 1000);
  dataset->AddIndex("vec", "l2", {{0}}, Centroids(6));
  JoinOptions options = Options(5);
  options.distance_range = {2.0f, 12.0f};
  options.nprobes = 6;
  for (const bool refine : {false, true}) {
    if (refine) options.refine_factor = 2;
    KINJO_ASSERT_RESULT(got, Join(left, dataset, options));
    auto want = BruteForce(Metric::kL2, left, dataset->vectors(), 1000, {});
    for (auto& list : want) {
      std::erase_if(list, [](const Neighbor& n) { return n.distance < 2 || n.distance >= 12; });
      if (list.size() > 5) list.resize(5);
    }
    ExpectSame(Neighbours(got, left), want);
  }
}

}  // namespace
}  // namespace kinjo::join
