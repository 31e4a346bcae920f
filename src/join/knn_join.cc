#include "join/knn_join.h"

#include <mutex>

#include "join/executor.h"
#include "join/explain.h"
#include "join/nearest_partitions.h"
#include "join/plan.h"
#include "join/right_side.h"
#include "join/run_identity.h"
#include "join/validate.h"

namespace kinjo::join {

namespace {

class PlannedJoin final : public KnnJoin {
 public:
  explicit PlannedJoin(std::shared_ptr<const JoinPlan> plan) : plan_(std::move(plan)) {}

  std::shared_ptr<arrow::Schema> output_schema() const override { return plan_->layout.schema; }

  int64_t output_bytes() const override { return plan_->memory.output_bytes; }

  std::string Explain(bool verbose) const override {
    return exec::RenderPlan(DescribePlan(*plan_, verbose, nullptr), {.details = true});
  }

  arrow::Result<std::unique_ptr<stream::ResultStream>> Run(
      base::CancelToken cancel, base::ProgressCallback progress,
      stream::ResultStream::Kind kind) override {
    return Start({}, std::move(cancel), std::move(progress), kind);
  }

  arrow::Result<std::vector<tabular::Trait>> Identity() const override {
    return IdentifyRun(*plan_);
  }

  arrow::Result<std::unique_ptr<stream::ResultStream>> RunParts(
      PartCut cut, base::CancelToken cancel, base::ProgressCallback progress) override {
    return Start(cut, std::move(cancel), std::move(progress), stream::ResultStream::Kind::kPending);
  }

  arrow::Result<RecallCurve> Tune(const base::CancelToken& cancel) override {
    if (!plan_->options.recall.has_value()) {
      return base::Invalid("recall is needed: the target that a setting is picked for");
    }
    std::lock_guard<std::mutex> lock(mutex_);
    ARROW_RETURN_NOT_OK(CheckNotRun());
    return MeasureCurve(*plan_, cancel);
  }

  arrow::Result<std::vector<int32_t>> NearestPartitions(const base::CancelToken& cancel) override {
    std::lock_guard<std::mutex> lock(mutex_);
    ARROW_RETURN_NOT_OK(CheckNotRun());
    return join::NearestPartitions(*plan_, cancel);
  }

  JoinReport report() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return executor_ == nullptr ? Executor(plan_, {}).report() : executor_->report();
  }

  std::string Analyze() const override {
    const JoinReport measured = report();
    return exec::RenderPlan(DescribePlan(*plan_, true, &measured),
                            {.details = true, .metrics = true});
  }

 private:
  arrow::Status CheckNotRun() const {
    if (executor_ == nullptr) return arrow::Status::OK();
    return base::MakeError(base::ErrorCode::kState, "this join has run already; make it again");
  }

  arrow::Result<std::unique_ptr<stream::ResultStream>> Start(PartCut cut, base::CancelToken cancel,
                                                             base::ProgressCallback progress,
                                                             stream::ResultStream::Kind kind) {
    std::lock_guard<std::mutex> lock(mutex_);
    ARROW_RETURN_NOT_OK(CheckNotRun());
    executor_ = std::make_shared<Executor>(plan_, std::move(progress), cut);
    // The producer keeps the executor, and with it the plan, alive beyond this object.
    return stream::ResultStream::Start(
        plan_->layout.schema,
        [executor = executor_](const base::CancelToken& token,
                               const stream::ResultStream::Emit& emit) {
          return executor->Run(token, emit);
        },
        std::move(cancel), kind);
  }

  std::shared_ptr<const JoinPlan> plan_;
  mutable std::mutex mutex_;  // guards executor_
  std::shared_ptr<Executor> executor_;
};

}  // namespace

arrow::Result<std::unique_ptr<KnnJoin>> KnnJoin::Make(std::shared_ptr<tabular::TableSource> left,
                                                      const std::string& right_uri,
                                                      const JoinOptions& options) {
  ARROW_RETURN_NOT_OK(ValidateOptions(options));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<RightSide> right, OpenRightSide(right_uri, options));
  ARROW_ASSIGN_OR_RAISE(auto plan, MakePlan(std::move(left), std::move(right), options));
  return std::make_unique<PlannedJoin>(std::move(plan));
}

arrow::Result<std::unique_ptr<KnnJoin>> KnnJoin::Make(std::shared_ptr<tabular::TableSource> left,
                                                      std::shared_ptr<dataset::Dataset> right,
                                                      const JoinOptions& options) {
  if (options.right_version.value_or(right->version()) != right->version()) {
    return base::Invalid("right_version = ", *options.right_version, ", but ", right->uri(),
                         " is open at version ", right->version());
  }
  if (!options.right_tag.empty()) {
    return base::Invalid("right_tag = ", options.right_tag, ", but ", right->uri(),
                         " is open at version ", right->version(), "; open it by the tag");
  }
  ARROW_ASSIGN_OR_RAISE(auto plan,
                        MakePlan(std::move(left), MakeDatasetSide(std::move(right)), options));
  return std::make_unique<PlannedJoin>(std::move(plan));
}

arrow::Result<std::unique_ptr<KnnJoin>> KnnJoin::Make(std::shared_ptr<tabular::TableSource> left,
                                                      std::shared_ptr<tabular::TableSource> right,
                                                      const JoinOptions& options) {
  if (auto dataset = right->dataset(); dataset != nullptr) {
    return Make(std::move(left), std::move(dataset), options);
  }
  ARROW_RETURN_NOT_OK(ValidateOptions(options));
  ARROW_RETURN_NOT_OK(RequireNoVersion(options, right->uri()));
  if (right->format() == "stream") {
    return base::Invalid("the right side (", right->uri(),
                         ") is a stream, which is read once; a join reads its right side again and "
                         "again: keep its rows in memory or in a file");
  }
  ARROW_ASSIGN_OR_RAISE(auto plan,
                        MakePlan(std::move(left), MakeTableSide(std::move(right)), options));
  return std::make_unique<PlannedJoin>(std::move(plan));
}

}  // namespace kinjo::join
