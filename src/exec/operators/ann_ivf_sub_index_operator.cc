#include "exec/operators/ann_ivf_sub_index_operator.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_set>

#include "arrow/array.h"
#include "exec/ann_ivf_batch.h"
#include "exec/neighbor_heaps.h"
#include "exec/operators/neighbor_batch.h"
#include "exec/partition_cache.h"

namespace kinjo::exec {

namespace {

/// Partitions that are searched at once: each has a heap and a copy of the query.
constexpr int64_t kPartitionsAtOnce = 64;

/// One segment, its ranked partitions, and how far the search has come.
struct Delta {
  std::shared_ptr<index::IvfSegment> segment;
  std::unique_ptr<AnnIvfBatch> batch;
  index::QueryBlock queries;  // copies of the query
  std::vector<uint32_t> partitions;
  std::vector<float> distances;
  int64_t first_round = 0;
  int64_t limit = 0;
  int64_t next = 0;
};

/// Lance's default breadth of a graph search.
int64_t Breadth(const VectorQuery& query) {
  const int64_t candidates = std::min(query.candidates(), std::numeric_limits<int64_t>::max() / 2);
  return query.ef.value_or(std::max<int64_t>(256, candidates + candidates / 2));
}

template <typename ArrayType, typename T>
void CopyList(const arrow::Array& lists, int64_t row, std::vector<T>* out) {
  const auto values = static_cast<const arrow::ListArray&>(lists).value_slice(row);
  const auto& typed = static_cast<const ArrayType&>(*values);
  out->assign(typed.raw_values(), typed.raw_values() + typed.length());
}

}  // namespace

class AnnIvfSubIndexOperator::Stream final : public BatchStream {
 public:
  Stream(const AnnIvfSubIndexOperator& op, PlanRun* run, OperatorMetrics* metrics,
         std::unique_ptr<BatchStream> input)
      : op_(op),
        run_(run),
        metrics_(metrics),
        input_(std::move(input)),
        workers_(static_cast<size_t>(run->pool()->size())) {
    for (const std::string_view name :
         {kPartitionsSearched, kIndexComparisons, kIndicesLoaded, kPartsLoaded}) {
      metrics_->Add(name, 0);
    }
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (!started_) ARROW_RETURN_NOT_OK(Start());
    while (ready_.empty() && !done_) {
      ARROW_RETURN_NOT_OK(run_->cancel().Check());
      ARROW_RETURN_NOT_OK(Advance());
    }
    if (ready_.empty()) return nullptr;
    auto batch = std::move(ready_.front());
    ready_.pop_front();
    return batch;
  }

 private:
  arrow::Status Start();
  arrow::Status AddDeltas(const arrow::RecordBatch& batch);
  arrow::Status AddDelta(const std::string& uuid, Delta delta);
  int64_t FirstRound(const Delta& delta) const;

  arrow::Status Advance();
  arrow::Status BeginLateSearch();
  arrow::Status EmitUnreached();
  arrow::Status LateRound();
  arrow::Status Search(Delta* delta, int64_t count);
  arrow::Status Emit(std::span<const kernels::Neighbor> neighbors);

  bool InCoveredFragment(dataset::RowAddress address) const {
    return std::binary_search(covered_.begin(), covered_.end(), address >> 32);
  }

  const AnnIvfSubIndexOperator& op_;
  PlanRun* run_;
  OperatorMetrics* metrics_;
  std::unique_ptr<BatchStream> input_;

  bool started_ = false;
  bool done_ = false;
  bool late_ = false;
  size_t early_delta_ = 0;
  int64_t wanted_ = 0;  // rows at which the late search may stop

  std::shared_ptr<const dataset::RowMask> mask_;
  std::vector<uint64_t> covered_;  // fragments of all segments, rising
  std::deque<Delta> deltas_;
  std::vector<dataset::RowAddress> found_;  // by the early search, at most k
  int64_t num_found_ = 0;
  std::deque<std::shared_ptr<arrow::RecordBatch>> ready_;

