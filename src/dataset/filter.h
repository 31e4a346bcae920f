// A predicate evaluated over one snapshot: scalar indexes answer what they can, a scan of the
// predicate's columns the rest. Done once a run; every path shares the mask.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "dataset/dataset.h"
#include "dataset/row_mask.h"
#include "predicate/predicate.h"

namespace kinjo::dataset {

/// The rows that a filter lets through, and how they were found.
struct FilterAnswer {
  std::shared_ptr<const RowMask> rows;  ///< never null
  int64_t rows_evaluated = 0;           ///< rows whose columns were read
  std::vector<std::string> indexes;     ///< scalar indexes that answered parts, by name
};

struct FilterOptions {
  bool use_indexes = true;    ///< false: everything is scanned, with the same answer
  int64_t batch_rows = 8192;  ///< rows read at a time, by each thread
};

/// Evaluates `filter`, which was made for the dataset's schema. The work is spread over `pool`.
/// Memory: a mask takes at most about a bit a live row, and a few are held at a time; each thread
/// holds a batch of the predicate's columns.
arrow::Result<FilterAnswer> EvaluateFilter(Dataset* dataset, const predicate::Predicate& filter,
                                           base::ThreadPool* pool, const base::CancelToken& cancel,
                                           const FilterOptions& options = {});

/// The addresses of the rows for which `truth` is true.
arrow::Status KeepPassing(const arrow::BooleanArray& truth, std::span<const RowAddress> addresses,
                          std::vector<RowAddress>* passing);

/// Names of the scalar indexes that may answer parts of `filter`, known without reading one.
std::vector<std::string> IndexesFor(Dataset* dataset, const predicate::Predicate& filter);

}  // namespace kinjo::dataset
