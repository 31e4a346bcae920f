// Cancelling in every phase that goes through a side of the join: after the flag is raised, each
// thread may finish the block at hand and starts no other. (Ranking and the steps of a partition
// are in src/exec, whose tests raise the flag inside an index segment.)
#include <gtest/gtest.h>

#include <atomic>

#include "arrow/util/iterator.h"
#include "join/brute_force.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

constexpr int kThreads = 2;

/// Raises the flag when the n-th block starts, and counts those that start afterwards.
class Trip {
 public:
  explicit Trip(int64_t at) : at_(at) {}

  void Start() {
    after_.fetch_add(cancel_.cancelled());
    if (started_.fetch_add(1) == at_) cancel_.Cancel();
  }
  const base::CancelToken& cancel() const { return cancel_; }
  int64_t after() const { return after_.load(); }

 private:
  const int64_t at_;
  base::CancelToken cancel_;
  std::atomic<int64_t> started_{0};
  std::atomic<int64_t> after_{0};
};

/// A table whose batches trip when they are read.
class TrippedTable final : public tabular::TableSource {
 public:
  TrippedTable(const Vectors& vectors, const std::string& id, int64_t slice_rows, Trip* trip)
      : table_(MakeVectorBatch(id, "v", vectors, arrow::float32(), 4), id, slice_rows),
        trip_(trip) {}

  const std::string& uri() const override { return table_.uri(); }
  const std::string& format() const override { return table_.format(); }
  std::shared_ptr<arrow::Schema> schema() const override { return table_.schema(); }
  std::optional<int64_t> num_rows() const override { return table_.num_rows(); }
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    ARROW_ASSIGN_OR_RAISE(auto reader, table_.Read(columns));
    const auto schema = reader->schema();
    auto batches = arrow::MakeFunctionIterator(
        [this, reader]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
          if (trip_ != nullptr) trip_->Start();
          return reader->Next();
        });
    return arrow::RecordBatchReader::MakeFromIterator(std::move(batches), schema);
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals) override {
    return table_.Take(columns, ordinals);
  }

 private:
  MemoryTable table_;
  Trip* trip_;
};

/// A dataset side whose scans or takes trip.
class TrippedSide final : public RightSide {
 public:
  TrippedSide(std::shared_ptr<dataset::Dataset> dataset, Trip* scans, Trip* takes)
      : side_(MakeDatasetSide(std::move(dataset))), scans_(scans), takes_(takes) {}

  const std::string& uri() const override { return side_->uri(); }
  std::string format() const override { return side_->format(); }
  std::shared_ptr<arrow::Schema> schema() const override { return side_->schema(); }
  std::optional<int64_t> num_rows() const override { return side_->num_rows(); }
  std::shared_ptr<dataset::Dataset> dataset() const override { return side_->dataset(); }
  arrow::Result<std::unique_ptr<dataset::Scan>> ScanColumns(
      const std::vector<std::string>& columns,
      const std::optional<std::vector<uint64_t>>& fragment_ids, int64_t batch_rows,
      const std::shared_ptr<const dataset::RowMask>& rows) override {
    ARROW_ASSIGN_OR_RAISE(auto scan, side_->ScanColumns(columns, fragment_ids, batch_rows, rows));
    return std::make_unique<TrippedScan>(std::move(scan), scans_);
  }
  arrow::Result<dataset::FilterAnswer> EvaluateFilter(const predicate::Predicate& filter,
                                                      base::ThreadPool* pool,
                                                      const base::CancelToken& cancel) override {
    return side_->EvaluateFilter(filter, pool, cancel);
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> addresses) override {
    if (takes_ != nullptr) takes_->Start();
    return side_->Take(columns, addresses);
  }
  arrow::Status RowIds(std::span<const uint64_t> addresses,
                       std::span<uint64_t> row_ids) const override {
    return side_->RowIds(addresses, row_ids);
  }
  arrow::Result<std::vector<tabular::Trait>> Identity() const override { return side_->Identity(); }
  int64_t requests() const override { return side_->requests(); }
  int64_t bytes_read() const override { return side_->bytes_read(); }

 private:
  class TrippedScan final : public dataset::Scan {
   public:
    TrippedScan(std::unique_ptr<dataset::Scan> scan, Trip* trip)
        : scan_(std::move(scan)), trip_(trip) {}
    arrow::Result<dataset::ScanBatch> Next() override {
      if (trip_ != nullptr) trip_->Start();
      return scan_->Next();
    }

   private:
    std::unique_ptr<dataset::Scan> scan_;
    Trip* trip_;
  };

  std::unique_ptr<RightSide> side_;
  Trip* scans_;
  Trip* takes_;
};

JoinOptions Options() {
  JoinOptions options;
  options.k = 4;
  options.threads = kThreads;
  options.block_rows = 64;
  options.memory_limit_bytes = int64_t{1} << 28;
  return options;
}

