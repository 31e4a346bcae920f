#include "join/right_filter.h"

#include <algorithm>
#include <utility>

#include "index/ivf_segment.h"
#include "join/covered_rows.h"
#include "join/plan.h"
#include "join/row_bytes.h"
#include "join/way_choice.h"

namespace kinjo::join {

namespace {

// Masks that an evaluation may hold at a time: the answer, and those being joined.
constexpr int64_t kMasksAtATime = 4;

// What an index answered is held until the scan is done: the rows that pass, and unknown ones.
constexpr int64_t kMasksOfAnIndex = 2;

// A block of a mask stands for so many rows, and takes so many bytes at most.
constexpr int64_t kMaskBlockRows = 65536;
constexpr int64_t kMaskBlockBytes = 8192 + 64;

// Says which option a fault of the predicate is about.
arrow::Status OfWhere(const arrow::Status& status) {
  return status.WithMessage("where: ", base::MessageOf(status));
}

int64_t MaskBytes(int64_t rows) {
  return (rows + kMaskBlockRows - 1) / kMaskBlockRows * kMaskBlockBytes;
}

int64_t MaskBytes(const RightSide& right) {
  const auto dataset = right.dataset();
  if (dataset == nullptr) return MaskBytes(right.num_rows().value_or(0));
  int64_t bytes = 0;
  for (const dataset::FragmentInfo& fragment : dataset->fragments()) {
    bytes += MaskBytes(static_cast<int64_t>(fragment.physical_rows));
  }
  return bytes;
}

int64_t BatchBytes(const arrow::Schema& schema, const std::vector<std::string>& columns) {
  int64_t row_bytes = 8;  // its address
  for (const std::string& name : columns) {
    row_bytes += 2 * ValueBytes(*schema.GetFieldByName(name)->type());  // read and decoded
  }
  return kScanBatchRows * row_bytes;
}

}  // namespace

bool NeedsNoSearch(const JoinPlan& plan, int64_t passing) {
  if (passing == 0) return true;
  if (plan.options.nprobes.has_value() || plan.options.maximum_nprobes.has_value()) return false;
  if (passing <= plan.options.k) return true;
  const int64_t round =
      std::max(plan.probes.minimum, index::AdaptiveProbeCap(plan.metric(), plan.options.k));
  double partitions = 0;
  double visited = 0;
  for (const auto& segment : plan.choice.index->segments) {
    partitions += static_cast<double>(segment->num_partitions());
    visited += static_cast<double>(std::min(segment->num_partitions(), round));
  }
  return static_cast<double>(passing) * visited < static_cast<double>(plan.options.k) * partitions;
}

arrow::Result<std::shared_ptr<const RightFilter>> MakeRightFilter(RightSide* right,
                                                                  const JoinOptions& options,
                                                                  int threads) {
  if (options.where.empty()) return nullptr;
  auto filter = std::make_shared<RightFilter>();
  auto parsed = predicate::Predicate::Parse(options.where, right->schema());
  if (!parsed.ok()) return OfWhere(parsed.status());
  filter->predicate = std::move(parsed).ValueUnsafe();
  const auto dataset = right->dataset();
  if (dataset != nullptr) {
    filter->indexes = dataset::IndexesFor(dataset.get(), *filter->predicate);
  }
  filter->mask_bytes = MaskBytes(*right);
  const int64_t masks =
      kMasksAtATime + kMasksOfAnIndex * static_cast<int64_t>(filter->indexes.size());
  filter->work_bytes = masks * filter->mask_bytes +
                       threads * BatchBytes(*right->schema(), filter->predicate->columns());
  return filter;
}

arrow::Status ApplyRightFilter(base::ThreadPool* pool, const base::CancelToken& cancel,
                               base::MemoryBudget* budget, RunCounters* counters, JoinPlan* plan) {
  if (plan->filter == nullptr || plan->ways.filter == FilterWay::kBeside) {
    return arrow::Status::OK();
  }
  const PhaseTimer timer(&counters->filter_ns);
  ARROW_ASSIGN_OR_RAISE(const auto reserved,
                        budget->Reserve(plan->filter->work_bytes, "evaluating the filter"));
  auto evaluated = plan->right->EvaluateFilter(*plan->filter->predicate, pool, cancel);
  // The predicate fails on a row with `invalid`; what can't be read isn't its fault.
  if (!evaluated.ok() && base::CodeOf(evaluated.status()) == base::ErrorCode::kInvalid) {
    return OfWhere(evaluated.status());
  }
  ARROW_ASSIGN_OR_RAISE(dataset::FilterAnswer answer, std::move(evaluated));
  counters->SetFilterAnswer(static_cast<int64_t>(answer.rows->count()), answer.rows_evaluated,
                            std::move(answer.indexes));
  plan->rows = std::move(answer.rows);
  if (!plan->uses_index()) return ChooseWays(plan);
  if (plan->options.fast_search) {
    plan->rows = CoveredRows(*plan, plan->rows.get());
  }
  if (!NeedsNoSearch(*plan, static_cast<int64_t>(plan->rows->count()))) return arrow::Status::OK();
  plan->LeaveIndex();
  counters->scored_all_passing.store(true);
  return ChooseWays(plan);
}

}  // namespace kinjo::join
