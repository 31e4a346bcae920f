#include "join/recall_meter.h"

#include <algorithm>

namespace kinjo::join {

RecallMeter::RecallMeter(const AnsweredSample& sample) {
  const LeftSample& rows = sample.rows;
  if (!rows.is_census()) only_choosing_ = static_cast<int64_t>(rows.choosing.size());
  for (size_t i = 0; i < rows.measuring.size(); ++i) {
    const int32_t query = rows.measuring_query(i);
    if (query >= 0) rows_.push_back({rows.measuring[i], sample.exact[query]});
  }
}

void RecallMeter::Add(const LeftBlock& block, const Matches& found) {
  auto row = std::lower_bound(
      rows_.begin(), rows_.end(), block.first_row,
      [](const Row& measured, int64_t first) { return measured.left_row < first; });
  for (; row != rows_.end() && row->left_row < block.first_row + block.num_rows; ++row) {
    const int32_t query = block.query_of_row[row->left_row - block.first_row];
    if (query >= 0) AppendRecall(row->exact, found[query], &recalls_);
  }
}

RecallEstimate RecallMeter::Estimate(int64_t left_rows) const {
  const auto measured = static_cast<int64_t>(rows_.size());
  // A sample of all rows measures them all, whether or not each has a recall.
  const int64_t unmeasured = std::max<int64_t>(0, left_rows - only_choosing_ - measured);
  const auto with_recall = static_cast<int64_t>(recalls_.size());
  return EstimateRecall(recalls_, only_choosing_ == 0 ? with_recall : with_recall + unmeasured);
}

}  // namespace kinjo::join
