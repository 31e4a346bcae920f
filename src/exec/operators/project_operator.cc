#include "exec/operators/project_operator.h"

namespace kinjo::exec {

class ProjectOperator::Stream final : public BatchStream {
 public:
  Stream(const ProjectOperator& op, std::unique_ptr<BatchStream> input)
      : op_(op), input_(std::move(input)) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ARROW_ASSIGN_OR_RAISE(const auto batch, input_->Next());
    if (batch == nullptr) return nullptr;
    arrow::ArrayVector columns;
    for (const int place : op_.places_) columns.push_back(batch->column(place));
    return arrow::RecordBatch::Make(op_.schema_, batch->num_rows(), std::move(columns));
  }

 private:
  const ProjectOperator& op_;
  std::unique_ptr<BatchStream> input_;
};

arrow::Result<OperatorPtr> ProjectOperator::Make(OperatorPtr input,
                                                 const std::vector<std::string>& columns) {
  std::vector<int> places;
  arrow::FieldVector fields;
  for (const std::string& column : columns) {
    places.push_back(input->schema()->GetFieldIndex(column));
    if (places.back() < 0) {
      return base::NotFound("ProjectExec node: the input has no column \"", column, "\"");
    }
    fields.push_back(input->schema()->field(places.back()));
  }
  return OperatorPtr(
      new ProjectOperator(std::move(input), std::move(places), arrow::schema(std::move(fields))));
}

arrow::Result<OperatorPtr> ProjectOperator::WithNewInputs(std::vector<OperatorPtr> inputs) const {
  ARROW_RETURN_NOT_OK(CheckInputCount(inputs, 1, "ProjectExec node must have exactly one child"));
  return Make(std::move(inputs[0]), schema_->field_names());
}

PlanNode ProjectOperator::Describe() const {
  std::string names;
  for (const auto& field : schema_->fields()) names += (names.empty() ? "" : ", ") + field->name();
  PlanNode node{.name = "Project"};
  node.fields = {{"columns", "[" + names + "]"}};
  return node;
}

Statistics ProjectOperator::statistics() const {
  const Statistics input = input_->statistics();
  Statistics statistics;
  statistics.num_rows = input.num_rows;
  for (const int place : places_) statistics.null_counts.push_back(input.null_counts[place]);
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> ProjectOperator::OpenStream(
    PlanRun* run, OperatorMetrics* /*metrics*/) const {
  ARROW_ASSIGN_OR_RAISE(auto input, input_->Open(run));
  return std::make_unique<Stream>(*this, std::move(input));
}

}  // namespace kinjo::exec
