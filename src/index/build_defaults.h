// What an index is built with where nothing is said: from the number of rows and the width, and in
// words why.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "format/index_file/index_files.h"

namespace kinjo::index {

/// Rows that a partition should hold, as Lance 14 has it: 4,096 for FLAT and RQ, 8,192 for PQ and
/// SQ, 1,048,576 under a graph.
int64_t TargetPartitionRows(format::IndexKind kind);

/// num_rows / target_partition_rows, at least 1 and at most 4,096; target 0 = TargetPartitionRows.
int64_t DefaultPartitions(format::IndexKind kind, int64_t num_rows, int64_t target_partition_rows);

/// The fewest sub-vectors of at most 8 elements (4 for codes of 4 bits, which come in pairs) that
/// divide the width: fewer lose too much, more cost as much again for little. An odd width has no
/// pairs: `invalid` for 4 bits.
arrow::Result<int64_t> DefaultSubVectors(int64_t dim, int num_bits);

/// One line each: "num_partitions = 122: 1,000,000 rows / 8,192 a partition".
std::string ExplainPartitions(format::IndexKind kind, int64_t num_rows,
                              int64_t target_partition_rows);
std::string ExplainSubVectors(int64_t dim, int num_bits, int64_t num_sub_vectors);

}  // namespace kinjo::index