  PartitionCache cache_{0};  // a partition is visited once
  BatchCounters counters_;
  std::vector<BatchWorker> workers_;
  NeighborHeaps heaps_;
};

arrow::Status AnnIvfSubIndexOperator::Stream::Start() {
  started_ = true;
  ARROW_ASSIGN_OR_RAISE(mask_, op_.prefilter_.Load(*op_.dataset_, run_));
  if (mask_ != nullptr) metrics_->Add(kPrefilterRowIds, static_cast<int64_t>(mask_->count()));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, input_->Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(AddDeltas(*batch));
  }
  std::sort(covered_.begin(), covered_.end());
  covered_.erase(std::unique(covered_.begin(), covered_.end()), covered_.end());
  return arrow::Status::OK();
}

arrow::Status AnnIvfSubIndexOperator::Stream::AddDeltas(const arrow::RecordBatch& batch) {
  const auto& uuids =
      static_cast<const arrow::StringArray&>(*batch.GetColumnByName(kIndexUuidColumn));
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    Delta delta;
    CopyList<arrow::UInt32Array>(*batch.GetColumnByName(kPartitionIdColumn), row,
                                 &delta.partitions);
    CopyList<arrow::FloatArray>(*batch.GetColumnByName(kCentroidDistanceColumn), row,
                                &delta.distances);
    if (delta.partitions.size() != delta.distances.size()) {
      return base::Invalid("ANNSubIndexExec node: ", delta.partitions.size(), " partitions but ",
                           delta.distances.size(), " distances to their centroids");
    }
    ARROW_RETURN_NOT_OK(AddDelta(uuids.GetString(row), std::move(delta)));
  }
  return arrow::Status::OK();
}

arrow::Status AnnIvfSubIndexOperator::Stream::AddDelta(const std::string& uuid, Delta delta) {
  const dataset::IndexInfo& index = op_.index_;
  const auto found = std::find_if(index.segments.begin(), index.segments.end(),
                                  [&](const auto& segment) { return segment.uuid == uuid; });
  if (found == index.segments.end()) {
    return base::NotFound("ANNSubIndexExec node: index \"", index.name, "\" has no segment ", uuid);
  }
  const auto ordinal = static_cast<size_t>(found - index.segments.begin());
  ARROW_ASSIGN_OR_RAISE(delta.segment, op_.dataset_->OpenSegment(index, ordinal));
  metrics_->Add(kIndicesLoaded, 1);
  for (const uint32_t partition : delta.partitions) {
    if (partition < delta.segment->num_partitions()) continue;
    return base::Invalid("ANNSubIndexExec node: partition ", partition, " of index segment ", uuid,
                         ", which has ", delta.segment->num_partitions());
  }
  if (delta.segment->dim() != static_cast<int64_t>(op_.query_.vector.size())) {
    return base::Invalid("the query for column \"", op_.query_.column, "\" has ",
                         op_.query_.vector.size(), " elements, but index \"", index.name, "\" has ",
                         delta.segment->dim());
  }
  if (!CanMatch(op_.query_)) {
    delta.partitions.clear();
    delta.distances.clear();
  }
  AnnIvfBatch::Source source{.segment = delta.segment,
                             .dataset = op_.dataset_.get(),
                             .info = *found,
                             .ordinal = ordinal,
                             .mask = mask_,
                             .ef = Breadth(op_.query_)};
  delta.batch = std::make_unique<AnnIvfBatch>(std::move(source), &cache_, &counters_, run_->pool(),
                                              run_->cancel(), &workers_);
  const auto ranked = static_cast<int64_t>(delta.partitions.size());
  delta.limit = std::min(ranked, op_.query_.maximum_nprobes.value_or(ranked));
  delta.first_round = FirstRound(delta);
  covered_.insert(covered_.end(), found->fragment_ids.begin(), found->fragment_ids.end());
  deltas_.push_back(std::move(delta));
  return arrow::Status::OK();
}

int64_t AnnIvfSubIndexOperator::Stream::FirstRound(const Delta& delta) const {
  const int64_t minimum = std::min(op_.query_.minimum_nprobes, delta.limit);
  if (!op_.query_.adaptive_nprobes) return minimum;
  const int64_t count =
      index::AdaptiveProbeCount(delta.segment->metric(), op_.query_.k, delta.distances);
  return index::EffortProbeCount(op_.query_.search_effort, count, minimum, delta.limit);
}

