#include "exec/operators/exact_distances.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "exec/exact_rows.h"
#include "exec/list_rows.h"
#include "exec/multivector_array.h"

namespace kinjo::exec {

namespace {

constexpr int64_t kRowsPerItem = 1024;

}  // namespace

arrow::Result<ExactDistances> ExactDistances::Make(const VectorQuery& query,
                                                   const arrow::DataType& type, std::string what) {
  ExactDistances out;
  out.is_multivector_ = MultivectorTypeOf(type).has_value();
  out.what_ = std::move(what);
  ARROW_ASSIGN_OR_RAISE(out.query_.vectors, ToQueryRows(query));
  if (out.query_.vectors.num_queries > 0) {
    out.query_.begins.push_back(out.query_.vectors.num_queries);
  }
  return out;
}

template <typename Rows, typename Queries>
arrow::Status ExactDistances::ScoreRows(const Rows& rows, const Queries& queries, PlanRun* run,
                                        std::vector<float>* distances) const {
  const int64_t num_rows = rows.num_rows();
  const int64_t items = (num_rows + kRowsPerItem - 1) / kRowsPerItem;
  return run->pool()->ParallelFor(items, run->cancel(), [&](int64_t item, int) {
    const int64_t end = std::min(num_rows, (item + 1) * kRowsPerItem);
    for (int64_t row = item * kRowsPerItem; row < end; ++row) {
      if (!rows.can_match(row)) continue;
      const ScorePair pair{0, static_cast<uint32_t>(row)};
      rows.Score(queries, {&pair, 1}, distances->data() + row);
    }
    return arrow::Status::OK();
  });
}

arrow::Result<std::vector<float>> ExactDistances::Score(
    const std::shared_ptr<arrow::Array>& vectors, int64_t first_row, PlanRun* run) const {
  std::vector<float> distances(static_cast<size_t>(vectors->length()),
                               std::numeric_limits<float>::quiet_NaN());
  if (query_.num_lists() == 0) return distances;
  const VectorRead read{
      .what = what_, .first_row = first_row, .width = query_.dim(), .expected = "the query"};
  const kernels::Metric metric = query_.vectors.metric;
  if (is_multivector_) {
    ARROW_ASSIGN_OR_RAISE(const ListRows rows, ListRows::Read(metric, vectors, read));
    ARROW_RETURN_NOT_OK(ScoreRows(rows, query_, run, &distances));
  } else {
    ARROW_ASSIGN_OR_RAISE(const ExactRows rows, ExactRows::Read(metric, vectors, read));
    ARROW_RETURN_NOT_OK(ScoreRows(rows, query_.vectors, run, &distances));
  }
  return distances;
}

}  // namespace kinjo::exec
