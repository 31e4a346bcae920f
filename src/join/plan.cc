#include "join/plan.h"

#include <algorithm>

#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "dataset/column_path.h"
#include "exec/multivector_array.h"
#include "join/left_identity.h"
#include "join/pairing.h"
#include "join/recall_choice.h"
#include "join/temporary_index.h"
#include "join/validate.h"
#include "join/way_choice.h"

namespace kinjo::join {

namespace {

// Rows that a search in a graph holds at least, unless the user says otherwise. With fewer, small k
// loses too many neighbours.
constexpr int64_t kDefaultEf = 256;

// A vector of a left list looks for so many right vectors for each row that is asked for, as in
// Lance.
constexpr int64_t kVectorsPerNeighbor = 10;

// Right rows that are looked at where no index tells how many vectors a row has.
constexpr int64_t kRowsLookedAt = 64;

/// Vectors of a right row, on average, rounded up: of the indexed rows, else of the first.
arrow::Result<int64_t> RowVectors(const JoinPlan& plan) {
  if (!plan.multivector()) return 1;
  if (!plan.uses_index()) {
    ARROW_ASSIGN_OR_RAISE(
        const auto scan,
        plan.right->ScanColumn(plan.right_vector.root, std::nullopt, kRowsLookedAt, nullptr));
    ARROW_ASSIGN_OR_RAISE(const dataset::ScanBatch first, scan->Next());
    if (first.batch == nullptr) return 1;
    ARROW_ASSIGN_OR_RAISE(const auto lists,
                          dataset::ColumnAt(*first.batch, plan.right_vector.name));
    if (lists->length() == 0) return 1;
    ARROW_ASSIGN_OR_RAISE(const exec::FlatLists flat,
                          exec::FlattenLists(lists, {.what = plan.right_vector.what}));
    return std::max<int64_t>((flat.begins.back() + flat.num_rows() - 1) / flat.num_rows(), 1);
  }
  int64_t vectors = 0;
  for (const auto& segment : plan.choice.index->segments) {
    for (int64_t p = 0; p < segment->num_partitions(); ++p) {
      vectors += static_cast<int64_t>(segment->partition_rows(p));
    }
  }
  const auto live = static_cast<int64_t>(plan.right->dataset()->num_rows());
  const int64_t rows = std::max<int64_t>(live - plan.choice.index->unindexed_rows, 1);
  return std::max<int64_t>((vectors + rows - 1) / rows, 1);
}

// Elements of a vector where neither schema nor index tells them and the right side's first rows
// hold no vector: more than most have, so that the plan errs on the side of the limit.
constexpr int64_t kUnknownWidth = 4096;

// Elements of a vector. Of lists on both sides the right side's first rows tell; the left isn't
// read.
arrow::Result<int64_t> FindWidth(const JoinPlan& plan) {
  for (const auto& width : {plan.right_vector.type.width, plan.left_vector.type.width}) {
    if (width.has_value()) return *width;
  }
  if (plan.uses_index() && !plan.choice.index->segments.empty()) {
    return plan.choice.index->segments[0]->dim();
  }
  ARROW_ASSIGN_OR_RAISE(const auto scan,
                        plan.right->ScanColumn(plan.right_vector.root, std::nullopt,
                                               plan.scan_batch_rows(), nullptr));
  ARROW_ASSIGN_OR_RAISE(const dataset::ScanBatch first, scan->Next());
  if (first.batch == nullptr) return 0;
  ARROW_ASSIGN_OR_RAISE(auto lists, dataset::ColumnAt(*first.batch, plan.right_vector.name));
  if (plan.multivector()) {
    ARROW_ASSIGN_OR_RAISE(const exec::FlatLists flat,
                          exec::FlattenLists(lists, {.what = plan.right_vector.what}));
    lists = flat.vectors;
  }
  for (int64_t row = 0; row < lists->length(); ++row) {
    const int64_t width = exec::ListLength(*lists, row);
    if (width > 0) return width;
  }
  return kUnknownWidth;
}

// Whether a join that gives pairs is a self-join, and what the pairs asked for need of the sides.
arrow::Status ResolvePairs(JoinPlan* plan) {
  if (!plan->gives_pairs()) return arrow::Status::OK();
  std::string why = LeftIdentity::WhyNotSame(*plan->left, *plan->right);
  if (why.empty() && plan->left_vector.name != plan->right_vector.name) {
    why = base::Concat("left column \"", plan->left_vector.name,
                       "\" is compared with right column \"", plan->right_vector.name, "\"");
  }
  plan->self_join = why.empty();
  ARROW_RETURN_NOT_OK(ValidatePairs(plan->options, why));
  if (plan->options.unordered_pairs || plan->options.clusters) {
    plan->options.exclude_self = "";  // no row is paired with itself
  }
  if (plan->searches_reverse()) {
    if (plan->left->format() == "stream") {
      return base::NotSupported("mutual = true reads the left side again, but ", plan->left->uri(),
                                " is a stream; write it to a file first");
    }
    if (!plan->options.by.empty() || plan->options.exclude_self.has_value()) {
      return base::NotSupported("mutual = true of two tables can't be used with ",
                                plan->options.by.empty() ? "exclude_self" : "by",
                                "; only a self-join can");
    }
    if (plan->multivector()) {
      return base::NotSupported("mutual = true searches the left side for the right rows, but ",
                                plan->right_vector.what,
                                " holds lists of vectors, whose distance has a direction; only a "
                                "self-join of those can be mutual");
    }
  }
  const int64_t rows = KnownLeftRows(*plan).value_or(0);
  if (rows <= kPairedRowsMax) return arrow::Status::OK();
  return base::NotSupported("pairs are told of ", kPairedRowsMax, " left rows at most, but ",
                            plan->left->uri(), " has ", rows);
}

arrow::Status ResolveColumns(JoinPlan* plan) {
  const JoinOptions& options = plan->options;
  const Side left{.name = "left",
                  .option = options.left_on.empty() && !options.on.empty() ? "on" : "left_on",
                  .uri = plan->left->uri(),
                  .schema = plan->left->schema()};
  const Side right{.name = "right",
                   .option = options.right_on.empty() && !options.on.empty() ? "on" : "right_on",
                   .uri = plan->right->uri(),
                   .schema = plan->right->schema()};
  ARROW_ASSIGN_OR_RAISE(
      plan->left_vector,
      ResolveVectorColumn(left, options.left_on.empty() ? options.on : options.left_on));
  ARROW_ASSIGN_OR_RAISE(
      plan->right_vector,
      ResolveVectorColumn(right, options.right_on.empty() ? options.on : options.right_on));
  ARROW_ASSIGN_OR_RAISE(plan->layout, MakeOutputLayout(left, right, plan->right_vector, options));
  ARROW_RETURN_NOT_OK(ResolvePairs(plan));
  ARROW_ASSIGN_OR_RAISE(plan->eligibility,
                        PlanEligibility(options, *plan->left, *plan->right, left, right));
  if (plan->eligibility.groups_rows() && plan->right_vector.multivector) {
    return base::NotSupported(
        "by can't be used with ", plan->right_vector.what,
        ", which holds lists of vectors; join the rows of each key with where");
  }
  return arrow::Status::OK();
}

// Each thread has buffers of its own: a limit that is too small for all of them may do for fewer.
arrow::Status ChooseFittingWays(JoinPlan* plan) {
  const bool chooses_settings = plan->options.recall.has_value() && plan->uses_index();
  const auto choose = chooses_settings ? ChooseWidestWays : ChooseWays;
  arrow::Status chosen = choose(plan);
  while (base::CodeOf(chosen) == base::ErrorCode::kCapacity && plan->threads > 1) {
    --plan->threads;
    chosen = choose(plan);
  }
  return chosen;
}

}  // namespace

bool JoinPlan::scans_unindexed() const {
  return uses_index() && !options.fast_search && !choice.index->unindexed_fragments.empty();
}

bool JoinPlan::exact_distances() const {
  if (!uses_index() || refines) return true;
  if (multivector()) return false;  // vectors that didn't meet a row count with an estimate
  return std::all_of(choice.index->segments.begin(), choice.index->segments.end(),
                     [](const auto& segment) { return segment->is_exact(); });
}

arrow::Result<std::shared_ptr<const JoinPlan>> MakePlan(std::shared_ptr<tabular::TableSource> left,
                                                        std::shared_ptr<RightSide> right,
                                                        const JoinOptions& options) {
  ARROW_RETURN_NOT_OK(ValidateOptions(options));
  auto plan = std::make_shared<JoinPlan>();
  plan->options = options;
  plan->left = std::move(left);
  plan->right = std::move(right);
  // The system is asked once: each question opens a handful of files, for every query of a service.
  plan->threads_asked =
      options.threads.has_value() ? static_cast<int>(*options.threads) : base::DefaultThreadCount();
  plan->threads = plan->threads_asked;
  if (!options.memory_limit_bytes.has_value()) {
    plan->options.memory_limit_bytes = base::DefaultMemoryLimitBytes();
  }
  ARROW_RETURN_NOT_OK(ResolveColumns(plan.get()));
  ARROW_RETURN_NOT_OK(CheckKinds(plan->left_vector, plan->right_vector, options.metric));
  ARROW_ASSIGN_OR_RAISE(plan->choice,
                        ChooseIndex(plan->right->dataset().get(), plan->right_vector, options));
  ARROW_RETURN_NOT_OK(CheckComparable(plan->left_vector, plan->right_vector, plan->metric()));
  plan->probes = {.nprobes = options.nprobes,
                  .minimum = options.minimum_nprobes.value_or(1),
                  .maximum = options.maximum_nprobes,
                  .effort = options.search_effort};
  if (options.distance_range.has_value()) {
    plan->range = exec::DistanceRange::HalfOpen(options.distance_range->first,
                                                options.distance_range->second);
  }
  plan->candidates = options.k;
  plan->wanted = plan->multivector() ? options.k * kVectorsPerNeighbor : options.k;
  ARROW_ASSIGN_OR_RAISE(plan->row_vectors, RowVectors(*plan));
  if (plan->uses_index()) {
    plan->candidates *= options.refine_factor.value_or(1);
    plan->refines = options.refine_factor.has_value() || plan->scans_unindexed();
  }
  const int64_t beam = std::max(plan->candidates, plan->wanted);
  plan->ef = options.ef.value_or(std::max(kDefaultEf, beam + beam / 2));
  ARROW_ASSIGN_OR_RAISE(plan->filter, MakeRightFilter(plan->right.get(), options, plan->threads));
  ARROW_ASSIGN_OR_RAISE(plan->dim, FindWidth(*plan));
  ARROW_RETURN_NOT_OK(PlanTemporaryIndex(plan.get()));
  ARROW_RETURN_NOT_OK(ChooseFittingWays(plan.get()));
  return plan;
}

}  // namespace kinjo::join
