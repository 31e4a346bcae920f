#include "join/plan.h"

#include <algorithm>

#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "exec/ann_ivf_batch.h"
#include "exec/multivector_array.h"
#include "join/arrange_queries.h"
#include "join/column_path.h"
#include "join/left_identity.h"
#include "join/left_sample.h"
#include "join/pairing.h"
#include "join/recall_choice.h"
#include "join/row_bytes.h"
#include "join/validate.h"

namespace kinjo::join {

namespace {

// Rows that a search in a graph holds at least, unless the user says otherwise. With fewer, small k
// loses too many neighbours.
constexpr int64_t kDefaultEf = 256;

// What a kept partition takes besides its rows.
constexpr int64_t kPartitionOverheadBytes = 512;

// A vector of a left list looks for so many right vectors for each row that is asked for, as in
// Lance.
constexpr int64_t kVectorsPerNeighbor = 10;

// Right rows that are looked at where no index tells how many vectors a row has.
constexpr int64_t kRowsLookedAt = 64;

// `dim`: elements of a vector, for the vector column when its type doesn't tell.
int64_t LeftRowBytes(const JoinPlan& plan, int64_t dim) {
  int64_t bytes = 0;
  bytes += static_cast<int64_t>(sizeof(RowIdentity)) + KeySize(plan.eligibility.by.left) +
           KeySize(plan.eligibility.self.left);
  for (const std::string& name : plan.layout.left_columns) {
    const bool list = name == plan.left_vector.name && !plan.left_vector.type.width.has_value();
    bytes += list ? dim * 8 : ValueBytes(*plan.left->schema()->GetFieldByName(name)->type());
  }
  return bytes;
}

int64_t ElementBytes(arrow::Type::type element) {
  switch (element) {
    case arrow::Type::DOUBLE:
    case arrow::Type::INT32:
    case arrow::Type::UINT32:
    case arrow::Type::INT64:
    case arrow::Type::UINT64:
      return 8;
    default:
      return 4;
  }
}

// The ranks that a query keeps of a segment's partitions for its first round.
int64_t RankedAtMost(const exec::ProbeLimits& probes, kernels::Metric metric, int64_t k,
                     int64_t partitions) {
  if (probes.nprobes.has_value()) return std::min(partitions, *probes.nprobes);
  const int64_t cap = index::AdaptiveProbeCap(metric, k);
  const int64_t maximum = std::min(partitions, probes.maximum.value_or(partitions));
  const int64_t first_round =
      index::EffortProbeCount(probes.effort.value_or(0.5), cap, probes.minimum, maximum);
  return std::min(maximum, std::max(cap, first_round));
}

/// Vectors of a right row, on average, rounded up: of the indexed rows, else of the first.
arrow::Result<int64_t> RowVectors(const JoinPlan& plan) {
  if (!plan.multivector()) return 1;
  if (!plan.uses_index()) {
    ARROW_ASSIGN_OR_RAISE(
        const auto scan,
        plan.right->ScanColumn(plan.right_vector.root, std::nullopt, kRowsLookedAt, nullptr));
    ARROW_ASSIGN_OR_RAISE(const dataset::ScanBatch first, scan->Next());
    if (first.batch == nullptr) return 1;
    ARROW_ASSIGN_OR_RAISE(const auto lists, ColumnAt(*first.batch, plan.right_vector.name));
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
  ARROW_ASSIGN_OR_RAISE(auto lists, ColumnAt(*first.batch, plan.right_vector.name));
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

MemoryNeeds NeedsOf(const JoinPlan& plan, int64_t dim) {
  MemoryNeeds needs;
  needs.limit_bytes = plan.options.memory_limit_bytes.value_or(base::DefaultMemoryLimitBytes());
  needs.threads = plan.threads;
  needs.dim = dim;
  needs.element_bytes = ElementBytes(plan.right_vector.type.element);
  const int64_t right_rows = plan.right->num_rows().value_or(kCandidatesMax);
  needs.candidates = std::min(plan.candidates, right_rows);
  needs.k = std::min(plan.options.k, right_rows);
  needs.left_row_bytes = LeftRowBytes(plan, dim);
  needs.uses_index = plan.uses_index();
  needs.scans = !plan.uses_index() || plan.scans_unindexed() || plan.filter != nullptr ||
                plan.eligibility.groups_rows() || plan.options.recall.has_value();
  needs.block_rows_asked = plan.options.block_rows.value_or(0);
  if (plan.filter != nullptr) {
    needs.mask_bytes = plan.filter->mask_bytes;
    needs.filter_bytes = plan.filter->work_bytes;
  }
  needs.by_group = plan.eligibility.groups_rows();
  needs.key_bytes =
      ByBytes(plan.eligibility, *plan.right) + SelfBytes(plan.eligibility, *plan.right);
  if (plan.gives_pairs()) needs.pair_bytes = PairingBytes(plan, KnownLeftRows(plan));
  if (plan.searches_reverse()) {
    needs.scans = true;
    needs.element_bytes =
        std::max(needs.element_bytes, ElementBytes(plan.left_vector.type.element));
  }
  if (plan.options.recall.has_value() && plan.uses_index()) {
    const SampleSizes sizes =
        SampleSizes::For(plan.left->num_rows(), plan.options.k, plan.multivector());
    needs.sample_rows = (sizes.choosing + sizes.measuring / 4) * plan.row_vectors;
  }
  needs.multivector = plan.multivector();
  needs.scan_vectors = plan.scan_batch_rows() * plan.row_vectors;
  if (plan.multivector() && plan.uses_index()) {
    needs.candidates += std::min(plan.wanted, right_rows * plan.row_vectors);
  }
  if (!plan.uses_index()) return needs;
  for (const auto& segment : plan.choice.index->segments) {
    ++needs.segments;
    const auto kind = format::ParseIndexKind(segment->index_type());
    needs.coded =
        needs.coded || (kind.has_value() && (kind->quantizer == format::QuantizerKind::kSq ||
                                             kind->quantizer == format::QuantizerKind::kRq));
    const int64_t partitions = segment->num_partitions();
    needs.ranked_partitions = std::max(
        needs.ranked_partitions, RankedAtMost(plan.probes, plan.metric(), plan.wanted, partitions));
    for (int64_t p = 0; p < partitions; ++p) {
      const auto rows = static_cast<int64_t>(segment->partition_rows(p));
      needs.partition_rows_max = std::max(needs.partition_rows_max, rows);
      const auto stored = static_cast<int64_t>(segment->partition_bytes(p));
      needs.partition_bytes_max = std::max(needs.partition_bytes_max, stored);
      const auto graph = static_cast<int64_t>(segment->graph_bytes(p));
      needs.graph_bytes_max = std::max(needs.graph_bytes_max, graph);
      needs.index_bytes += stored + graph + rows * 8 + kPartitionOverheadBytes;
      needs.index_rows += rows;
    }
    needs.partitions_at_once = std::max(
        needs.partitions_at_once, exec::AnnIvfBatch::PartitionsAtOnce(partitions, plan.threads));
    // Of a group each thread decodes the rows that it scans.
    if (needs.by_group) needs.partitions_at_once = plan.threads;
  }
  return needs;
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
  plan->threads = static_cast<int>(options.threads.value_or(base::DefaultThreadCount()));
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
  if (!options.recall.has_value() || !plan->uses_index()) {
    ARROW_RETURN_NOT_OK(PlanMemoryAgain(plan.get()));
    return plan;
  }
  // Whatever will be chosen has to fit.
  JoinPlan widest = *plan;
  ARROW_RETURN_NOT_OK(ApplySettings(WidestSettings(widest), &widest));
  plan->memory = widest.memory;
  return plan;
}

arrow::Status PlanMemoryAgain(JoinPlan* plan) {
  return PlanMemory(NeedsOf(*plan, plan->dim)).Value(&plan->memory);
}

}  // namespace kinjo::join
