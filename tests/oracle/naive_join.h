// A join written as it is told in docs/semantics.md: left rows one after another, every row of
// every visited partition scored by itself, everything sorted. Knows no blocks, threads, bounds or
// heaps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "join/options.h"
#include "tests/oracle/naive_segment.h"

namespace kinjo::oracle {

/// A right row. `vector` is empty for null.
struct NaiveRow {
  uint64_t address = 0;
  uint64_t row_id = 0;
  uint64_t fragment = 0;
  bool live = true;
  bool passes = true;  ///< the filter
  Numbers vector;
};

/// A segment of the index and the fragments that it covers.
struct NaiveDelta {
  std::shared_ptr<NaiveSegment> segment;
  std::vector<uint64_t> fragments;
};

struct NaiveRight {
  std::vector<NaiveRow> rows;
  std::vector<NaiveDelta> deltas;  ///< empty without an index
};

struct NaiveMatch {
  float distance = 0;
  const NaiveRow* row = nullptr;
};

/// The matches of one left vector (empty for null), best first.
std::vector<NaiveMatch> NaiveJoin(const Numbers& left, const NaiveRight& right,
                                  const std::string& metric, const join::JoinOptions& options);

}  // namespace kinjo::oracle
