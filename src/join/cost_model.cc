#include "join/cost_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/block_scan.h"
#include "kernels/canonical_distance.h"
#include "kernels/grouped_rows.h"

namespace kinjo::join {

namespace {

// Enough rows that loops run at their pace, few enough that all of it takes milliseconds.
constexpr int64_t kRows = 1536;
constexpr int64_t kDim = 64;
constexpr int64_t kQueries = 96;
constexpr int kRepetitions = 3;

// With fewer queries a partition's rows are multiplied as floats (exec/ann_ivf_batch.cc).
constexpr double kQueriesForCodes = 12;

// Steps whose cost isn't arithmetic: as measured beside the machine's arithmetic on two processors
// of this decade.
constexpr double kScannedRowNs = 90;    // of a row that is read, judged and named for a scan
constexpr double kScannedPairNs = 0.6;  // of a pair that the filter looks at: bounds, survivors
constexpr double kPairNs = 35;          // of a pair that is scored at once
constexpr double kBarrierNs =
    150'000;  // of a block that all threads share: they wait for each other
constexpr double kResolvedRowNs = 25;   // of a partition's row: where it lies, whether it is live
constexpr double kCandidateNs = 120;    // of a row that is handed on: sorted, looked up, ranked
constexpr double kVisitNs = 300;        // of a query and a partition
constexpr double kPartitionNs = 8'000;  // of a partition that is loaded or decoded
constexpr double kBlockNs = 60'000;     // of a query block: threads that wake, buffers
constexpr double kTakenRowNs = 150;     // of a row that is read alone
constexpr double kBesideRowNs = 40;     // of a partition's row that is sorted and looked up

// Ranges that lie so close to each other are read as one.
constexpr double kCoalescedBytes = 8192;

// A store whose requests take so long is far away, and sends bytes at its own pace.
constexpr double kFarRequestNs = 1e6;
constexpr double kFarByteNs = 10;

/// The least nanoseconds of some repetitions: what disturbs makes them more.
template <typename Work>
double LeastNs(const Work& work) {
  double least = 0;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    if (i == 0 || spent.count() < least) least = spent.count();
  }
  return std::max(least, 1.0);
}

std::vector<float> SomeFloats(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) / static_cast<float>(1 << 24) - 0.5f;
  }
  return values;
}

double MultiplyNs(const kernels::GroupedRows& rows, const std::vector<float>& queries,
                  const kernels::RowCodes& codes) {
  // No row survives such bounds.
  const std::vector<float> bounds(kQueries, -1e6f);
  std::vector<kernels::Hit> hits(static_cast<size_t>(kQueries * kRows));
  const kernels::BlockScan scan{.rows = rows.rows(),
                                .init = rows.init(),
                                .dim = kDim,
                                .first_group = 0,
                                .num_groups = rows.num_groups(),
                                .queries = queries.data(),
                                .bounds = bounds.data(),
                                .num_queries = kQueries,
                                .codes = codes};
  const double ns = LeastNs([&] { kernels::ScanBlock(scan, hits.data()); });
  return ns / static_cast<double>(kQueries * kRows * kDim);
}

MachineSpeed Measure() {
  const auto elements = static_cast<double>(kRows * kDim);
  const std::vector<float> values = SomeFloats(kRows * kDim);
  const std::vector<float> queries = SomeFloats(kQueries * kDim);
  const std::vector<double> wide(values.begin(), values.end());
  volatile double sink = 0;  // so that no loop is left out
  MachineSpeed speed;
  kernels::GroupedRows rows;
  speed.unit_ns = LeastNs([&] {
                    rows.Reset(kRows, kDim, /*with_codes=*/true);
                    for (int64_t i = 0; i < kRows; ++i) {
                      rows.SetRow(i, wide.data() + i * kDim, nullptr, false);
                    }
                    rows.MakeCodes(0, rows.num_groups());
                  }) /
                  elements;
  speed.group_ns = LeastNs([&] {
                     rows.Reset(kRows, kDim, /*with_codes=*/true);
                     rows.SetRows(0, kRows, values.data(), nullptr, false);
                     rows.MakeCodes(0, rows.num_groups());
                   }) /
                   elements;
  speed.multiply_ns = MultiplyNs(rows, queries, {});
  speed.code_multiply_ns = MultiplyNs(rows, queries, rows.codes());
  speed.canonical_ns = LeastNs([&] {
                         double sum = 0;
                         for (int64_t i = 0; i < kRows; ++i) {
                           sum += kernels::CanonicalL2(wide.data(), values.data() + i * kDim, kDim);
                         }
                         sink = sink + sum;
                       }) /
                       elements;
  const std::vector<char> from(size_t{1} << 21, 1);
  std::vector<char> to(from.size());
  speed.copy_ns = LeastNs([&] {
                    std::memcpy(to.data(), from.data(), from.size());
                    sink = sink + to[7];
                  }) /
                  static_cast<double>(from.size());
  return speed;
}

