#include "join/recall_curve.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <tuple>
#include <utility>

#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "dataset/kept_partitions.h"
#include "join/block_search.h"
#include "join/left_sample.h"
#include "join/plan.h"
#include "join/recall_choice.h"
#include "join/right_filter.h"
#include "join/temporary_index.h"

namespace kinjo::join {

namespace {

std::tuple<int64_t, int64_t, int64_t> Place(const ProbeSettings& settings) {
  return {settings.nprobes, settings.refine_factor, settings.ef};
}

// One run of the curve, with its threads.
class CurveRun {
 public:
  CurveRun(JoinPlan plan, base::CancelToken cancel)
      : plan_(std::move(plan)),
        cancel_(std::move(cancel)),
        pool_(plan_.threads),
        budget_(plan_.memory.limit_bytes) {}

  arrow::Result<RecallCurve> Measure();

 private:
  void Describe();
  arrow::Status MeasureSettings(const AnsweredSample& sample);
  arrow::Result<CurvePoint> MeasurePoint(const AnsweredSample& sample, const JoinPlan& plan);

  JoinPlan plan_;
  base::CancelToken cancel_;
  base::ThreadPool pool_;
  base::MemoryBudget budget_;
  RunCounters counters_;
  std::unique_ptr<EligibleRows> eligible_;
  RecallCurve curve_;
};

void CurveRun::Describe() {
  curve_.path = plan_.uses_index() ? "index" : "exact";
  if (plan_.uses_index()) {
    curve_.index_name = plan_.choice.index->info.name;
    curve_.index_type = plan_.choice.index->info.type;
  }
  curve_.metric = kernels::MetricName(plan_.metric());
  curve_.k = plan_.options.k;
  curve_.target = *plan_.options.recall;
}

arrow::Result<CurvePoint> CurveRun::MeasurePoint(const AnsweredSample& sample,
                                                 const JoinPlan& plan) {
  // A join with these settings begins with a dataset that holds nothing yet.
  auto* kept = dataset::KeptPartitions::Of(plan.right->dataset().get());
  if (kept != nullptr) kept->Clear();
  RunCounters counters;
  const int64_t bytes_before = plan.right->bytes_read();
  const auto begin = std::chrono::steady_clock::now();
  BlockSearch search(plan, eligible_.get(), &pool_, cancel_, &counters);
  ARROW_ASSIGN_OR_RAISE(const Matches found, search.Search(sample.rows.all, {}));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  CurvePoint point;
  std::vector<double> recalls;
  for (size_t i = 0; i < sample.rows.measuring.size(); ++i) {
    const int32_t query = sample.rows.measuring_query(i);
    if (query >= 0) AppendRecall(sample.exact[query], found[query], &recalls);
  }
  const int64_t population = sample.rows.is_census() ? static_cast<int64_t>(recalls.size())
                                                     : sample.rows.measured_population();
  point.recall = EstimateRecall(recalls, population);
  point.queries_per_s = static_cast<double>(sample.rows.all.num_rows) / spent.count();
  point.bytes_read = plan.right->bytes_read() - bytes_before;
  point.partitions_probed = counters.batch.partitions_probed.load();
  point.partitions_read = counters.batch.partitions_read.load();
  return point;
}

arrow::Status CurveRun::MeasureSettings(const AnsweredSample& sample) {
  if (!plan_.uses_index()) {
    ARROW_ASSIGN_OR_RAISE(CurvePoint point, MeasurePoint(sample, plan_));
    point.settings.nprobes = 0;
    point.recall = {.rows = point.recall.rows};
    point.pick = true;
    curve_.points.push_back(point);
    return arrow::Status::OK();
  }
  SettingsSearch search(sample, plan_, eligible_.get(), &pool_, cancel_);
  ARROW_RETURN_NOT_OK(search.Start());
  ARROW_ASSIGN_OR_RAISE(const ProbeSettings pick, search.Choose(curve_.target));
  ARROW_ASSIGN_OR_RAISE(std::vector<ProbeSettings> settings, search.Ladder(pick.ef));
  settings.push_back(pick);
  for (const int64_t ef : {pick.ef / 2, pick.ef * 2}) {
    if (ef < plan_.options.k * std::max<int64_t>(pick.refine_factor, 1)) continue;
    settings.push_back({pick.nprobes, pick.refine_factor, ef});
  }
  std::sort(settings.begin(), settings.end(),
            [](const auto& a, const auto& b) { return Place(a) < Place(b); });
  settings.erase(std::unique(settings.begin(), settings.end()), settings.end());
  for (const ProbeSettings& some : settings) {
    JoinPlan plan = plan_;
    ARROW_RETURN_NOT_OK(ApplySettings(some, &plan));
    ARROW_ASSIGN_OR_RAISE(CurvePoint point, MeasurePoint(sample, plan));
    point.settings = some;
    point.pick = some == pick;
    curve_.points.push_back(point);
  }
  return arrow::Status::OK();
}

arrow::Result<RecallCurve> CurveRun::Measure() {
  ARROW_RETURN_NOT_OK(ApplyRightFilter(&pool_, cancel_, &budget_, &counters_, &plan_));
  if (!plan_.eligibility.everything()) {
    ARROW_ASSIGN_OR_RAISE(eligible_, EligibleRows::Make(plan_, cancel_, &budget_, &counters_));
  }
  ARROW_RETURN_NOT_OK(BuildTemporaryIndex(&pool_, cancel_, &budget_, &counters_, &plan_));
  Describe();
  const SampleSizes sizes = SampleSizes::ForCurve(plan_.multivector());
  ARROW_ASSIGN_OR_RAISE(auto rows, DrawLeftSample(sizes, eligible_.get(), &plan_));
  if (!rows.has_value()) {
    return base::Invalid(plan_.left->uri(),
                         ": the left side has no rows to sample, or one of them can't be used");
  }
  curve_.left_rows = rows->left_rows.value_or(-1);
  curve_.choosing_rows = static_cast<int64_t>(rows->choosing.size());
  ARROW_ASSIGN_OR_RAISE(const AnsweredSample sample,
                        AnswerSample(*std::move(rows), plan_, eligible_.get(), &pool_, cancel_));
  ARROW_RETURN_NOT_OK(MeasureSettings(sample));
  return std::move(curve_);
}

}  // namespace

arrow::Result<RecallCurve> MeasureCurve(const JoinPlan& plan, const base::CancelToken& cancel) {
  return CurveRun(plan, cancel).Measure();
}

}  // namespace kinjo::join
