#include "join/memory_needs.h"

#include <algorithm>

#include "base/memory_budget.h"
#include "exec/ann_ivf_batch.h"
#include "index/ivf_segment.h"
#include "join/arrange_queries.h"
#include "join/left_sample.h"
#include "join/pairing.h"
#include "join/partition_filter.h"
#include "join/row_bytes.h"
#include "join/validate.h"

namespace kinjo::join {

namespace {

// Rows of a right side that doesn't tell.
constexpr int64_t kRowsUnlessKnown = 1'000'000;

// What a kept partition takes besides its rows.
constexpr int64_t kPartitionOverheadBytes = 512;

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

}  // namespace

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

int64_t RowsScanned(const JoinPlan& plan) {
  if (plan.uses_index()) return plan.scans_unindexed() ? plan.choice.index->unindexed_rows : 0;
  if (plan.rows != nullptr) return static_cast<int64_t>(plan.rows->count());
  return plan.right->num_rows().value_or(kRowsUnlessKnown);
}

int64_t RankedAtMost(const exec::ProbeLimits& probes, kernels::Metric metric, int64_t k,
                     int64_t partitions) {
  if (probes.nprobes.has_value()) return std::min(partitions, *probes.nprobes);
  const int64_t cap = index::AdaptiveProbeCap(metric, k);
  const int64_t maximum = std::min(partitions, probes.maximum.value_or(partitions));
  const int64_t first_round =
      index::EffortProbeCount(probes.effort.value_or(0.5), cap, probes.minimum, maximum);
  return std::min(maximum, std::max(cap, first_round));
}

namespace {

void AddIndexNeeds(const JoinPlan& plan, MemoryNeeds* needs) {
  needs->streams_index = plan.ways.index == IndexWay::kStreamed;
  if (plan.ways.index == IndexWay::kOneByOne) needs->block_rows_asked = 1;
  for (const auto& segment : plan.choice.index->segments) {
    ++needs->segments;
    const auto kind = format::ParseIndexKind(segment->index_type());
    needs->coded =
        needs->coded || (kind.has_value() && (kind->quantizer == format::QuantizerKind::kSq ||
                                              kind->quantizer == format::QuantizerKind::kRq));
    const int64_t partitions = segment->num_partitions();
    needs->ranked_partitions =
        std::max(needs->ranked_partitions,
                 RankedAtMost(plan.probes, plan.metric(), plan.wanted, partitions));
    for (int64_t p = 0; p < partitions; ++p) {
      const auto rows = static_cast<int64_t>(segment->partition_rows(p));
      needs->partition_rows_max = std::max(needs->partition_rows_max, rows);
      const auto stored = static_cast<int64_t>(segment->partition_bytes(p));
      needs->partition_bytes_max = std::max(needs->partition_bytes_max, stored);
      const auto graph = static_cast<int64_t>(segment->graph_bytes(p));
      needs->graph_bytes_max = std::max(needs->graph_bytes_max, graph);
      needs->index_bytes += stored + graph + rows * 8 + kPartitionOverheadBytes;
      needs->index_rows += rows;
    }
    needs->partitions_at_once = std::max(
        needs->partitions_at_once, exec::AnnIvfBatch::PartitionsAtOnce(partitions, plan.threads));
    // Of a group each thread decodes the rows that it scans.
    if (needs->by_group) needs->partitions_at_once = plan.threads;
  }
  if (plan.filter != nullptr && plan.ways.filter == FilterWay::kBeside) {
    needs->beside_bytes = PartitionFilterBytes(plan, needs->partition_rows_max);
  }
}

}  // namespace

MemoryNeeds NeedsOf(const JoinPlan& plan) {
  const int64_t dim = plan.dim;
  MemoryNeeds needs;
  needs.limit_bytes = plan.options.memory_limit_bytes.has_value() ? *plan.options.memory_limit_bytes
                                                                  : base::DefaultMemoryLimitBytes();
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
  // The right rows that matched may be more, where those are searched too.
  if (!plan.searches_reverse()) needs.left_rows = plan.left->num_rows().value_or(0);
  const bool beside = plan.uses_index() && plan.ways.filter == FilterWay::kBeside;
  if (plan.filter != nullptr && !beside) {
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
  const bool own_blocks = plan.ways.exact != ExactWay::kSharedBlocks;
  needs.scan_blocks = own_blocks ? std::max<int64_t>(plan.threads, 2) : 2;
  if (plan.ways.exact == ExactWay::kKeptBlocks) {
    needs.kept_vectors = RowsScanned(plan);
    needs.scan_blocks += 1;  // those that are kept are filled beside the others
  }
  if (plan.multivector() && plan.uses_index()) {
    needs.candidates += std::min(plan.wanted, right_rows * plan.row_vectors);
  }
  if (plan.uses_index()) AddIndexNeeds(plan, &needs);
  return needs;
}

}  // namespace kinjo::join
