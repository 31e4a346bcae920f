#include "exec/operators/exact_distances.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "exec/exact_rows.h"

namespace kinjo::exec {

namespace {

constexpr int64_t kRowsPerItem = 1024;

}  // namespace

arrow::Result<ExactDistances> ExactDistances::Make(const VectorQuery& query, std::string what) {
  ExactDistances out;
  out.dim_ = static_cast<int64_t>(query.vector.size());
  out.what_ = std::move(what);
  out.query_.metric = query.metric;
  if (!CanMatch(query)) return out;
  ARROW_ASSIGN_OR_RAISE(out.query_, ToQueryRows(query));
  return out;
}

arrow::Result<std::vector<float>> ExactDistances::Score(
    const std::shared_ptr<arrow::Array>& vectors, int64_t first_row, PlanRun* run) const {
  const VectorRead read{
      .what = what_, .first_row = first_row, .width = dim_, .expected = "the query"};
  ARROW_ASSIGN_OR_RAISE(const ExactRows rows, ExactRows::Read(query_.metric, vectors, read));
  std::vector<float> distances(static_cast<size_t>(vectors->length()),
                               std::numeric_limits<float>::quiet_NaN());
  if (query_.num_queries == 0) return distances;
  const int64_t items = (vectors->length() + kRowsPerItem - 1) / kRowsPerItem;
  ARROW_RETURN_NOT_OK(run->pool()->ParallelFor(items, run->cancel(), [&](int64_t item, int) {
    const int64_t end = std::min(vectors->length(), (item + 1) * kRowsPerItem);
    for (int64_t row = item * kRowsPerItem; row < end; ++row) {
      if (!rows.can_match(row)) continue;
      const ScorePair pair{0, static_cast<uint32_t>(row)};
      rows.Score(query_, {&pair, 1}, &distances[row]);
    }
    return arrow::Status::OK();
  }));
  return distances;
}

}  // namespace kinjo::exec
