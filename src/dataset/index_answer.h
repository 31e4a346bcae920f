// What scalar indexes answer alone: a boolean expression as a tree of lookups, joined by SQL's
// three-valued logic over sets of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/filter_parts.h"
#include "dataset/row_mask.h"

namespace kinjo::dataset {

/// Live rows by what an expression is for them; for all others it is false.
struct TruthRows {
  RowMask passing;
  RowMask unknown;  ///< left empty where nobody wants it
};

/// One expression that indexes answer, in the fragments that all of them cover. Not thread-safe.
class IndexAnswer {
 public:
  /// Null when the indexes of the snapshot can't answer the whole expression, or when it may fail:
  /// an index holds values of rows that are gone, and they must not fail a filter. Opens no file.
  /// `wants_unknown` says whether Run tells of unknown rows. The dataset must outlive the answer.
  static std::unique_ptr<IndexAnswer> Plan(Dataset* dataset, const ExpressionPtr& expression,
                                           bool wants_unknown);
  virtual ~IndexAnswer() = default;

  /// Adds the names of the indexes.
  virtual void AddNames(std::set<std::string>* names) const = 0;
  /// Rising.
  virtual const std::vector<uint64_t>& fragment_ids() const = 0;

  /// Opens the indexes. False when they are no good after all: they would read most of themselves,
  /// so that a scan costs less, or hold another type than the column.
  virtual arrow::Result<bool> Open() = 0;

  /// Requires: Open gave true. Rows outside of fragment_ids() mean nothing.
  virtual arrow::Result<TruthRows> Run(const base::CancelToken& cancel) = 0;
};

}  // namespace kinjo::dataset
