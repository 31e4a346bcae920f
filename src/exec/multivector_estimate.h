// From what the vectors of a left list found in an index to the right rows worth a look: each row's
// distance, estimated from the nearest vector of it that each left vector met.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/top_k.h"

namespace kinjo::exec {

/// The rows that the vectors of one left list met. A vector that didn't meet a row counts with the
/// distance of the farthest that it found, or 1 if it found nothing. Takes the memory of the rows,
/// however many vectors met them.
class RowEstimates {
 public:
  /// Adds what the next vector of the list found: right vectors, nearest first, each by the address
  /// of its row (which may come several times). The distances are summed in double, in the order of
  /// these calls.
  void Add(std::span<const kernels::Neighbor> found);

  int64_t num_rows() const { return static_cast<int64_t>(rows_.size()); }
  /// Every row that a vector met, by rising address.
  std::vector<kernels::Neighbor> Rows() const;

 private:
  struct Row {
    uint64_t address;
    double sum;
  };

  std::vector<Row> rows_;  // by rising address
  double unmet_ = 0;       // the sum of a row that no vector met
  // Of one Add; kept for their capacity.
  std::vector<kernels::Neighbor> nearest_;
  std::vector<Row> merged_;
};

}  // namespace kinjo::exec
