// What a nearest search asks for, and the columns that its operators hand each other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrow/type.h"
#include "base/error.h"
#include "exec/neighbor_heaps.h"
#include "exec/query_rows.h"
#include "kernels/metric.h"

namespace kinjo::exec {

inline constexpr const char* kDistanceColumn = "_distance";
inline constexpr const char* kRowIdColumn = "_rowid";
inline constexpr const char* kPartitionIdColumn = "__ivf_part_id";
inline constexpr const char* kCentroidDistanceColumn = "__dist_q_c";
inline constexpr const char* kIndexUuidColumn = "__index_uuid";

/// _distance float32, _rowid uint64.
std::shared_ptr<arrow::Schema> NeighborSchema();
/// __ivf_part_id list<uint32 not null> not null, __dist_q_c list<float32 not null> not null,
/// __index_uuid utf8 not null.
std::shared_ptr<arrow::Schema> PartitionSchema();

/// One query. A plain record; whoever makes it has judged it (the operators check what they would
/// crash on).
struct VectorQuery {
  std::string column;
  std::vector<double> vector;  ///< [num_vectors][width]
  int64_t num_vectors = 1;     ///< more only for multivector columns
  int64_t k = 10;
  kernels::Metric metric = kernels::Metric::kL2;  ///< of the index, where one is searched
  int64_t minimum_nprobes = 1;
  std::optional<int64_t> maximum_nprobes;
  /// The first round is adaptive, between the minimum and the maximum (Lance 14); else it is the
  /// minimum.
  bool adaptive_nprobes = false;
  double search_effort = 0.5;  ///< of an adaptive first round, in [0, 1]; more visits more
  std::optional<int64_t> refine_factor;
  std::optional<int64_t> ef;  ///< breadth of a graph search; nothing = max(256, 1.5 candidates)
  std::optional<DistanceRange> distance_range;

  /// Rows that a segment is asked for: k * refine_factor.
  int64_t candidates() const { return k * refine_factor.value_or(1); }
  DistanceRange range() const { return distance_range.value_or(DistanceRange()); }
};

/// The query's vectors that can match: those whose elements are all finite, and for cosine not all
/// zero. For ExactRows::Score; there may be none. Elements that aren't bytes are `invalid` for
/// hamming.
arrow::Result<QueryRows> ToQueryRows(const VectorQuery& query);

/// False when ToQueryRows would give none.
bool CanMatch(const VectorQuery& query);

/// The field of a vector column: fixed-size lists or lists of numbers, or lists of the first
/// (multivectors). A missing column is `not_found` and lists those there are; any other type is
/// `invalid`. `where` says whose schema it is.
arrow::Result<std::shared_ptr<arrow::Field>> FindVectorField(const arrow::Schema& schema,
                                                             const std::string& column,
                                                             const std::string& where);

/// `invalid` unless the query can be compared with vectors of the type that FindVectorField gave:
/// as wide, several vectors and cosine for multivectors only, bytes for hamming.
arrow::Status CheckQueryFits(const VectorQuery& query, const arrow::DataType& type);

}  // namespace kinjo::exec