double Ceil(double rows, double block) { return std::ceil(rows / std::max(block, 1.0)); }

}  // namespace

const MachineSpeed& MeasuredSpeed() {
  static const MachineSpeed speed = Measure();
  return speed;
}

StorageSpeed StorageSpeedOf(int64_t requests, int64_t read_ns) {
  StorageSpeed speed;
  if (requests <= 0) return speed;
  speed.request_ns = static_cast<double>(read_ns) / static_cast<double>(requests);
  if (speed.request_ns >= kFarRequestNs) speed.byte_ns = kFarByteNs;
  return speed;
}

double CostModel::SurvivorNs(int64_t dim) const {
  return kCandidateNs / 2 + static_cast<double>(dim) * machine_.canonical_ns;
}

Estimate CostModel::Exact(const ExactWork& work, ExactWay way) const {
  const auto left = static_cast<double>(work.left_rows);
  const auto right = static_cast<double>(work.right_rows);
  const auto dim = static_cast<double>(work.dim);
  const double batches = std::max(1.0, Ceil(right, static_cast<double>(work.batch_rows)));
  const double blocks = std::max(1.0, Ceil(left, static_cast<double>(work.block_rows)));
  const double bytes = right * dim * static_cast<double>(work.element_bytes);
  // Of all right rows, for one query block.
  const double read = ReadNs(batches, bytes) + bytes * machine_.copy_ns;
  double fill = right * (kScannedRowNs + (work.cosine ? dim * machine_.canonical_ns : 0));
  double pair = 0;
  if (way == ExactWay::kPairs) {
    pair = kPairNs + dim * machine_.canonical_ns;
  } else {
    fill += right * dim * (work.cosine ? machine_.unit_ns : machine_.group_ns);
    pair = kScannedPairNs + dim * std::min(machine_.code_multiply_ns, machine_.multiply_ns);
  }
  double score = left / blocks * right * pair;
  const auto k = static_cast<double>(work.k);
  const double survivors = k * (1 + std::log(std::max(right / std::max(k, 1.0), 1.0)));
  score += left / blocks * survivors * SurvivorNs(work.dim);
  // The last round of own blocks leaves threads without one.
  const double uneven = std::ceil(batches / threads_) * threads_ / batches;
  const double own = std::max(read, (read + fill + score) / threads_ * uneven);
  double ns = 0;
  double scans = blocks;
  switch (way) {
    case ExactWay::kSharedBlocks:
      ns =
          blocks * ((read + fill) / batches +
                    std::max(read + fill, (read + fill + score) / threads_) + batches * kBarrierNs);
      break;
    case ExactWay::kOwnBlocks:
    case ExactWay::kPairs:
      ns = blocks * own;
      break;
    case ExactWay::kKeptBlocks:
      ns = own + (blocks - 1) * score / threads_;
      scans = 1;
      break;
  }
  ns += blocks * kBlockNs;
  return {ns * 1e-9, scans * bytes};
}

double CostModel::PartitionsTouched(const IndexWork& work, double block_rows) {
  const auto partitions = static_cast<double>(std::max<int64_t>(work.partitions, 1));
  return partitions * (1 - std::exp(-block_rows * work.probes / partitions));
}

