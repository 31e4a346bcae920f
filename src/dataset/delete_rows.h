// Rows deleted by a predicate: new deletion files for the fragments that have such rows, and one
// commit.
#pragma once

#include <cstdint>
#include <string>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace kinjo::dataset {

struct DeleteReport {
  uint64_t version = 0;  ///< the newest one when no row was deleted
  uint64_t rows = 0;     ///< that are dead now and were live before
};

/// Deletes the rows of the dataset's newest version for which the SQL predicate `where` is true.
/// When another writer commits in between, the predicate is evaluated again on what that left.
/// Without such a row nothing is committed.
arrow::Result<DeleteReport> DeleteRows(const std::string& uri, const std::string& where,
                                       base::ThreadPool* pool, const base::CancelToken& cancel);

}  // namespace kinjo::dataset
