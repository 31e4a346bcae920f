// A search: one query, or a batch of them, asked of an open dataset. It is the join whose left rows
// are the queries, so that nothing is decided or computed in another way; only the columns that
// come out by default are a search's own.
#pragma once

#include <memory>

#include "base/error.h"
#include "dataset/dataset.h"
#include "join/knn_join.h"
#include "join/options.h"
#include "tabular/table_source.h"

namespace kinjo::join {

/// The options of the join that answers a search with `options`: no column of the queries unless
/// left_select names some; `_query_index` also when `queries` may hold other than one row; and `on`
/// names the right column alone when the queries have no column of that name.
JoinOptions SearchOptions(const JoinOptions& options, const tabular::TableSource& queries);

/// KnnJoin::Make with SearchOptions.
arrow::Result<std::unique_ptr<KnnJoin>> MakeSearch(std::shared_ptr<dataset::Dataset> dataset,
                                                   std::shared_ptr<tabular::TableSource> queries,
                                                   const JoinOptions& options);

}  // namespace kinjo::join
