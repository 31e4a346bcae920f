#include "join/temporary_index.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "dataset/column_path.h"
#include "exec/vector_array.h"
#include "index/built_files.h"
#include "join/left_sample.h"
#include "join/memory_needs.h"
#include "join/recall_choice.h"
#include "join/way_choice.h"

namespace kinjo::join {

namespace {

constexpr const char* kName = "temporary";
constexpr const char* kUuid = "temporary";  // no index in a dataset has such a one

constexpr int64_t kPartitionsMax = 2048;
// Rows that a partition is trained on, and passes over them. Better centroids would save fewer
// probes than they cost.
constexpr int64_t kSampleRate = 64;
constexpr int kPasses = 8;

// A multiplication of floats costs as much as so many of bytes, which is how rows are scanned.
constexpr double kFloatWeight = 4;
// The share of its rows that an index scores for a recall of 0.95.
constexpr double kScoredShare = 1.0 / 16;
// The index must cost so many times less than the scan: it is only as good as these guesses.
constexpr double kMargin = 2;

// The largest partition has so many times the rows of an average one, as far as is planned.
constexpr int64_t kImbalance = 8;

// Building may take this part of the memory limit.
constexpr double kBuildShare = 0.5;

// What a row takes in a shuffle beside its code: its id and partition.
constexpr int64_t kRecordBytes = 16;

double ScoredShare(double recall) {
  if (recall >= 1) return 1;
  return std::min(1.0, kScoredShare * std::sqrt(0.05 / (1 - recall)));
}

bool IsDouble(const JoinPlan& plan) { return !plan.right_vector.type.widens_to_float(); }

// Whether an index of this build could stand for the scan at all, whatever it costs.
bool MayBuild(const JoinPlan& plan) {
  if (!plan.options.recall.has_value() || plan.uses_index()) return false;
  if (plan.options.index != IndexUse::kAuto || plan.multivector()) return false;
  if (plan.metric() == kernels::Metric::kHamming || plan.filter != nullptr) return false;
  if (plan.eligibility.groups_rows() || plan.searches_reverse()) return false;
  return plan.right_vector.type.width.has_value() && plan.dim > 0 &&
         plan.left->num_rows().has_value() && plan.right->num_rows().value_or(0) > 0;
}

TemporaryIndex TemporaryIndexFor(const JoinPlan& plan, int64_t left_rows, int64_t right_rows) {
  TemporaryIndex temporary;
  const int64_t dim = plan.dim;
  const int64_t partitions = std::clamp<int64_t>(
      static_cast<int64_t>(std::sqrt(static_cast<double>(right_rows))), 1, kPartitionsMax);
  temporary.training = {.index_type = "IVF_FLAT",
                        .metric = plan.metric(),
                        .num_partitions = partitions,
                        .sample_rate = kSampleRate,
                        .max_iterations = kPasses};
  const int64_t sample = index::TrainingRows(temporary.training, right_rows);
  const SampleSizes sizes = SampleSizes::For(left_rows, plan.options.k, false);
  const auto left = static_cast<double>(left_rows);
  const auto right = static_cast<double>(right_rows);
  const double ranking = kFloatWeight * static_cast<double>(partitions);
  const double rows_placed = right + static_cast<double>(kPasses * sample);
  const double scored = ScoredShare(*plan.options.recall) * right;
  const double chosen_by = static_cast<double>(sizes.choosing + sizes.measuring) * right;
  temporary.scan_work = left * right * static_cast<double>(dim);
  temporary.index_work =
      (ranking * rows_placed + left * (ranking + scored) + chosen_by) * static_cast<double>(dim);
  const int64_t vector_bytes = dim * (IsDouble(plan) ? 8 : 4);
  temporary.build_bytes = right_rows * (vector_bytes + 8) + 2 * sample * vector_bytes +
                          2 * right_rows * (vector_bytes + kRecordBytes);
  return temporary;
}

// A segment of zeros that says of itself what the built one will, about.
arrow::Result<std::shared_ptr<index::IvfSegment>> MakeStandIn(const TemporaryIndex& temporary,
                                                              const JoinPlan& plan,
                                                              int64_t right_rows) {
  const int64_t partitions = temporary.training.num_partitions;
  format::IvfModel ivf;
  ivf.index_type = temporary.training.index_type;
  ivf.kind = *format::ParseIndexKind(ivf.index_type);
  ivf.distance_type = kernels::MetricName(plan.metric());
  const auto elements = static_cast<size_t>(partitions * plan.dim);
  ivf.centroids = IsDouble(plan)
                      ? index::MakeTensor<double>(format::ElementType::kFloat64,
                                                  std::vector<double>(elements, 0.0), plan.dim)
                      : index::MakeTensor<float>(format::ElementType::kFloat32,
                                                 std::vector<float>(elements, 0.0f), plan.dim);
  std::vector<format::PartitionRows> rows(static_cast<size_t>(partitions));
  int64_t left = right_rows;
  for (int64_t p = 0; p < partitions; ++p) {
    const int64_t average = left / (partitions - p);
    const int64_t own = p == 0 ? std::min(left, kImbalance * average) : average;
    rows[p].num_rows = static_cast<uint64_t>(own);
    left -= own;
  }
  return index::MakeSegmentInMemory(std::move(ivf), format::FlatModel{}, std::move(rows));
}

// The right vectors as one piece a batch, with their addresses.
template <typename T>
struct Pieces {
  std::vector<exec::VectorRows<T>> vectors;
  std::vector<std::vector<uint8_t>> validity;
  std::vector<std::vector<uint64_t>> addresses;

