#include "join/search.h"

#include <utility>

namespace kinjo::join {

JoinOptions SearchOptions(const JoinOptions& options, const tabular::TableSource& queries) {
  JoinOptions result = options;
  if (!result.left_select.has_value()) result.left_select.emplace();
  if (queries.num_rows() != 1) result.with_query_index = true;
  if (!result.on.empty() && queries.schema()->GetAllFieldIndices(result.on).empty()) {
    if (result.right_on.empty()) result.right_on = result.on;
    result.on.clear();
  }
  return result;
}

arrow::Result<std::unique_ptr<KnnJoin>> MakeSearch(std::shared_ptr<dataset::Dataset> dataset,
                                                   std::shared_ptr<tabular::TableSource> queries,
                                                   const JoinOptions& options) {
  const JoinOptions search_options = SearchOptions(options, *queries);
  return KnnJoin::Make(std::move(queries), std::move(dataset), search_options);
}

}  // namespace kinjo::join
