#include "exec/query_lists.h"

#include <numeric>
#include <utility>

#include "exec/exact_rows.h"

namespace kinjo::exec {

namespace {

/// Appends a finite vector unless it is zero; false then.
bool AppendVector(const double* vector, int64_t dim, QueryRows* out) {
  const size_t before = out->values.size();
  out->values.insert(out->values.end(), vector, vector + dim);
  const double norm = ScaleForCosine(out->values.data() + before, dim);
  if (norm == 0) {
    out->values.resize(before);
    return false;
  }
  out->norms.push_back(norm);
  ++out->num_queries;
  return true;
}

}  // namespace

arrow::Status AppendLists(const FlatLists& lists, const VectorRead& read, QueryLists* out,
                          std::vector<VectorState>* states) {
  ARROW_ASSIGN_OR_RAISE(VectorRows<double> rows,
                        ReadVectors<double>(lists.vectors, ReadOfVectors(read, lists)));
  if (rows.width > 0) out->vectors.dim = rows.width;
  for (int64_t row = 0; row < lists.num_rows(); ++row) {
    const int64_t begin = lists.begins[row];
    const int64_t end = lists.begins[row + 1];
    for (int64_t i = begin; i < end; ++i) {
      if (rows.states[i] != VectorState::kValid) continue;
      if (!AppendVector(rows.row(i), rows.width, &out->vectors)) {
        rows.states[i] = VectorState::kNonFinite;
      }
    }
    states->push_back(
        StateOfList(std::span(rows.states)
                        .subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin))));
    if (states->back() == VectorState::kValid) out->begins.push_back(out->vectors.num_queries);
  }
  return arrow::Status::OK();
}

QueryLists ListsOfOne(QueryRows vectors) {
  QueryLists lists;
  lists.vectors = std::move(vectors);
  lists.begins.resize(static_cast<size_t>(lists.vectors.num_queries) + 1);
  std::iota(lists.begins.begin(), lists.begins.end(), int64_t{0});
  return lists;
}

}  // namespace kinjo::exec
