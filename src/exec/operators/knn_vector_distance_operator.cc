#include "exec/operators/knn_vector_distance_operator.h"

#include "arrow/array.h"
#include "arrow/builder.h"
#include "exec/operators/exact_distances.h"

namespace kinjo::exec {

namespace {

/// Columns of `schema` but `_distance`, in order.
std::vector<int> KeptColumns(const arrow::Schema& schema) {
  std::vector<int> kept;
  for (int i = 0; i < schema.num_fields(); ++i) {
    if (schema.field(i)->name() != kDistanceColumn) kept.push_back(i);
  }
  return kept;
}

}  // namespace

class KnnVectorDistanceOperator::Stream final : public BatchStream {
 public:
  Stream(const KnnVectorDistanceOperator& op, PlanRun* run, std::unique_ptr<BatchStream> input,
         ExactDistances distances)
      : op_(op), run_(run), input_(std::move(input)), distances_(std::move(distances)) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto batch, input_->Next());
      if (batch == nullptr) return nullptr;
      if (batch->num_rows() > 0) return Append(*batch);
    }
  }

 private:
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Append(const arrow::RecordBatch& batch) {
    const auto vectors = batch.GetColumnByName(op_.query_.column);
    ARROW_ASSIGN_OR_RAISE(const auto distances, distances_.Score(vectors, next_row_, run_));
    next_row_ += batch.num_rows();
    arrow::FloatBuilder builder;
    ARROW_RETURN_NOT_OK(builder.Reserve(batch.num_rows()));
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      if (vectors->IsNull(row)) {
        builder.UnsafeAppendNull();
      } else {
        builder.UnsafeAppend(distances[row]);
      }
    }
    arrow::ArrayVector columns;
    for (const int i : KeptColumns(*batch.schema())) columns.push_back(batch.column(i));
    columns.emplace_back();
    ARROW_RETURN_NOT_OK(builder.Finish(&columns.back()));
    return arrow::RecordBatch::Make(op_.schema_, batch.num_rows(), std::move(columns));
  }

  const KnnVectorDistanceOperator& op_;
  PlanRun* run_;
  std::unique_ptr<BatchStream> input_;
  ExactDistances distances_;
  int64_t next_row_ = 0;
};

arrow::Result<OperatorPtr> KnnVectorDistanceOperator::Make(OperatorPtr input, VectorQuery query) {
  const auto schema = input->schema();
  ARROW_ASSIGN_OR_RAISE(const auto field,
                        FindVectorField(*schema, query.column, "the input of KNNVectorDistance"));
  ARROW_RETURN_NOT_OK(CheckQueryFits(query, *field->type()));
  arrow::FieldVector fields;
  for (const int i : KeptColumns(*schema)) fields.push_back(schema->field(i));
  fields.push_back(arrow::field(kDistanceColumn, arrow::float32()));
  return OperatorPtr(new KnnVectorDistanceOperator(
      std::move(input), std::move(query), arrow::schema(std::move(fields), schema->metadata())));
}

arrow::Result<OperatorPtr> KnnVectorDistanceOperator::WithNewInputs(
    std::vector<OperatorPtr> inputs) const {
  ARROW_RETURN_NOT_OK(
      CheckInputCount(inputs, 1, "KNNVectorDistanceExec node must have exactly one child"));
  return Make(std::move(inputs[0]), query_);
}

PlanNode KnnVectorDistanceOperator::Describe() const {
  PlanNode node{.name = "KNNVectorDistance"};
  node.fields = {{"metric", std::string(kernels::MetricName(query_.metric))}};
  return node;
}

Statistics KnnVectorDistanceOperator::statistics() const {
  const Statistics input = input_->statistics();
  const auto schema = input_->schema();
  Statistics statistics;
  statistics.num_rows = input.num_rows;
  for (const int i : KeptColumns(*schema)) statistics.null_counts.push_back(input.null_counts[i]);
  statistics.null_counts.push_back(input.null_counts[schema->GetFieldIndex(query_.column)]);
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> KnnVectorDistanceOperator::OpenStream(
    PlanRun* run, OperatorMetrics* /*metrics*/) const {
  const auto type = schema_->GetFieldByName(query_.column)->type();
  ARROW_ASSIGN_OR_RAISE(auto distances,
                        ExactDistances::Make(query_, *type, "column \"" + query_.column + "\""));
  ARROW_ASSIGN_OR_RAISE(auto input, input_->Open(run));
  return std::make_unique<Stream>(*this, run, std::move(input), std::move(distances));
}

}  // namespace kinjo::exec
