// How a join's memory limit is shared out: fixed buffers, the query block, kept partitions, and
// what refine and take read at a time. Sizes change only speed, never an answer.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "join/memory_gate.h"

namespace kinjo::join {

/// What the estimate depends on.
struct MemoryNeeds {
  int64_t limit_bytes = 0;
  int64_t threads = 1;
  int64_t dim = 0;            ///< elements of a vector; 0 when there is none
  int64_t element_bytes = 4;  ///< of the right vectors
  int64_t candidates = 0;     ///< rows a heap holds: k * refine_factor, at most the right side
  int64_t k = 0;
  int64_t left_row_bytes = 0;  ///< of the left columns, estimated from their types
  bool uses_index = false;
  bool scans = false;               ///< true vectors are scanned: exact path, un-indexed fragments
  int64_t segments = 0;             ///< index path
  int64_t ranked_partitions = 0;    ///< of a query and segment
  bool coded = false;               ///< queries are kept as codes too, rows have factors (SQ, RQ)
  int64_t partition_rows_max = 0;   ///< the largest partition
  int64_t partition_bytes_max = 0;  ///< as stored
  int64_t partitions_at_once = 0;   ///< loaded and decoded at a time; 0 = one a thread
  int64_t graph_bytes_max = 0;      ///< the largest graph of a partition; 0 without graphs
  int64_t index_bytes = 0;          ///< all partitions as kept: stored, resolved, with graphs
  int64_t index_rows = 0;           ///< of all partitions
  int64_t block_rows_asked = 0;     ///< 0 = as many as fit
  int64_t left_rows = 0;            ///< more than these no block holds; 0 = not known
  int64_t mask_bytes = 0;           ///< of the rows that a filter passes
  int64_t filter_bytes = 0;         ///< while the filter is evaluated, before all else
  int64_t beside_bytes = 0;         ///< while it is evaluated beside the search
  bool by_group = false;            ///< queries find the right rows of their groups only
  int64_t key_bytes = 0;            ///< of the right rows' keys and groups
  int64_t pair_bytes = 0;           ///< what is kept of all left rows of a join that gives pairs
  int64_t scan_vectors = 0;         ///< true vectors of a scanned block
  int64_t scan_blocks = 2;          ///< that are at hand at a time
  int64_t kept_vectors = 0;         ///< true vectors that stay in memory, grouped
  bool streams_index = false;       ///< partitions aren't to stay in memory, though they might fit
  int64_t sample_rows = 0;          ///< left rows that a recall target is met on
  /// Rows are lists of vectors; a "query" and a "left row" is then a left vector.
  bool multivector = false;
};

/// The shares, in bytes where not said otherwise.
struct MemoryPlan {
  int64_t limit_bytes = 0;
  int64_t fixed_bytes = 0;    ///< buffers of the threads and of the scan
  int64_t key_bytes = 0;      ///< of those, the right rows' keys and groups
  int64_t pair_bytes = 0;     ///< kept of all left rows
  int64_t query_bytes = 0;    ///< of one left row
  int64_t block_rows = 0;     ///< left rows of a query block, at most
  int64_t block_vectors = 0;  ///< left vectors of a query block, at most
  int64_t block_bytes = 0;    ///< of a query block
  int64_t cache_bytes = 0;    ///< partitions kept between rounds and blocks
  int64_t kept_bytes = 0;     ///< right vectors kept between blocks
  bool keeps_index = false;  ///< the gate (memory_gate.h) lets all partitions stay among those kept
  ResidentModel resident;    ///< what keeping the index takes, a line over its rows
  int64_t index_rows = 0;    ///< that the gate was asked for
  int64_t sample_bytes = 0;  ///< while probes are chosen for a recall target, before all else
  int64_t take_bytes = 0;    ///< right rows read at a time by refine and take
  int64_t output_bytes = 0;  ///< of a row group that a writer holds
  /// Not counted piece by piece: what allocators keep of freed memory, batches between the stages,
  /// libraries touched for the first time.
  int64_t slack_bytes = 0;
  int64_t total_bytes() const {
    return fixed_bytes + pair_bytes + block_bytes + cache_bytes + kept_bytes + take_bytes +
           output_bytes + slack_bytes;
  }
};

/// Shares the limit out; `capacity`, with the smallest limit that would do, when it is too small.
arrow::Result<MemoryPlan> PlanMemory(const MemoryNeeds& needs);

/// `capacity`: `what` needs the room of `vectors` left vectors at once, more than block_vectors. It
/// names the smallest limit that would do, where one would.
arrow::Status BlockTooSmall(const MemoryPlan& plan, int64_t vectors, const std::string& what);

}  // namespace kinjo::join
