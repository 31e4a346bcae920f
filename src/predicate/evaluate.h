// Typed expressions computed on record batches, by Arrow's kernels.
#pragma once

#include <memory>
#include <vector>

#include "arrow/compute/type_fwd.h"
#include "arrow/datum.h"
#include "arrow/record_batch.h"
#include "base/error.h"
#include "predicate/expression.h"

namespace kinjo::predicate {

/// The value of one node given those of its inputs: arrays of one length, or scalars. Not for
/// kColumn, kAnd and kOr. Any thread. A failure names the node's position.
arrow::Result<arrow::Datum> ApplyNode(const Expression& node,
                                      const std::vector<arrow::Datum>& inputs);

/// The value of each row, or a scalar that holds for all.
arrow::Result<arrow::Datum> EvaluateRows(const Expression& expression,
                                         const arrow::RecordBatch& batch);

/// A tree without columns.
arrow::Result<std::shared_ptr<arrow::Scalar>> EvaluateConstant(const Expression& expression);

/// Calls an Arrow function whose kernels are registered on first use.
arrow::Result<arrow::Datum> CallArrow(const char* function, const std::vector<arrow::Datum>& inputs,
                                      const arrow::compute::FunctionOptions* options = nullptr);

}  // namespace kinjo::predicate