arrow::Status AnnIvfSubIndexOperator::Stream::Advance() {
  if (early_delta_ < deltas_.size()) {
    Delta* delta = &deltas_[early_delta_];
    if (delta->next == 0) metrics_->Add(kPartitionsSearched, delta->first_round);
    const int64_t count = std::min(kPartitionsAtOnce, delta->first_round - delta->next);
    if (count == 0) {
      ++early_delta_;
      return arrow::Status::OK();
    }
    return Search(delta, count);
  }
  if (!late_) return BeginLateSearch();
  return LateRound();
}

arrow::Status AnnIvfSubIndexOperator::Stream::BeginLateSearch() {
  late_ = true;
  num_found_ = static_cast<int64_t>(found_.size());
  const bool more = std::any_of(deltas_.begin(), deltas_.end(),
                                [](const Delta& delta) { return delta.next < delta.limit; });
  const int64_t k = op_.query_.k;
  done_ = !more || num_found_ >= k;
  wanted_ = k;
  if (done_ || mask_ == nullptr) return arrow::Status::OK();
  int64_t passing = 0;
  for (const uint64_t fragment : covered_) {
    passing += static_cast<int64_t>(mask_->count_in(fragment));
  }
  wanted_ = std::min(k, passing);
  // With a distance range, rows that were reached are missing too.
  if (num_found_ < passing && passing <= k && !op_.query_.distance_range.has_value()) {
    done_ = true;
    return EmitUnreached();
  }
  return arrow::Status::OK();
}

arrow::Status AnnIvfSubIndexOperator::Stream::EmitUnreached() {
  const std::unordered_set<dataset::RowAddress> found(found_.begin(), found_.end());
  std::vector<kernels::Neighbor> unreached;
  mask_->ForEach([&](dataset::RowAddress address) {
    if (InCoveredFragment(address) && !found.contains(address)) {
      unreached.push_back({std::numeric_limits<float>::infinity(), address});
    }
    return true;
  });
  return Emit(unreached);
}

arrow::Status AnnIvfSubIndexOperator::Stream::LateRound() {
  done_ = num_found_ >= wanted_;
  if (done_) return arrow::Status::OK();
  bool searched = false;
  for (Delta& delta : deltas_) {
    if (delta.next == delta.limit) continue;
    searched = true;
    metrics_->Add(kPartitionsSearched, 1);
    ARROW_RETURN_NOT_OK(Search(&delta, 1));
  }
  done_ = !searched;
  return arrow::Status::OK();
}

arrow::Status AnnIvfSubIndexOperator::Stream::Search(Delta* delta, int64_t count) {
  // A copy of the query for each partition: every partition fills a heap of its own.
  if (delta->queries.num_queries != count) {
    std::vector<double> copies;
    for (int64_t i = 0; i < count; ++i) {
      copies.insert(copies.end(), op_.query_.vector.begin(), op_.query_.vector.end());
    }
    delta->queries = delta->segment->PrepareQueries(copies);
  }
  std::vector<Probe> probes;
  probes.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    probes.push_back({static_cast<uint32_t>(i), delta->partitions[delta->next + i]});
  }
  heaps_.Reset(count, op_.query_.candidates(), op_.query_.range());
  const auto list = ProbeList::Invert(probes, delta->segment->num_partitions());
  arrow::Status status = delta->batch->Scan(delta->queries, list, &heaps_);
  if (!status.ok()) {
    if (base::CodeOf(status) == base::ErrorCode::kCancelled) return status;
    return status.WithMessage("Failed to calculate KNN: ", status.message());
  }
  metrics_->Add(kPartsLoaded, counters_.partitions_read.exchange(0));
  const int64_t skipped = counters_.partitions_skipped.exchange(0);
  if (skipped > 0) metrics_->Add(kPartsSkipped, skipped);
  const int64_t comparisons = counters_.index_comparisons.exchange(0);
  // A graph search compares with some rows of a partition, a scan with all of them (and counts
  // those that it scores once more).
  const bool has_graph = delta->segment->has_graph();
  if (has_graph) metrics_->Add(kIndexComparisons, comparisons);
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t partition = delta->partitions[delta->next + i];
    if (!has_graph) metrics_->Add(kIndexComparisons, delta->batch->matching_rows(partition));
    const std::vector<kernels::Neighbor> neighbors = heaps_.TakeSorted(i);
    if (late_) {
      num_found_ += static_cast<int64_t>(neighbors.size());
    } else {
      for (const kernels::Neighbor& neighbor : neighbors) {
        if (static_cast<int64_t>(found_.size()) == op_.query_.k) break;
        found_.push_back(neighbor.address);
      }
    }
    ARROW_RETURN_NOT_OK(Emit(neighbors));
  }
  delta->next += count;
  return arrow::Status::OK();
}

