// Rows of a snapshot for whoever wants to look at them: some columns, a filter, a limit, as a
// stream. A join reads its sides by Scan and Take instead, for it needs addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/progress.h"
#include "dataset/dataset.h"
#include "stream/result_stream.h"

namespace kinjo::dataset {

struct RowsRequest {
  std::optional<std::vector<std::string>> columns;    ///< top-level names, in order; nothing: all
  std::string where;                                  ///< SQL predicate; "": every row
  std::optional<int64_t> limit;                       ///< rows at most
  int64_t offset = 0;                                 ///< rows to pass over before the first
  bool with_row_id = false;                           ///< adds `_rowid`, the last column
  int64_t batch_rows = 8192;                          ///< of a batch, at most
  std::optional<std::vector<uint64_t>> fragment_ids;  ///< to read; nothing: all
};

/// Streams live rows in the snapshot's order. The request is judged now (`invalid`: limit, offset,
/// batch size, predicate, a column asked twice; `not_found`: a column, a fragment); rows are read
/// as the stream is. With a filter all rows are judged before the first comes out, by as many
/// threads as the process may use. `progress` (may be empty) is told of rows that are handed on, by
/// the thread that reads them.
arrow::Result<std::unique_ptr<stream::ResultStream>> StreamRows(std::shared_ptr<Dataset> dataset,
                                                                const RowsRequest& request,
                                                                base::CancelToken cancel,
                                                                base::ProgressCallback progress);

/// Live rows that pass `where` ("": all).
arrow::Result<int64_t> CountRows(Dataset* dataset, const std::string& where,
                                 const base::CancelToken& cancel);

}  // namespace kinjo::dataset