/// Runs a join that the trip stops. Gives how many batches came out.
int64_t RunTripped(std::shared_ptr<tabular::TableSource> left, std::shared_ptr<RightSide> right,
                   const JoinOptions& options, const Trip& trip) {
  auto plan = MakePlan(std::move(left), std::move(right), options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return 0;
  Executor executor(*plan, {});
  int64_t after = 0;
  const arrow::Status status =
      executor.Run(trip.cancel(), [&](const std::shared_ptr<arrow::RecordBatch>&) {
        after += trip.cancel().cancelled();
        return arrow::Status::OK();
      });
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCancelled) << status;
  return after;
}

std::shared_ptr<MemoryTable> Left(int64_t rows, const std::string& vector = "v") {
  return std::make_shared<MemoryTable>(
      MakeVectorBatch("q", vector, FloatVectors(rows, 4, 1), arrow::float32(), 4), "left", 50);
}

std::shared_ptr<MemoryDataset> Indexed(int64_t rows) {
  auto dataset = std::make_shared<MemoryDataset>(FloatVectors(rows, 4, 2), rows / 2, 4);
  dataset->AddIndex("idx", "l2", {{0}}, FloatVectors(6, 4, 3));
  return dataset;
}

TEST(Cancel, ReadingTheLeft) {
  for (int64_t at = 0; at < 20; at += 4) {
    Trip trip(at);
    auto left = std::make_shared<TrippedTable>(FloatVectors(1000, 4, 1), "q", 32, &trip);
    const auto right = std::make_shared<TrippedTable>(FloatVectors(200, 4, 2), "id", 100, nullptr);
    EXPECT_EQ(RunTripped(left, MakeTableSide(right), Options(), trip), 0) << at;
    EXPECT_LE(trip.after(), 1) << at;  // the second batch of the block at hand
  }
}

TEST(Cancel, TheScanOfTheExactPath) {
  for (int64_t at = 1; at < 30; at += 5) {
    Trip trip(at);
    const auto dataset = std::make_shared<MemoryDataset>(FloatVectors(2000, 4, 2), 2000, 4);
    const auto right = std::make_shared<TrippedSide>(dataset, &trip, nullptr);
    EXPECT_EQ(RunTripped(Left(500, "vector"), right, Options(), trip), 0) << at;
    EXPECT_LE(trip.after(), kThreads) << at;
  }
}

TEST(Cancel, TheFilterOfATable) {
  JoinOptions options = Options();
  options.where = "id >= 0";
  for (int64_t at = 0; at < 30; at += 5) {
    Trip trip(at);
    const auto right = std::make_shared<TrippedTable>(FloatVectors(4000, 4, 2), "id", 100, &trip);
    EXPECT_EQ(RunTripped(Left(500), MakeTableSide(right), options, trip), 0) << at;
    EXPECT_LE(trip.after(), kThreads) << at;
  }
}

TEST(Cancel, TheRefine) {
  JoinOptions options = Options();
  options.refine_factor = 30;
  options.fast_search = true;
  for (int64_t at = 0; at < 3; ++at) {
    Trip trip(at);
    const auto right = std::make_shared<TrippedSide>(Indexed(8000), nullptr, &trip);
    EXPECT_EQ(RunTripped(Left(640, "vector"), right, options, trip), 0) << at;
    EXPECT_LE(trip.after(), kThreads) << at;
  }
}

TEST(Cancel, TheScanOfRowsWithoutIndex) {
  for (int64_t at = 1; at < 30; at += 5) {
    Trip trip(at);
    const auto right = std::make_shared<TrippedSide>(Indexed(4000), &trip, nullptr);
    EXPECT_EQ(RunTripped(Left(500, "vector"), right, Options(), trip), 0) << at;
    EXPECT_LE(trip.after(), kThreads) << at;
  }
}

TEST(Cancel, TakingTheRightColumns) {
  for (int64_t at = 0; at < 5; ++at) {
    Trip trip(at);
    const auto dataset = std::make_shared<MemoryDataset>(FloatVectors(900, 4, 2), 900, 4);
    const auto right = std::make_shared<TrippedSide>(dataset, nullptr, &trip);
    EXPECT_EQ(RunTripped(Left(640, "vector"), right, Options(), trip), 0) << at;
    EXPECT_LE(trip.after(), 1) << at;
  }
}

TEST(Cancel, Output) {
  for (int64_t at = 0; at < 5; ++at) {
    Trip left_blocks(-1);
    auto left = std::make_shared<TrippedTable>(FloatVectors(1000, 4, 1), "q", 64, &left_blocks);
    const auto right = std::make_shared<TrippedTable>(FloatVectors(200, 4, 2), "id", 100, nullptr);
    auto plan = MakePlan(left, MakeTableSide(right), Options()).ValueOrDie();
    Executor executor(plan, {});
    Trip trip(at);
    const arrow::Status status =
        executor.Run(trip.cancel(), [&](const std::shared_ptr<arrow::RecordBatch>&) {
          trip.Start();
          return arrow::Status::OK();
        });
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCancelled) << status;
    EXPECT_EQ(trip.after(), 0) << at;
  }
}

}  // namespace
}  // namespace kinjo::join
