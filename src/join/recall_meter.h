// Measures the recall of a run: what it found for the measuring rows of a sample, as they pass,
// against their exact answers. The rows are searched once, by the run itself.
#pragma once

#include <cstdint>
#include <vector>

#include "join/block_search.h"
#include "join/left_block.h"
#include "join/recall_choice.h"
#include "join/recall_estimate.h"

namespace kinjo::join {

/// One thread.
class RecallMeter {
 public:
  /// Measures nothing.
  RecallMeter() = default;
  explicit RecallMeter(const AnsweredSample& sample);

  /// Takes what was found for a block of the left.
  void Add(const LeftBlock& block, const Matches& found);

  /// Of the rows that passed. `left_rows`: of the whole left side.
  RecallEstimate Estimate(int64_t left_rows) const;

 private:
  struct Row {
    int64_t left_row;
    std::vector<kernels::Neighbor> exact;
  };
  std::vector<Row> rows_;  // by left_row
  int64_t only_choosing_ = 0;
  std::vector<double> recalls_;
};

}  // namespace kinjo::join