double CostModel::PartitionsRead(const IndexWork& work) {
  const auto left = static_cast<double>(work.left_rows);
  const double block_rows = std::min(left, static_cast<double>(work.block_rows));
  const double blocks = std::max(1.0, Ceil(left, block_rows));
  const double first = PartitionsTouched(work, left);
  const double all = blocks * PartitionsTouched(work, block_rows);
  return std::max(first, first * work.cached + all * (1 - work.cached));
}

Estimate CostModel::Index(const IndexWork& work) const {
  const auto left = static_cast<double>(work.left_rows);
  const auto dim = static_cast<double>(work.dim);
  const auto partitions = static_cast<double>(std::max<int64_t>(work.partitions, 1));
  const double part_rows = static_cast<double>(work.rows) / partitions;
  const double part_bytes = static_cast<double>(work.bytes) / partitions;
  const double block_rows = std::min(left, static_cast<double>(work.block_rows));
  const double blocks = std::max(1.0, Ceil(left, block_rows));
  const double decoded = blocks * PartitionsTouched(work, block_rows);
  const double read = PartitionsRead(work);
  const double visits = left * work.probes;
  const bool codes = visits / std::max(decoded, 1.0) >= kQueriesForCodes;
  const auto candidates = static_cast<double>(work.candidates);
  double ns = left * partitions * (dim * machine_.multiply_ns + 1);  // rank
  ns += read * (ReadNs(3, part_bytes) + part_rows * kResolvedRowNs);
  ns += decoded * (kPartitionNs + part_rows * dim * 2 * machine_.group_ns);
  ns += visits * (kVisitNs + 2 * dim * machine_.canonical_ns +
                  part_rows * dim * (codes ? machine_.code_multiply_ns : machine_.multiply_ns));
  const double met = work.probes * part_rows;
  const double survivors =
      std::min(met, candidates * (1 + std::log(std::max(met / std::max(candidates, 1.0), 1.0))));
  ns += left * survivors * SurvivorNs(work.dim);
  double bytes = read * part_bytes;
  if (work.refines) {
    const double refined = left * candidates;
    const auto rows = static_cast<double>(std::max<int64_t>(work.rows, 1));
    const double distinct = blocks * rows * (1 - std::exp(-refined / blocks / rows));
    ns += refined * (kCandidateNs + dim * machine_.canonical_ns);
    ns += distinct * kTakenRowNs + ReadNs(distinct / 8, distinct * dim * 4);
    bytes += distinct * dim * 4;
  }
  ns = ns / threads_ + blocks * kBlockNs;
  return {ns * 1e-9, bytes};
}

Estimate CostModel::Filter(const FilterWork& work, FilterWay way) const {
  const auto row_bytes = static_cast<double>(work.row_bytes);
  const double read_row = row_bytes * 2 * machine_.copy_ns + work.row_ns;
  if (way == FilterWay::kFirst) {
    const auto rows = static_cast<double>(work.right_rows);
    const double bytes = rows * row_bytes;
    // An index answers in about the time of one byte a row.
    const double ns =
        work.indexed ? ReadNs(8, rows) : ReadNs(1 + bytes / (1 << 20), bytes) + rows * read_row;
    return {(ns / threads_ + kBlockNs) * 1e-9, work.indexed ? rows : bytes};
  }
  // Rows of a partition lie anywhere: they are read one by one, or, close to each other, with all
  // that is between them.
  const double column = static_cast<double>(work.right_rows) * row_bytes;
  const double part_rows = work.rows_met / std::max(work.partitions, 1.0);
  const bool coalesced = column <= part_rows * kCoalescedBytes;
  const double requests = coalesced ? work.partitions : work.rows_met;
  const double bytes = coalesced ? work.partitions * column : work.rows_met * row_bytes;
  const double ns = ReadNs(requests, bytes) + work.rows_met * (read_row + kBesideRowNs) +
                    work.partitions * kPartitionNs;
  return {ns / threads_ * 1e-9, bytes};
}

}  // namespace kinjo::join
