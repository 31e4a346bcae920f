// What tests of operators run on: columns, batches and datasets held in memory, and a run of a
// plan.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow/api.h"
#include "base/assert_result.h"
#include "base/cancel_token.h"
#include "base/thread_pool.h"
#include "dataset/memory_dataset.h"
#include "exec/operators/operator.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

using dataset::MemoryDataset;
using index::PlainL2;

/// Vectors of one width; an empty one stands for null.
using Vectors = index::FloatVectors;

inline std::shared_ptr<arrow::Array> MakeVectors(const Vectors& vectors, int32_t width) {
  auto values = std::make_shared<arrow::FloatBuilder>();
  arrow::FixedSizeListBuilder builder(arrow::default_memory_pool(), values, width);
  for (const auto& vector : vectors) {
    if (vector.empty()) {
      if (!builder.AppendNull().ok()) std::abort();
    } else if (!builder.Append().ok() || !values->AppendValues(vector).ok()) {
      std::abort();
    }
  }
  return builder.Finish().ValueOrDie();
}

template <typename Builder, typename T>
std::shared_ptr<arrow::Array> MakeArray(const std::vector<T>& values) {
  Builder builder;
  if (!builder.AppendValues(values).ok()) std::abort();
  return builder.Finish().ValueOrDie();
}

inline std::shared_ptr<arrow::RecordBatch> MakeBatch(
    const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, array] : columns) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), arrays[0]->length(), arrays);
}

/// A pool and a run of a plan.
struct TestRun {
  explicit TestRun(int threads = 1) : pool(threads), run(&pool, base::CancelToken()) {}
  base::ThreadPool pool;
  PlanRun run;
};

/// All rows of a plan as one batch of its schema.
inline arrow::Result<std::shared_ptr<arrow::RecordBatch>> RunPlan(const Operator& plan,
                                                                  PlanRun* run) {
  ARROW_ASSIGN_OR_RAISE(const auto batches, CollectBatches(plan, run));
  for (const auto& batch : batches) {
    ARROW_RETURN_NOT_OK(batch->ValidateFull());
    if (!batch->schema()->Equals(*plan.schema())) {
      return base::Internal(plan.name(), " gave a batch of another schema than it says");
    }
  }
  if (batches.empty()) return arrow::RecordBatch::MakeEmpty(plan.schema());
  return arrow::ConcatenateRecordBatches(batches);
}

template <typename ArrayType>
const ArrayType& ColumnOf(const arrow::RecordBatch& batch, const std::string& name) {
  return static_cast<const ArrayType&>(*batch.GetColumnByName(name));
}

}  // namespace kinjo::exec
