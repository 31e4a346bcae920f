// Which matches of a self-join come out when each pair of rows is wanted once. A pair {a, b} with b
// among the neighbours of a, or a among those of b, comes out at the earlier of the two if that row
// has the other among its neighbours, else at the later. So a row needs to know of the rows before
// it only, and the left side streams by once.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace kinjo::join {

/// Rows are named by their ordinals in the left side. One thread.
class PairSelection {
 public:
  /// Takes the neighbours of the next row (no ordinal twice, not the row itself) and tells which of
  /// them come out at this row: keep[i] is for neighbours[i]. Gives how many do.
  int64_t Next(std::span<const uint32_t> neighbours, std::vector<bool>* keep);

  /// What so many rows with at most `k` neighbours each take at most.
  static int64_t SizeBytes(int64_t rows, int64_t k);

 private:
  // The neighbours of each row that come after it, rising. In deques, which grow without a copy.
  std::deque<uint64_t> ends_;
  std::deque<uint32_t> later_;
};

}  // namespace kinjo::join
