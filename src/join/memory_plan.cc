#include "join/memory_plan.h"

#include <algorithm>
#include <string>

#include "exec/ann_ivf_batch.h"
#include "exec/block_filter.h"
#include "index/hnsw_search.h"
#include "join/right_side.h"

namespace kinjo::join {

namespace {

constexpr int64_t kBlockRowsMin = 64;
constexpr int64_t kBlockRowsMax = 16384;
constexpr int64_t kBlockVectorsMax = 65536;
constexpr int64_t kTakeBytesMin = int64_t{1} << 20;
constexpr int64_t kTakeBytesMax = int64_t{256} << 20;
constexpr int64_t kCacheBytesMax = int64_t{4} << 30;

constexpr int64_t kOutputBytesMin = int64_t{1} << 20;
constexpr int64_t kOutputBytesMax = int64_t{64} << 20;
constexpr int64_t kSlackBytes = int64_t{16} << 20;

// A row group is held as it came and again as compressed pages.
int64_t OutputBytes(int64_t limit_bytes) {
  return std::clamp(limit_bytes / 16, kOutputBytesMin, 2 * kOutputBytesMax);
}

int64_t SlackBytes(int64_t limit_bytes) {
  return std::min(limit_bytes / 4, kSlackBytes + limit_bytes / 8);
}

// What a limit leaves for the shares that are counted. Rises with the limit.
int64_t CountedBytes(int64_t limit_bytes) {
  return limit_bytes - OutputBytes(limit_bytes) - SlackBytes(limit_bytes);
}

// The smallest limit that leaves so much.
int64_t SmallestLimit(int64_t counted_bytes) {
  int64_t low = counted_bytes;
  int64_t high = 2 * (counted_bytes + kOutputBytesMin) + kSlackBytes;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (CountedBytes(middle) >= counted_bytes) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Hits of one chunk, and moved queries.
int64_t ScratchBytes(int64_t dim) {
  return exec::kChunkPairsMax * 8 + exec::kTileQueries * (dim * 4 + 16);
}

// Stored, resolved and decoded form of the largest partition, for as many as are at hand at a time.
int64_t PartitionBytes(const MemoryNeeds& needs) {
  const int64_t rows = needs.partition_rows_max;
  int64_t bytes = needs.partition_bytes_max + rows * 8;
  int64_t decoded_rows = rows;
  if (needs.graph_bytes_max > 0) {
    bytes += 2 * needs.graph_bytes_max;  // as read and as kept
    // More live rows than a tenth are searched through the graph, where they lie.
    decoded_rows = rows / 10 + 1;
  }
  decoded_rows = std::min(decoded_rows, exec::AnnIvfBatch::SliceRows(needs.dim));
  bytes += decoded_rows * (needs.dim * 5 + (needs.coded ? 5 : 3) * 8);
  if (needs.by_group) bytes += rows * (8 + 8 + 4);  // addresses and numbers of a group's rows
  bytes *= needs.partitions_at_once > 0 ? needs.partitions_at_once : needs.threads;
  if (needs.graph_bytes_max > 0) bytes += needs.threads * index::HnswSearcher::SizeBytes(rows);
  return bytes;
}

int64_t FixedBytes(const MemoryNeeds& needs) {
  int64_t bytes = needs.threads * ScratchBytes(needs.dim) + needs.mask_bytes + needs.key_bytes +
                  needs.beside_bytes;
  if (needs.uses_index) bytes += PartitionBytes(needs);
  if (needs.scans) {
    // Each is read, decoded and grouped.
    bytes += needs.scan_blocks * needs.scan_vectors *
             (needs.dim * (2 * needs.element_bytes + 5) + 3 * 8);
  }
  return bytes;
}

int64_t QueryBytes(const MemoryNeeds& needs) {
  int64_t bytes = 2 * needs.left_row_bytes;  // as read, and put together
  bytes += needs.dim * 8;                    // as searched
  bytes += needs.candidates * 2 * 16;        // heap, with room to grow
  bytes += needs.k * (16 + 32) + 64;         // matches, result rows
  if (needs.uses_index) {
    bytes += needs.segments *
             (needs.dim * (needs.coded ? 16 : 8) + needs.ranked_partitions * (8 + 12) + 48);
    bytes += needs.candidates * 16;  // addresses to refine
  }
  if (needs.scans) bytes += needs.dim * 4 + 16;
  return bytes;
}

// Right vectors as read and as grouped, with what is known of each.
int64_t KeptBytes(const MemoryNeeds& needs) {
  return needs.kept_vectors * (needs.dim * (needs.element_bytes + 5) + 6 * 8);
}

// "3.1MiB": at least `bytes`, in a form that is read back as a size.
std::string RoundedUp(int64_t bytes) {
  const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  int64_t unit_bytes = 1024;
  int unit = 0;
  for (; unit < 3 && bytes >= unit_bytes * 1024; ++unit) unit_bytes *= 1024;
  int64_t tenths = bytes / unit_bytes * 10;
  const int64_t rest = bytes % unit_bytes;
  tenths += (rest * 10 + unit_bytes - 1) / unit_bytes;
  return base::Concat(tenths / 10, ".", tenths % 10, units[unit]);
}

}  // namespace

namespace {

// Which partitions are kept, of the `room` that is left.
void PlanCache(const MemoryNeeds& needs, int64_t room, MemoryPlan* plan) {
  plan->index_rows = needs.index_rows;
  plan->resident = {.base_bytes = static_cast<double>(plan->total_bytes()),
                    .bytes_per_row = static_cast<double>(needs.index_bytes) /
                                     static_cast<double>(std::max<int64_t>(needs.index_rows, 1))};
  const bool fits =
      needs.index_bytes <= std::min(room, kCacheBytesMax) &&
      MayStayResident(plan->resident, needs.index_rows, needs.limit_bytes, kResidentSafety);
  plan->keeps_index = fits && !needs.streams_index;
  if (plan->keeps_index) {
    plan->cache_bytes = needs.index_bytes;
  } else if (!fits) {
    plan->cache_bytes =
        std::clamp<int64_t>(room / 2, 0, std::min(needs.index_bytes, kCacheBytesMax));
  }
}

}  // namespace

arrow::Result<MemoryPlan> PlanMemory(const MemoryNeeds& needs) {
  MemoryPlan plan;
  plan.limit_bytes = needs.limit_bytes;
  plan.output_bytes = OutputBytes(needs.limit_bytes);
  plan.slack_bytes = SlackBytes(needs.limit_bytes);
  plan.fixed_bytes = FixedBytes(needs);
  plan.key_bytes = needs.key_bytes;
  plan.pair_bytes = needs.pair_bytes;
  plan.kept_bytes = KeptBytes(needs);
  plan.query_bytes = QueryBytes(needs);
  const int64_t rows_min = needs.block_rows_asked > 0 && !needs.multivector
                               ? std::min(needs.block_rows_asked, kBlockRowsMin)
                               : kBlockRowsMin;
  if (needs.sample_rows > 0) {
    plan.sample_bytes = plan.fixed_bytes + needs.sample_rows * plan.query_bytes;
  }
  const int64_t counted = std::max({plan.fixed_bytes + plan.pair_bytes + plan.kept_bytes +
                                        rows_min * plan.query_bytes + kTakeBytesMin,
                                    needs.filter_bytes, plan.sample_bytes});
  if (counted > CountedBytes(needs.limit_bytes)) {
    const std::string pairs =
        needs.pair_bytes > 0 ? base::Concat(needs.pair_bytes, " for the pairs of all left rows, ")
                             : "";
    return base::MakeError(
        base::ErrorCode::kCapacity,
        base::Concat("memory_limit = ", needs.limit_bytes,
                     " bytes is too small for this join: the smallest that would do is ",
                     RoundedUp(SmallestLimit(counted)), " (", SmallestLimit(counted),
                     " bytes: ", plan.fixed_bytes, " for the buffers of ", needs.threads,
                     needs.threads == 1 ? " thread, " : " threads, ", pairs, plan.query_bytes,
                     " a left row); raise it, or lower k = ", needs.k, " or refine_factor"));
  }
  const int64_t free =
      CountedBytes(needs.limit_bytes) - plan.fixed_bytes - plan.pair_bytes - plan.kept_bytes;
  const int64_t fitting = std::min(free / 2, free - kTakeBytesMin) / plan.query_bytes;
  int64_t rows_max = needs.block_rows_asked > 0 ? needs.block_rows_asked : kBlockRowsMax;
  if (needs.left_rows > 0) rows_max = std::min(rows_max, needs.left_rows);
  plan.block_rows = std::clamp(fitting, rows_min, std::max(rows_min, rows_max));
  plan.block_vectors = plan.block_rows;
  if (needs.multivector) {
    plan.block_vectors = std::clamp(fitting, rows_min, kBlockVectorsMax);
    plan.block_rows = std::min(plan.block_rows, plan.block_vectors);
  }
  plan.block_bytes = plan.block_vectors * plan.query_bytes;
  plan.take_bytes =
      std::clamp(std::min(free / 8, free - plan.block_bytes), kTakeBytesMin, kTakeBytesMax);
  if (needs.uses_index) PlanCache(needs, free - plan.block_bytes - plan.take_bytes, &plan);
  return plan;
}

arrow::Status BlockTooSmall(const MemoryPlan& plan, int64_t vectors, const std::string& what) {
  const std::string more =
      base::Concat(what, ", more than a query block takes, ", plan.block_vectors);
  if (vectors > kBlockVectorsMax) {
    return base::MakeError(base::ErrorCode::kCapacity, base::Concat(more, "; split the row"));
  }
  const int64_t block = vectors * plan.query_bytes;
  const int64_t smallest = SmallestLimit(plan.fixed_bytes + plan.pair_bytes +
                                         std::max(2 * block, block + kTakeBytesMin));
  return base::MakeError(base::ErrorCode::kCapacity,
                         base::Concat(more, ", within memory_limit = ", plan.limit_bytes,
                                      " bytes: the smallest that would do is ", RoundedUp(smallest),
                                      " (", smallest, " bytes); raise it, or split the row"));
}

}  // namespace kinjo::join