  std::vector<index::VectorsWithIds> View() const {
    std::vector<index::VectorsWithIds> pieces;
    for (size_t i = 0; i < vectors.size(); ++i) {
      const index::ColumnVectors column{
          .type = sizeof(T) == 8 ? format::ElementType::kFloat64 : format::ElementType::kFloat32,
          .data = reinterpret_cast<const uint8_t*>(vectors[i].base),
          .num_rows = vectors[i].num_rows,
          .dim = vectors[i].width,
          .validity = validity[i].data()};
      pieces.push_back({.vectors = column, .row_ids = addresses[i]});
    }
    return pieces;
  }
};

std::vector<uint8_t> ValidityOf(const std::vector<exec::VectorState>& states) {
  std::vector<uint8_t> bits(states.size() / 8 + 1, 0);
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i] != exec::VectorState::kValid) continue;
    bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1 << i % 8);
  }
  return bits;
}

template <typename T>
arrow::Result<Pieces<T>> ReadPieces(const JoinPlan& plan, const base::CancelToken& cancel,
                                    RunCounters* counters) {
  Pieces<T> pieces;
  ARROW_ASSIGN_OR_RAISE(const auto scan,
                        plan.right->ScanColumn(plan.right_vector.root, std::nullopt,
                                               plan.scan_batch_rows(), nullptr));
  int64_t first_row = 0;
  while (true) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_ASSIGN_OR_RAISE(dataset::ScanBatch batch, scan->Next());
    if (batch.batch == nullptr) return pieces;
    const int64_t rows = batch.batch->num_rows();
    if (rows == 0) continue;
    ARROW_ASSIGN_OR_RAISE(const auto column,
                          dataset::ColumnAt(*batch.batch, plan.right_vector.name));
    const exec::VectorRead read{.what = plan.right_vector.what,
                                .first_row = first_row,
                                .width = plan.dim,
                                .expected = plan.left_vector.what};
    ARROW_ASSIGN_OR_RAISE(auto vectors, exec::ReadVectors<T>(column, read));
    pieces.validity.push_back(ValidityOf(vectors.states));
    pieces.vectors.push_back(std::move(vectors));
    pieces.addresses.push_back(std::move(batch.addresses));
    first_row += rows;
    counters->rows_scanned.fetch_add(rows, std::memory_order_relaxed);
  }
}

template <typename T>
arrow::Result<std::shared_ptr<index::IvfSegment>> BuildOf(const JoinPlan& plan,
                                                          base::ThreadPool* pool,
                                                          const base::CancelToken& cancel,
                                                          RunCounters* counters) {
  ARROW_ASSIGN_OR_RAISE(const Pieces<T> pieces, ReadPieces<T>(plan, cancel, counters));
  const std::vector<index::VectorsWithIds> view = pieces.View();
  if (view.empty()) {
    return base::MakeError(
        base::ErrorCode::kState,
        base::Concat(plan.right->uri(),
                     " has no rows any more; it changed since the join was made"));
  }
  const index::BuildContext context{.pool = pool, .cancel = cancel, .progress = {}};
  return index::BuildSegment(view, PlannedIndexOf(plan).training, context);
}

}  // namespace

