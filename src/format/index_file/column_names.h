// The names of the columns in index files.
#pragma once

namespace kinjo::format {

// auxiliary.idx: the row ids, and each quantizer's codes.
inline constexpr const char* kRowIdColumn = "_rowid";
inline constexpr const char* kFlatColumn = "flat";
inline constexpr const char* kPqColumn = "__pq_code";
inline constexpr const char* kSqColumn = "__sq_code";
inline constexpr const char* kRqSignColumn = "_rabit_codes";
inline constexpr const char* kRqExColumn = "__blocked_ex_codes";
// The factors of RQ: of the sign bits alone, and of all bits where there are more.
inline constexpr const char* kRqAddColumn = "__add_factors";
inline constexpr const char* kRqScaleColumn = "__scale_factors";
inline constexpr const char* kRqErrorColumn = "__error_factors";
inline constexpr const char* kRqExAddColumn = "__add_factors_ex";
inline constexpr const char* kRqExScaleColumn = "__scale_factors_ex";

// index.idx: a column without rows, or the nodes of the graphs and what they know.
inline constexpr const char* kMarkerColumn = "__flat_marker";
inline constexpr const char* kNodeColumn = "__vector_id";
inline constexpr const char* kNeighborsColumn = "__neighbors";
inline constexpr const char* kNeighborDistanceColumn = "_distance";

}  // namespace kinjo::format
