#include "index/build_defaults.h"

#include <algorithm>

namespace kinjo::index {

namespace {

constexpr int64_t kMostPartitions = 4096;

// 1234567 as "1,234,567".
std::string Grouped(int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace

int64_t TargetPartitionRows(format::IndexKind kind) {
  if (kind.has_graph) return int64_t{1} << 20;
  const bool coded_in_bytes =
      kind.quantizer == format::QuantizerKind::kPq || kind.quantizer == format::QuantizerKind::kSq;
  return coded_in_bytes ? 8192 : 4096;
}

int64_t DefaultPartitions(format::IndexKind kind, int64_t num_rows, int64_t target_partition_rows) {
  const int64_t target =
      target_partition_rows == 0 ? TargetPartitionRows(kind) : target_partition_rows;
  return std::clamp<int64_t>(num_rows / target, 1, kMostPartitions);
}

arrow::Result<int64_t> DefaultSubVectors(int64_t dim, int num_bits) {
  const int64_t widest = num_bits == 4 ? 4 : 8;
  for (int64_t width = std::min(widest, dim); width >= 1; --width) {
    if (dim % width != 0) continue;
    if (num_bits == 4 && dim / width % 2 != 0) continue;
    return dim / width;
  }
  return base::Invalid("PQ codes of 4 bits come in pairs: vectors of ", dim,
                       " elements can't be cut into an even number of sub-vectors; take "
                       "num_bits = 8");
}

std::string ExplainPartitions(format::IndexKind kind, int64_t num_rows,
                              int64_t target_partition_rows) {
  const int64_t target =
      target_partition_rows == 0 ? TargetPartitionRows(kind) : target_partition_rows;
  const int64_t partitions = DefaultPartitions(kind, num_rows, target);
  std::string text = base::Concat("num_partitions = ", partitions, ": ", Grouped(num_rows),
                                  " rows / ", Grouped(target), " a partition");
  if (num_rows / target < 1) text += ", at least 1";
  if (num_rows / target > kMostPartitions) text += ", at most 4,096";
  return text;
}

std::string ExplainSubVectors(int64_t dim, int num_bits, int64_t num_sub_vectors) {
  return base::Concat("num_sub_vectors = ", num_sub_vectors, ": ", dim, " elements / ",
                      dim / num_sub_vectors, " a sub-vector, ", num_sub_vectors * num_bits / 8,
                      " bytes a row");
}

}  // namespace kinjo::index