arrow::Status AnnIvfSubIndexOperator::Stream::Emit(std::span<const kernels::Neighbor> neighbors) {
  if (neighbors.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto batch, MakeNeighborBatch(*op_.dataset_, neighbors));
  ready_.push_back(std::move(batch));
  return arrow::Status::OK();
}

arrow::Result<OperatorPtr> AnnIvfSubIndexOperator::Make(OperatorPtr input,
                                                        std::shared_ptr<dataset::Dataset> dataset,
                                                        dataset::IndexInfo index, VectorQuery query,
                                                        Prefilter prefilter) {
  for (const auto& field : PartitionSchema()->fields()) {
    const auto given = input->schema()->GetFieldByName(field->name());
    if (given != nullptr && given->type()->Equals(*field->type())) continue;
    return base::Invalid("ANNSubIndexExec node: input schema does not have \"", field->name(),
                         "\" column of type ", field->type()->ToString());
  }
  if (index.segments.empty()) {
    return base::NotFound("ANNSubIndexExec node: index \"", index.name, "\" has no segment");
  }
  return OperatorPtr(new AnnIvfSubIndexOperator(std::move(input), std::move(dataset),
                                                std::move(index), std::move(query),
                                                std::move(prefilter)));
}

std::vector<OperatorPtr> AnnIvfSubIndexOperator::inputs() const {
  if (prefilter_.source() == nullptr) return {input_};
  return {input_, prefilter_.source()};
}

arrow::Result<OperatorPtr> AnnIvfSubIndexOperator::WithNewInputs(
    std::vector<OperatorPtr> inputs) const {
  if (inputs.size() != 1 && inputs.size() != 2) {
    return base::Invalid(
        "ANNSubIndexExec node must have exactly one or two (prefilter) children; it was given ",
        inputs.size());
  }
  Prefilter prefilter = prefilter_;
  if (inputs.size() == 2) {
    ARROW_ASSIGN_OR_RAISE(prefilter, prefilter_.WithSource(std::move(inputs[1])));
  }
  return Make(std::move(inputs[0]), dataset_, index_, query_, std::move(prefilter));
}

PlanNode AnnIvfSubIndexOperator::Describe() const {
  PlanNode node{.name = "ANNSubIndex"};
  node.fields = {{"name", index_.name},
                 {"k", base::Concat(query_.candidates())},
                 {"deltas", base::Concat(index_.segments.size())}};
  if (query_.adaptive_nprobes) {
    node.fields.emplace_back("first_round", "adaptive");
    if (query_.search_effort != 0.5) {
      node.fields.emplace_back("search_effort", base::Concat(query_.search_effort));
    }
  }
  return node;
}

Statistics AnnIvfSubIndexOperator::statistics() const {
  Statistics statistics = Statistics::Unknown(schema()->num_fields());
  const Estimate input_rows = input_->statistics().num_rows;
  statistics.num_rows =
      Estimate::Inexact(query_.candidates() * (input_rows.known() ? input_rows.value : 1));
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> AnnIvfSubIndexOperator::OpenStream(
    PlanRun* run, OperatorMetrics* metrics) const {
  ARROW_ASSIGN_OR_RAISE(auto input, input_->Open(run));
  return std::make_unique<Stream>(*this, run, metrics, std::move(input));
}

}  // namespace kinjo::exec
