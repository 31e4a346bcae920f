#include "exec/operators/ann_ivf_partition_operator.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "arrow/builder.h"
#include "index/ivf_segment.h"

namespace kinjo::exec {

namespace {

/// A list array of one row.
template <typename Builder, typename Values>
arrow::Result<std::shared_ptr<arrow::Array>> OneList(const std::shared_ptr<arrow::Field>& field,
                                                     const Values& values) {
  auto items = std::make_shared<Builder>();
  arrow::ListBuilder lists(arrow::default_memory_pool(), items, field->type());
  ARROW_RETURN_NOT_OK(lists.Append());
  ARROW_RETURN_NOT_OK(items->AppendValues(values));
  return lists.Finish();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> MakeBatch(
    const std::vector<index::RankedPartition>& ranked, const std::string& uuid) {
  std::vector<uint32_t> partitions;
  std::vector<float> distances;
  partitions.reserve(ranked.size());
  distances.reserve(ranked.size());
  for (const index::RankedPartition& entry : ranked) {
    partitions.push_back(entry.partition);
    distances.push_back(entry.distance);
  }
  const auto schema = PartitionSchema();
  arrow::ArrayVector columns(3);
  ARROW_ASSIGN_OR_RAISE(columns[0], OneList<arrow::UInt32Builder>(schema->field(0), partitions));
  ARROW_ASSIGN_OR_RAISE(columns[1], OneList<arrow::FloatBuilder>(schema->field(1), distances));
  arrow::StringBuilder uuids;
  ARROW_RETURN_NOT_OK(uuids.Append(uuid));
  ARROW_ASSIGN_OR_RAISE(columns[2], uuids.Finish());
  return arrow::RecordBatch::Make(schema, 1, std::move(columns));
}

}  // namespace

class AnnIvfPartitionOperator::Stream final : public BatchStream {
 public:
  Stream(const AnnIvfPartitionOperator& op, OperatorMetrics* metrics) : op_(op), metrics_(metrics) {
    metrics_->Add(kPartitionsRanked, 0);
    metrics_->Add(kDeltasSearched, static_cast<int64_t>(op.segments_.size()));
    metrics_->Add(kIndicesLoaded, 0);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (next_ == op_.segments_.size()) return nullptr;
    const Segment& source = op_.segments_[next_++];
    ARROW_ASSIGN_OR_RAISE(const auto segment,
                          op_.dataset_->OpenSegment(*source.index, source.ordinal));
    metrics_->Add(kIndicesLoaded, 1);
    const VectorQuery& query = op_.query_;
    if (segment->dim() != static_cast<int64_t>(query.vector.size())) {
      return base::Invalid("the query for column \"", query.column, "\" has ", query.vector.size(),
                           " elements, but index \"", source.index->name, "\" has ",
                           segment->dim());
    }
    const int64_t partitions = segment->num_partitions();
    metrics_->Add(kPartitionsRanked, partitions);
    std::vector<std::vector<index::RankedPartition>> ranked(1);
    if (CanMatch(query)) {
      const index::QueryBlock block = segment->PrepareQueries(query.vector);
      const int64_t limit = std::min(partitions, query.maximum_nprobes.value_or(partitions));
      segment->RankPartitions(block, 0, 1, limit, &ranked);
    }
    return MakeBatch(ranked[0], source.uuid());
  }

 private:
  const AnnIvfPartitionOperator& op_;
  OperatorMetrics* metrics_;
  size_t next_ = 0;
};

arrow::Result<OperatorPtr> AnnIvfPartitionOperator::Make(
    std::shared_ptr<dataset::Dataset> dataset, const std::vector<std::string>& index_uuids,
    VectorQuery query) {
  ARROW_RETURN_NOT_OK(FindVectorField(*dataset->arrow_schema(), query.column, dataset->uri()));
  if (query.num_vectors != 1) {
    return base::Invalid("ANNIVFPartitionExec node searches one vector, not ", query.num_vectors);
  }
  if (index_uuids.empty()) {
    return base::NotFound("ANNIVFPartitionExec node: no index found for query on column \"",
                          query.column, "\" of ", dataset->uri());
  }
  std::vector<Segment> segments;
  for (const std::string& uuid : index_uuids) {
    const size_t before = segments.size();
    for (const dataset::IndexInfo& index : dataset->vector_indexes()) {
      for (size_t i = 0; i < index.segments.size(); ++i) {
        if (index.segments[i].uuid == uuid) segments.push_back({&index, i});
      }
    }
    if (segments.size() == before) {
      return base::NotFound("ANNIVFPartitionExec node: no index of ", dataset->uri(),
                            " has a segment with UUID ", uuid);
    }
  }
  return OperatorPtr(
      new AnnIvfPartitionOperator(std::move(dataset), std::move(query), std::move(segments)));
}

arrow::Result<OperatorPtr> AnnIvfPartitionOperator::WithNewInputs(
    std::vector<OperatorPtr> inputs) const {
  ARROW_RETURN_NOT_OK(
      CheckInputCount(inputs, 0, "ANNIVFPartitionExec node does not accept children"));
  return shared_from_this();
}

PlanNode AnnIvfPartitionOperator::Describe() const {
  const auto& maximum = query_.maximum_nprobes;
  PlanNode node{.name = "ANNIvfPartition"};
  node.fields = {{"uuid", segments_[0].uuid()},
                 {"minimum_nprobes", base::Concat(query_.minimum_nprobes)},
                 {"maximum_nprobes", maximum ? base::Concat("Some(", *maximum, ")") : "None"},
                 {"deltas", base::Concat(segments_.size())}};
  return node;
}

Statistics AnnIvfPartitionOperator::statistics() const {
  Statistics statistics = Statistics::Unknown(schema()->num_fields());
  statistics.num_rows = Estimate::Exact(static_cast<int64_t>(segments_.size()));
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> AnnIvfPartitionOperator::OpenStream(
    PlanRun* /*run*/, OperatorMetrics* metrics) const {
  return std::make_unique<Stream>(*this, metrics);
}

}  // namespace kinjo::exec
