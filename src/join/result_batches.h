// Takes the right columns of a block's matches and gathers both sides into output batches, in left
// order.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "arrow/record_batch.h"
#include "base/cancel_token.h"
#include "join/left_block.h"
#include "join/plan.h"
#include "join/run_counters.h"
#include "kernels/top_k.h"
#include "stream/result_stream.h"

namespace kinjo::join {

/// Rows of an output batch at most; fewer where they hold more bytes than the memory plan gives to
/// rows being read.
inline constexpr int64_t kOutputBatchRows = 8192;

/// Made once a run. One thread.
class ResultBatches {
 public:
  ResultBatches(const JoinPlan& plan, base::CancelToken cancel, RunCounters* counters)
      : plan_(plan), cancel_(std::move(cancel)), counters_(counters) {}

  /// Emits the rows of a block. matches[i] are the neighbours of the block's i-th query, best
  /// first; kept[r] tells which of those of row r come out, null that all do.
  arrow::Status Emit(const LeftBlock& block,
                     const std::vector<std::vector<kernels::Neighbor>>& matches,
                     const std::vector<std::vector<bool>>* kept,
                     const stream::ResultStream::Emit& emit);

 private:
  /// One output row: neighbour `rank` of a left row, or rank 0 for a left row without match.
  struct Row {
    int64_t left_row;
    int32_t rank;
    kernels::Neighbor neighbor;
  };
  /// Right rows that were taken together.
  struct TakenRows {
    std::vector<uint64_t> addresses;  // rising
    std::vector<uint64_t> row_ids;
    std::shared_ptr<arrow::RecordBatch> columns;  // null when there is nothing to take
    std::vector<int64_t> bytes;                   // of each row of `columns`
    std::vector<int64_t> positions;               // in `addresses`, of each output row
  };

  std::vector<Row> Expand(const LeftBlock& block,
                          const std::vector<std::vector<kernels::Neighbor>>& matches,
                          const std::vector<std::vector<bool>>* kept);
  arrow::Result<TakenRows> TakeRight(std::span<const Row> rows);
  /// Output rows from `first` on that one batch may hold, at least 1.
  size_t BatchRows(std::span<const int64_t> left_bytes, std::span<const Row> group,
                   const TakenRows& taken, size_t first) const;
  arrow::Status EmitGroup(const LeftBlock& block, std::span<const int64_t> left_bytes,
                          std::span<const Row> group, const stream::ResultStream::Emit& emit);
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Assemble(
      const LeftBlock& block, std::span<const Row> rows, const TakenRows& taken,
      std::span<const int64_t> positions) const;
  arrow::Status AppendJoinColumns(const LeftBlock& block, std::span<const Row> rows,
                                  const TakenRows& taken, std::span<const int64_t> positions,
                                  arrow::ArrayVector* columns) const;
  size_t GroupRows() const;

  const JoinPlan& plan_;
  base::CancelToken cancel_;
  RunCounters* counters_;
  int64_t right_row_bytes_ = 0;  // of the rows taken so far, on average; 0 before the first
};

}  // namespace kinjo::join
