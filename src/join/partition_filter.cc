#include "join/partition_filter.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "dataset/filter.h"
#include "join/row_bytes.h"

namespace kinjo::join {

namespace {

class TakenRowsFilter final : public exec::PartitionFilter {
 public:
  TakenRowsFilter(const JoinPlan& plan, base::CancelToken cancel, RunCounters* counters)
      : plan_(plan), cancel_(std::move(cancel)), counters_(counters) {}

  arrow::Status KeepPassing(std::span<uint64_t> addresses) const override {
    std::vector<uint64_t> live;
    for (const uint64_t address : addresses) {
      if (address != dataset::kDeadRow) live.push_back(address);
    }
    if (live.empty()) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(cancel_.Check());
    std::sort(live.begin(), live.end());
    const predicate::Predicate& predicate = *plan_.filter->predicate;
    ARROW_ASSIGN_OR_RAISE(const auto batch, plan_.right->Take(predicate.columns(), live));
    ARROW_ASSIGN_OR_RAISE(const auto truth, predicate.Evaluate(*batch));
    std::vector<dataset::RowAddress> passing;
    ARROW_RETURN_NOT_OK(dataset::KeepPassing(*truth, live, &passing));
    for (uint64_t& address : addresses) {
      if (!std::binary_search(passing.begin(), passing.end(), address)) {
        address = dataset::kDeadRow;
      }
    }
    const auto rows = static_cast<int64_t>(live.size());
    const auto passed = static_cast<int64_t>(passing.size());
    counters_->filter_rows_evaluated.fetch_add(rows, std::memory_order_relaxed);
    counters_->filter_rows.fetch_add(passed, std::memory_order_relaxed);
    return arrow::Status::OK();
  }

 private:
  const JoinPlan& plan_;
  base::CancelToken cancel_;
  RunCounters* counters_;
};

}  // namespace

bool MayFilterBeside(const JoinPlan& plan) {
  if (plan.filter == nullptr || plan.rows != nullptr || !plan.uses_index()) return false;
  const JoinOptions& options = plan.options;
  return options.nprobes.has_value() && !options.fast_search && !options.recall.has_value() &&
         !plan.scans_unindexed() && !plan.gives_pairs() && !plan.multivector() &&
         plan.eligibility.everything() && !plan.filter->predicate->root().can_fail;
}

std::shared_ptr<const exec::PartitionFilter> MakePartitionFilter(const JoinPlan& plan,
                                                                 const base::CancelToken& cancel,
                                                                 RunCounters* counters) {
  if (plan.ways.filter != FilterWay::kBeside || plan.filter == nullptr) return nullptr;
  return std::make_shared<TakenRowsFilter>(plan, cancel, counters);
}

int64_t PartitionFilterBytes(const JoinPlan& plan, int64_t partition_rows_max) {
  int64_t row_bytes = 4 * 8;  // addresses: of the partition, sorted, of those that pass
  for (const std::string& name : plan.filter->predicate->columns()) {
    row_bytes += 2 * ValueBytes(*plan.right->schema()->GetFieldByName(name)->type());
  }
  return plan.threads * partition_rows_max * row_bytes;
}

}  // namespace kinjo::join
