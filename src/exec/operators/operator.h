// What every operator of a search plan promises: a name, a schema, its inputs, a stream of Arrow
// batches that is pulled, counters, and a line of explain. An operator is immutable and may be run
// many times at once; what a run changes lives in its BatchStream and its PlanRun.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "base/error.h"
#include "exec/operators/plan_run.h"
#include "exec/operators/statistics.h"
#include "exec/plan_node.h"

namespace kinjo::exec {

/// One run of one operator. Used by one thread at a time.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  /// The next batch, or null at the end. Batches may be empty only where the operator says so.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
};

class Operator;
using OperatorPtr = std::shared_ptr<const Operator>;

/// A node of a plan. Immutable and thread-safe; made by the static Make of each operator.
class Operator : public std::enable_shared_from_this<Operator> {
 public:
  virtual ~Operator() = default;

  /// What the errors of the operator call it.
  virtual std::string name() const = 0;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  virtual std::vector<OperatorPtr> inputs() const = 0;
  /// The same operator over other inputs. A wrong number of them is `invalid`.
  virtual arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const = 0;

  /// The operator's own line of explain, without inputs and metrics.
  virtual PlanNode Describe() const = 0;
  /// What is known before a run. By default nothing is.
  virtual Statistics statistics() const { return Statistics::Unknown(schema()->num_fields()); }
  /// True when the first n rows come from the first n rows of each input, so that a limit above may
  /// go below.
  virtual bool supports_limit_pushdown() const { return false; }

  /// Starts a run. The stream counts `output_rows` and `elapsed_compute`; `run` must outlive it,
  /// and so must the operator.
  arrow::Result<std::unique_ptr<BatchStream>> Open(PlanRun* run) const;

 protected:
  /// The stream itself; it opens its inputs by Open and adds its own counters to `metrics`.
  virtual arrow::Result<std::unique_ptr<BatchStream>> OpenStream(
      PlanRun* run, OperatorMetrics* metrics) const = 0;
};

/// `invalid` unless there are exactly `count` inputs. The message is the operator's own.
arrow::Status CheckInputCount(const std::vector<OperatorPtr>& inputs, size_t count,
                              const std::string& message);

/// The plan below `root` for RenderPlan (exec/plan_node.h); `run` adds what was measured, may be
/// null.
PlanNode DescribePlan(const Operator& root, const PlanRun* run = nullptr);

/// Runs a plan to its end.
arrow::Result<arrow::RecordBatchVector> CollectBatches(const Operator& root, PlanRun* run);

}  // namespace kinjo::exec
