// The ways to one answer: how the work of a path is cut and what is kept in memory meanwhile. Which
// one runs changes time and memory, and never a byte of the result. Chosen by join/way_choice.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kinjo::join {

/// How true vectors are scanned.
enum class ExactWay : uint8_t {
  kSharedBlocks,  ///< all threads score one block of right rows while the next one is read
  kOwnBlocks,     ///< each thread reads, groups and scores blocks of its own
  kPairs,         ///< the same without grouping: each pair gets its distance at once
  kKeptBlocks,    ///< own blocks, which stay in memory for the query blocks that follow
};

/// How an index is searched.
enum class IndexWay : uint8_t {
  kOneByOne,  ///< a query block is one left row; partitions stay in memory where they fit
  kStreamed,  ///< each partition once a query block, through a cache of what fits
  kResident,  ///< each partition once a run
};

/// When a filter is evaluated.
enum class FilterWay : uint8_t {
  kFirst,   ///< once, on all right rows, before anything is ranked
  kBeside,  ///< on the rows of a partition when that is read
};

/// One way for each part of a join; those of parts that it hasn't say nothing.
struct Ways {
  ExactWay exact = ExactWay::kSharedBlocks;
  IndexWay index = IndexWay::kResident;
  FilterWay filter = FilterWay::kFirst;

  friend bool operator==(const Ways&, const Ways&) = default;
};

/// What tests and benches want a run to do; where nothing is said the planner chooses.
struct ForcedWays {
  std::optional<ExactWay> exact;
  std::optional<IndexWay> index;
  std::optional<FilterWay> filter;
};

/// What a way is taken to need.
struct Estimate {
  double seconds = 0;
  double bytes_read = 0;
};

/// A way that was thought of.
struct ConsideredWay {
  Ways ways;
  std::string name;
  Estimate estimate;
  int64_t memory_bytes = 0;  ///< planned; of one that doesn't fit what isn't planned is missing
  bool fits = false;
};

}  // namespace kinjo::join
