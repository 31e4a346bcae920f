// Shared by the tests of the room: tables from JSON, and what a predicate says of their rows.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow/array.h"
#include "arrow/json/from_string.h"
#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "base/error.h"
#include "predicate/predicate.h"

namespace kinjo::predicate::samples {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;
using ArrayPtr = std::shared_ptr<arrow::Array>;

inline ArrayPtr FromJson(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

inline BatchPtr MakeBatch(const std::vector<std::pair<std::string, ArrayPtr>>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, array] : columns) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), arrays.front()->length(), arrays);
}

/// One column, named x.
inline BatchPtr OneColumn(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  return MakeBatch({{"x", FromJson(type, json)}});
}

/// A letter a row, t(rue), f(alse) or n(ull); of an error its code and message.
inline std::string Answer(const std::string& text, const BatchPtr& batch) {
  const auto error = [](const arrow::Status& status) {
    return base::Concat(base::ErrorCodeName(base::CodeOf(status)), ": ", base::MessageOf(status));
  };
  const auto predicate = Predicate::Parse(text, batch->schema());
  if (!predicate.ok()) return error(predicate.status());
  const auto values = (*predicate)->Evaluate(*batch);
  if (!values.ok()) return error(values.status());
  std::string answer;
  for (int64_t row = 0; row < (*values)->length(); ++row) {
    const bool known = (*values)->IsValid(row);
    answer.push_back(known ? ((*values)->Value(row) ? 't' : 'f') : 'n');
  }
  return answer;
}

}  // namespace kinjo::predicate::samples
