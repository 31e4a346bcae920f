// Coded rows brought together by partition. They come in the column's order and are kept in memory,
// sorted block by block; what doesn't fit goes to files in runs, each in the order of partitions,
// so that a partition is read with one request a run. Then partitions are handed out one after
// another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"
#include "index/build_context.h"
#include "index/row_encoder.h"

namespace kinjo::index {

/// A place for bytes that outlive memory but not the build: gone from the disk when it is
/// destroyed, and when the process dies. Used by one thread at a time.
class SpillFile {
 public:
  virtual ~SpillFile() = default;
  virtual arrow::Status Append(const uint8_t* data, int64_t bytes) = 0;
  /// Reads `bytes` bytes from `offset` on, all of which were appended.
  virtual arrow::Status Read(int64_t offset, int64_t bytes, uint8_t* out) = 0;
};
using SpillMaker = std::function<arrow::Result<std::unique_ptr<SpillFile>>()>;

/// Not thread-safe. After an error it can only be destroyed.
class PartitionShuffle {
 public:
  /// Records have `record_bytes` bytes, the first eight a row id. Holds at most
  /// `memory_limit_bytes`, beside the rows being added. Without a `spill` it never writes a file:
  /// more than fits is `capacity`.
  PartitionShuffle(int64_t num_partitions, int64_t record_bytes, int64_t memory_limit_bytes,
                   SpillMaker spill);

  arrow::Status Add(const EncodedRows& rows);

  /// Rows added so far, of each partition.
  const std::vector<int64_t>& sizes() const { return sizes_; }
  int64_t spilled_bytes() const { return spilled_bytes_; }

  /// records[num_rows][record_bytes] of a partition, by rising row id, equal ones as they came;
  /// valid during the call.
  using Visit =
      std::function<arrow::Status(int64_t partition, const uint8_t* records, int64_t num_rows)>;
  /// Hands out every partition in order, empty ones too. May be called more than once; nothing may
  /// be added after. A partition that half of the memory doesn't hold is `capacity`. The context's
  /// pool isn't used.
  arrow::Status ForEachPartition(const BuildContext& context, const Visit& visit);

 private:
  /// Rows sorted by partition; those of partition p are [starts[p], starts[p + 1]).
  struct Block {
    std::vector<uint8_t> records;
    std::vector<uint32_t> starts;
  };
  struct Run {
    std::unique_ptr<SpillFile> file;
    std::vector<int64_t> starts;
  };

  arrow::Status Spill();
  int64_t WindowEnd(int64_t first) const;
  arrow::Status GatherWindow(int64_t first, int64_t end, std::vector<uint8_t>* records);
  void SortByRowId(uint8_t* records, int64_t num_rows);

  const int64_t num_partitions_;
  const int64_t record_bytes_;
  const int64_t memory_limit_bytes_;
  const SpillMaker spill_;
  std::vector<int64_t> sizes_;
  std::vector<Block> blocks_;
  std::vector<Run> runs_;
  int64_t block_bytes_ = 0;
  int64_t spilled_bytes_ = 0;
};

}  // namespace kinjo::index
