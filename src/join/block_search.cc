#include "join/block_search.h"

#include <algorithm>
#include <utility>

namespace kinjo::join {

namespace {

constexpr int64_t kQueriesPerItem = 512;

}  // namespace

BlockSearch::BlockSearch(const JoinPlan& plan, const EligibleRows* eligible, base::ThreadPool* pool,
                         base::CancelToken cancel, RunCounters* counters)
    : plan_(plan),
      scored_plan_(plan),
      eligible_(eligible),
      pool_(pool),
      cancel_(std::move(cancel)),
      exact_(plan, pool, cancel_, counters),
      scored_(scored_plan_, pool, cancel_, counters),
      refiner_(plan, pool, cancel_, counters) {
  scored_plan_.LeaveIndex();
  // Each block has rows of its own.
  if (plan.ways.exact == ExactWay::kKeptBlocks) scored_plan_.ways.exact = ExactWay::kOwnBlocks;
  if (plan.multivector()) {
    multivector_.emplace(plan, pool, cancel_, counters);
  } else if (plan.uses_index()) {
    prober_.emplace(plan, pool, cancel_, counters);
  }
}

arrow::Status BlockSearch::Drain(Matches* matches) {
  const size_t before = matches->size();
  const auto count = static_cast<size_t>(heaps_.num_queries());
  matches->resize(before + count);
  for (size_t query = 0; query < count; ++query) {
    Prober::Met met;
    if (met_in_index_ != nullptr) met = (*met_in_index_)[query];
    if (heaps_tell_rows_) met.rows += heaps_.met(static_cast<int64_t>(query));
    met_.push_back(met);
  }
  const int64_t items = (heaps_.num_queries() + kQueriesPerItem - 1) / kQueriesPerItem;
  return pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    const int64_t end = std::min(heaps_.num_queries(), (item + 1) * kQueriesPerItem);
    for (int64_t query = item * kQueriesPerItem; query < end; ++query) {
      (*matches)[before + query] = heaps_.TakeSorted(query);
    }
    return arrow::Status::OK();
  });
}

arrow::Status BlockSearch::SearchLists(const LeftBlock& block,
                                       const std::function<void(int64_t)>& on_rows) {
  heaps_.Reset(block.lists.num_lists(), plan_.options.k, plan_.range, &block.eligibility);
  ARROW_RETURN_NOT_OK(multivector_->Search(block.lists, &heaps_, on_rows));
  if (plan_.uses_index()) met_in_index_ = &multivector_->met();
  return arrow::Status::OK();
}

arrow::Status BlockSearch::SearchQueries(const LeftBlock& block,
                                         const std::function<void(int64_t)>& on_rows) {
  const exec::QueryRows& queries = block.queries;
  heaps_.Reset(queries.num_queries, plan_.options.k, plan_.range, &block.eligibility);
  if (!plan_.uses_index()) return exact_.Scan(queries, std::nullopt, &heaps_, on_rows);
  if (!plan_.refines) {
    ARROW_RETURN_NOT_OK(prober_->Probe(queries, plan_.options.k, &heaps_));
    met_in_index_ = &prober_->met();
    heaps_tell_rows_ = false;  // the same once more
    return arrow::Status::OK();
  }
  candidates_.Reset(queries.num_queries, plan_.candidates, plan_.candidate_range(),
                    &block.eligibility);
  ARROW_RETURN_NOT_OK(prober_->Probe(queries, plan_.options.k, &candidates_));
  met_in_index_ = &prober_->met();
  ARROW_RETURN_NOT_OK(refiner_.Refine(queries, &candidates_, &heaps_));
  if (!plan_.scans_unindexed()) return arrow::Status::OK();
  return exact_.Scan(queries, plan_.choice.index->unindexed_fragments, &heaps_, {});
}

arrow::Status BlockSearch::ScoreGroups(const LeftBlock& block, Matches* matches) {
  if (block.few.rows.num_queries == 0) return arrow::Status::OK();
  std::vector<uint32_t> groups = block.few.eligibility.group;
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  scored_plan_.rows = eligible_->RowsOf(groups);
  met_in_index_ = nullptr;
  heaps_tell_rows_ = true;
  heaps_.Reset(block.few.rows.num_queries, plan_.options.k, plan_.range, &block.few.eligibility);
  ARROW_RETURN_NOT_OK(scored_.Scan(block.few.rows, std::nullopt, &heaps_, {}));
  scored_plan_.rows.reset();
  return Drain(matches);
}

arrow::Result<Matches> BlockSearch::Search(const LeftBlock& block,
                                           const std::function<void(int64_t)>& on_rows) {
  Matches matches;
  matches.reserve(static_cast<size_t>(block.num_queries));
  met_.clear();
  met_in_index_ = nullptr;
  heaps_tell_rows_ = true;
  if (multivector_.has_value() && block.lists.num_lists() > 0) {
    ARROW_RETURN_NOT_OK(SearchLists(block, on_rows));
    ARROW_RETURN_NOT_OK(Drain(&matches));
  } else if (block.queries.num_queries > 0) {
    ARROW_RETURN_NOT_OK(SearchQueries(block, on_rows));
    ARROW_RETURN_NOT_OK(Drain(&matches));
  }
  ARROW_RETURN_NOT_OK(ScoreGroups(block, &matches));
  matches.resize(static_cast<size_t>(block.num_queries));
  met_.resize(matches.size());
  return matches;
}

}  // namespace kinjo::join