bool IsTemporary(const JoinPlan& plan) {
  return plan.uses_index() && plan.choice.index->info.segments.size() == 1 &&
         plan.choice.index->info.segments.front().uuid == kUuid;
}

TemporaryIndex PlannedIndexOf(const JoinPlan& plan) {
  return TemporaryIndexFor(plan, plan.left->num_rows().value_or(0),
                           plan.right->num_rows().value_or(0));
}

double BuildSeconds(const JoinPlan& plan, double multiply_ns) {
  const index::TrainingOptions training = PlannedIndexOf(plan).training;
  const int64_t right_rows = plan.right->num_rows().value_or(0);
  const int64_t passes = training.max_iterations * index::TrainingRows(training, right_rows);
  return static_cast<double>(right_rows + passes) *
         static_cast<double>(training.num_partitions * plan.dim) * multiply_ns * 1e-9;
}

arrow::Status PlanTemporaryIndex(JoinPlan* plan) {
  const std::string forced = ForcedWaysText();
  const bool builds = forced.find("temporary=build") != std::string::npos;
  const bool scans = forced.find("temporary=scan") != std::string::npos;
  if (!MayBuild(*plan) || scans) return arrow::Status::OK();
  const int64_t right_rows = *plan->right->num_rows();
  const TemporaryIndex temporary = PlannedIndexOf(*plan);
  if (!builds && temporary.scan_work <= kMargin * temporary.index_work) return arrow::Status::OK();
  const int64_t limit = NeedsOf(*plan).limit_bytes;
  if (static_cast<double>(temporary.build_bytes) > kBuildShare * static_cast<double>(limit)) {
    return arrow::Status::OK();
  }
  JoinPlan indexed = *plan;
  indexed.choice.index = ChosenIndex{};
  ChosenIndex& chosen = *indexed.choice.index;
  chosen.info = {.name = kName,
                 .column = plan->right_vector.name,
                 .type = temporary.training.index_type,
                 .metric = std::string(kernels::MetricName(plan->metric())),
                 .segments = {{.uuid = kUuid}}};
  ARROW_ASSIGN_OR_RAISE(auto stand_in, MakeStandIn(temporary, *plan, right_rows));
  chosen.segments = {std::move(stand_in)};
  indexed.choice.reason =
      base::Concat("a temporary one is built for recall = ", *plan->options.recall, ", since ",
                   plan->choice.reason, "; index = never scans all rows");
  // It is in memory, so it must fit there whatever is chosen.
  if (!ChooseWidestWays(&indexed).ok() || !indexed.memory.keeps_index ||
      indexed.memory.sample_bytes + indexed.memory.cache_bytes > limit ||
      indexed.memory.key_bytes + temporary.build_bytes > limit) {
    return arrow::Status::OK();
  }
  *plan = std::move(indexed);
  return arrow::Status::OK();
}

arrow::Status BuildTemporaryIndex(base::ThreadPool* pool, const base::CancelToken& cancel,
                                  base::MemoryBudget* budget, RunCounters* counters,
                                  JoinPlan* plan) {
  if (!IsTemporary(*plan)) return arrow::Status::OK();
  {
    const PhaseTimer timer(&counters->choose_ns);
    ARROW_ASSIGN_OR_RAISE(const auto reserved, budget->Reserve(PlannedIndexOf(*plan).build_bytes,
                                                               "building a temporary index"));
    ARROW_ASSIGN_OR_RAISE(plan->choice.index->segments.front(),
                          IsDouble(*plan) ? BuildOf<double>(*plan, pool, cancel, counters)
                                          : BuildOf<float>(*plan, pool, cancel, counters));
  }
  if (ChooseWidestWays(plan).ok() && plan->memory.keeps_index) return arrow::Status::OK();
  // Its partitions are too unequal for the memory limit: all rows are scored after all.
  plan->LeaveIndex();
  counters->scored_all_passing.store(true);
  return ChooseWays(plan);
}

}  // namespace kinjo::join
