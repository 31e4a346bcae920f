#include "exec/operators/multivector_scoring_operator.h"

#include <algorithm>
#include <limits>
#include <map>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "exec/operators/neighbor_batch.h"
#include "kernels/top_k.h"

namespace kinjo::exec {

namespace {

/// The hits of one input, as similarities.
struct Hits {
  std::map<uint64_t, float> best;  // of each row id
  float lowest = 0;                // of all hits; 0 without any

  void Add(uint64_t row_id, float similarity) {
    lowest = best.empty() ? similarity : std::min(lowest, similarity);
    const auto [place, inserted] = best.try_emplace(row_id, similarity);
    if (!inserted) place->second = std::max(place->second, similarity);
  }
  float SimilarityOf(uint64_t row_id) const {
    const auto found = best.find(row_id);
    return found == best.end() ? lowest : found->second;
  }
};

arrow::Result<Hits> ReadHits(BatchStream* input) {
  Hits hits;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, input->Next());
    if (batch == nullptr) return hits;
    const auto& distances =
        static_cast<const arrow::FloatArray&>(*batch->GetColumnByName(kDistanceColumn));
    const auto& row_ids =
        static_cast<const arrow::UInt64Array&>(*batch->GetColumnByName(kRowIdColumn));
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      if (distances.IsNull(row) || row_ids.IsNull(row)) continue;
      hits.Add(row_ids.Value(row), 1.0f - distances.Value(row));
    }
  }
}

/// All rows of all inputs with their distances, best first. A row's similarities are summed from
/// the lowest up, so that the sum doesn't know the order of the inputs.
std::vector<kernels::Neighbor> ScoreRows(const std::vector<Hits>& inputs) {
  std::map<uint64_t, float> distances;
  std::vector<double> similarities(inputs.size());
  for (const Hits& hits : inputs) {
    for (const auto& [row_id, similarity] : hits.best) {
      const auto [place, inserted] = distances.try_emplace(row_id, 0.0f);
      if (!inserted) continue;
      for (size_t i = 0; i < inputs.size(); ++i) similarities[i] = inputs[i].SimilarityOf(row_id);
      std::sort(similarities.begin(), similarities.end());
      double sum = 0;
      for (const double value : similarities) sum += value;
      place->second = static_cast<float>(static_cast<double>(inputs.size()) - sum);
    }
  }
  std::vector<kernels::Neighbor> rows;
  rows.reserve(distances.size());
  for (const auto& [row_id, distance] : distances) rows.push_back({distance, row_id});
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

class MultivectorScoringOperator::Stream final : public BatchStream {
 public:
  explicit Stream(std::vector<std::unique_ptr<BatchStream>> inputs) : inputs_(std::move(inputs)) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (done_) return nullptr;
    done_ = true;
    std::vector<Hits> hits(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(hits[i], ReadHits(inputs_[i].get()));
    }
    const std::vector<kernels::Neighbor> rows = ScoreRows(hits);
    if (rows.empty()) return nullptr;
    arrow::FloatBuilder distances;
    arrow::UInt64Builder row_ids;
    for (const kernels::Neighbor& row : rows) {
      ARROW_RETURN_NOT_OK(distances.Append(row.distance));
      ARROW_RETURN_NOT_OK(row_ids.Append(row.address));
    }
    arrow::ArrayVector columns(2);
    ARROW_RETURN_NOT_OK(distances.Finish(&columns[0]));
    ARROW_RETURN_NOT_OK(row_ids.Finish(&columns[1]));
    return arrow::RecordBatch::Make(NeighborSchema(), static_cast<int64_t>(rows.size()),
                                    std::move(columns));
  }

 private:
  std::vector<std::unique_ptr<BatchStream>> inputs_;
  bool done_ = false;
};

arrow::Result<OperatorPtr> MultivectorScoringOperator::Make(std::vector<OperatorPtr> inputs,
                                                            VectorQuery query) {
  if (inputs.empty()) {
    return base::Invalid("MultivectorScoringExec node must have at least one child, one for each ",
                         "query vector");
  }
  for (const OperatorPtr& input : inputs) {
    ARROW_RETURN_NOT_OK(
        CheckNeighborColumns(*input->schema(), "MultivectorScoringExec node", true));
  }
  return OperatorPtr(new MultivectorScoringOperator(std::move(inputs), std::move(query)));
}

PlanNode MultivectorScoringOperator::Describe() const {
  PlanNode node{.name = "MultivectorScoring"};
  node.fields = {{"k", base::Concat(query_.k)}};
  return node;
}

Statistics MultivectorScoringOperator::statistics() const {
  Statistics statistics = Statistics::Unknown(schema()->num_fields());
  statistics.num_rows = Estimate::Inexact(query_.candidates());
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> MultivectorScoringOperator::OpenStream(
    PlanRun* run, OperatorMetrics* /*metrics*/) const {
  std::vector<std::unique_ptr<BatchStream>> streams;
  for (const OperatorPtr& input : inputs_) {
    ARROW_ASSIGN_OR_RAISE(auto stream, input->Open(run));
    streams.push_back(std::move(stream));
  }
  return std::make_unique<Stream>(std::move(streams));
}

}  // namespace kinjo::exec
