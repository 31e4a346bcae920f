// A SQL predicate over the columns of one schema: parsed, typed, and evaluated on record batches.
// docs/semantics.md lists the language.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "base/error.h"
#include "predicate/expression.h"

namespace kinjo::predicate {

/// Immutable; thread-safe. The program has called arrow::compute::Initialize before its first
/// thread: Arrow's registry of functions must not grow while another thread reads it.
class Predicate {
 public:
  /// What can't be parsed or typed is `invalid`, with the position (1-based character) and what was
  /// expected there; a column that isn't in `schema` is `not_found` and lists those that are.
  static arrow::Result<std::shared_ptr<const Predicate>> Parse(
      const std::string& text, const std::shared_ptr<arrow::Schema>& schema);
  virtual ~Predicate() = default;

  /// The text as given.
  virtual const std::string& text() const = 0;
  /// Top-level columns that Evaluate needs, each once, in schema order.
  virtual const std::vector<std::string>& columns() const = 0;
  /// The typed tree, for those who answer parts of it by an index.
  virtual const Expression& root() const = 0;

  /// One value a row: true, false, or null where SQL says unknown. Only true passes. The batch must
  /// hold columns() by name; others are ignored.
  /// Fails where a value can't be computed: an integer divided by zero, an overflow, a cast of what
  /// can't be cast (docs/semantics.md).
  virtual arrow::Result<std::shared_ptr<arrow::BooleanArray>> Evaluate(
      const arrow::RecordBatch& batch) const = 0;
};

/// The same of a boolean expression: root() or a part of it, for what an index has left over.
arrow::Result<std::shared_ptr<arrow::BooleanArray>> Evaluate(const Expression& expression,
                                                             const arrow::RecordBatch& batch);

/// Names of the top-level columns of an expression, each once, sorted.
std::vector<std::string> ColumnsOf(const Expression& expression);

}  // namespace kinjo::predicate
