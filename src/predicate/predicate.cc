#include "predicate/predicate.h"

#include <algorithm>
#include <set>
#include <utility>

#include "arrow/array/util.h"
#include "arrow/util/checked_cast.h"
#include "predicate/bind.h"
#include "predicate/evaluate.h"
#include "predicate/parser.h"

namespace kinjo::predicate {

namespace {

void AddColumns(const Expression& expression, std::set<std::string>* names) {
  if (expression.kind == ExpressionKind::kColumn) names->insert(expression.path.front());
  for (const auto& input : expression.inputs) AddColumns(*input, names);
}

class TypedPredicate final : public Predicate {
 public:
  TypedPredicate(std::string text, std::shared_ptr<const Expression> root,
                 const arrow::Schema& schema)
      : text_(std::move(text)), root_(std::move(root)) {
    const std::vector<std::string> used = ColumnsOf(*root_);
    for (const auto& field : schema.fields()) {
      if (std::binary_search(used.begin(), used.end(), field->name()))
        columns_.push_back(field->name());
    }
  }

  const std::string& text() const override { return text_; }
  const std::vector<std::string>& columns() const override { return columns_; }
  const Expression& root() const override { return *root_; }
  arrow::Result<std::shared_ptr<arrow::BooleanArray>> Evaluate(
      const arrow::RecordBatch& batch) const override {
    return predicate::Evaluate(*root_, batch);
  }

 private:
  std::string text_;
  std::shared_ptr<const Expression> root_;
  std::vector<std::string> columns_;
};

}  // namespace

arrow::Result<std::shared_ptr<const Predicate>> Predicate::Parse(
    const std::string& text, const std::shared_ptr<arrow::Schema>& schema) {
  ARROW_ASSIGN_OR_RAISE(const SyntaxTree tree, ParseSyntax(text));
  ARROW_ASSIGN_OR_RAISE(auto root, Bind(*tree, *schema));
  return std::make_shared<const TypedPredicate>(text, std::move(root), *schema);
}

arrow::Result<std::shared_ptr<arrow::BooleanArray>> Evaluate(const Expression& expression,
                                                             const arrow::RecordBatch& batch) {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum value, EvaluateRows(expression, batch));
  std::shared_ptr<arrow::Array> array;
  if (value.is_scalar()) {
    ARROW_ASSIGN_OR_RAISE(array, arrow::MakeArrayFromScalar(*value.scalar(), batch.num_rows()));
  } else {
    array = value.make_array();
  }
  return arrow::internal::checked_pointer_cast<arrow::BooleanArray>(array);
}

std::vector<std::string> ColumnsOf(const Expression& expression) {
  std::set<std::string> names;
  AddColumns(expression, &names);
  return {names.begin(), names.end()};
}

}  // namespace kinjo::predicate
