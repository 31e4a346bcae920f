// A long join into a folder of parts. What is finished stays finished: a run that was killed is
// continued by the same call, which skips the left rows of the parts that are there and searches
// the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/progress.h"
#include "join/knn_join.h"
#include "tabular/table_sink.h"

namespace kinjo::join {

struct PartsOptions {
  tabular::SinkOptions sink;         ///< format "" = parquet; not table
  std::optional<int64_t> part_rows;  ///< left rows a part; nothing = as begun, else 65536
};

/// What the folder holds.
struct PartsOutcome {
  bool finished = false;     ///< every left row is in a part
  int64_t parts = 0;         ///< finished ones
  int64_t parts_before = 0;  ///< of these, those of earlier runs
  int64_t left_rows = 0;     ///< of the finished parts
  int64_t rows = 0;          ///< result rows of the finished parts
};

/// Judges the options alone, as WriteParts will.
arrow::Status CheckPartsOptions(const std::string& folder, const PartsOptions& options);

/// Runs `join`, which hasn't run, into the folder, or what is missing of it; a finished folder is
/// left as it is and nothing runs. Refused are a folder with other files, one that another process
/// is writing (`conflict`), one that was begun by a run of other sides or options (`invalid`, with
/// what differs), and sides that can't be read again. `outcome` is filled as far as it went, also
/// on an error.
///
/// The parts are cut by left rows alone, and a part's bytes depend on its rows and the sink's
/// options alone: a run that was interrupted leaves the same files as one that wasn't. A part is on
/// the disk before the journal tells of it.
arrow::Status WriteParts(KnnJoin* join, const std::string& folder, const PartsOptions& options,
                         const base::CancelToken& cancel, base::ProgressCallback progress,
                         PartsOutcome* outcome);

}  // namespace kinjo::join
