#include "kernels/byte_scan.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/kernel_table.h"

namespace kinjo::kernels {

namespace {

// Four bytes that stand for 0; flips a byte b to b - 128 as a signed one, and back.
constexpr auto kNoElements = static_cast<int32_t>(0x80808080u);

}  // namespace

bool ScansBytes(int64_t dim) { return ScansCodes(dim) && Kernels().scan_bytes != nullptr; }

void GroupedBytes::Reset(int64_t num_rows, int64_t dim) {
  num_rows_ = num_rows;
  dim_ = dim;
  const int64_t slots = num_groups() * kGroupRows;
  words_.resize(static_cast<size_t>(slots * CodeSteps(dim)));
  norms2_.resize(static_cast<size_t>(slots));
}

void GroupedBytes::StoreGroup(int64_t group, const uint8_t* const* rows) {
  const int64_t first = group * kGroupRows;
  Kernels().group_rows_of_bytes(rows, dim_, words_.data() + first * CodeSteps(dim_),
                                norms2_.data() + first);
  // No row: k is 0, and beyond every bound.
  for (int64_t slot = std::max(first, num_rows_); slot < first + kGroupRows; ++slot) {
    int32_t* to = words_.data() + first * CodeSteps(dim_) + slot % kGroupRows;
    for (int64_t step = 0; step < CodeSteps(dim_); ++step) to[step * kGroupRows] = kNoElements;
    norms2_[slot] = std::numeric_limits<int32_t>::max();
  }
}

void PackedBytes::Reset(int64_t num_queries, int64_t dim) {
  num_queries_ = num_queries;
  dim_ = dim;
  const int64_t slots = (num_queries + kByteTile - 1) / kByteTile * kByteTile;
  words_.resize(static_cast<size_t>(slots * CodeSteps(dim)));
  starts_.resize(static_cast<size_t>(slots));
  norms2_.resize(static_cast<size_t>(slots));
  limits_.resize(static_cast<size_t>(slots));
  // Slots beyond the last query let nothing through, whatever their words are.
  for (int64_t slot = num_queries; slot < slots; ++slot) {
    int32_t* to = words_.data() + slot / kByteTile * CodeSteps(dim) * kByteTile + slot % kByteTile;
    for (int64_t step = 0; step < CodeSteps(dim); ++step) to[step * kByteTile] = 0;
    starts_[slot] = norms2_[slot] = 0;
    limits_[slot] = std::numeric_limits<int32_t>::min();
  }
}

void PackedBytes::Set(int64_t query, const uint8_t* bytes) {
  int32_t sum = 0;
  Kernels().sum_query_bytes(bytes, dim_, &sum, &norms2_[query]);
  int32_t* to = words_.data() + query / kByteTile * CodeSteps(dim_) * kByteTile + query % kByteTile;
  int64_t step = 0;
  for (; 4 * step + 4 <= dim_; ++step) {
    int32_t word;
    std::memcpy(&word, bytes + 4 * step, 4);
    to[step * kByteTile] = word ^ kNoElements;
  }
  if (4 * step < dim_) {
    int32_t word = kNoElements;
    std::memcpy(&word, bytes + 4 * step, static_cast<size_t>(dim_ - 4 * step));
    to[step * kByteTile] = word ^ kNoElements;
  }
  starts_[query] = -128 * sum;
}

int64_t ScanBytes(const ByteScan& scan, ByteHit* hits) { return Kernels().scan_bytes(scan, hits); }

void LeastBytes(const ByteScan& scan, int64_t sets, int32_t* minima) {
  Kernels().least_bytes(scan, sets, minima);
}

}  // namespace kinjo::kernels
