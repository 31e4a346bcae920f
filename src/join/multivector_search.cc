#include "join/multivector_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "exec/multivector_estimate.h"

namespace kinjo::join {

namespace {

constexpr int64_t kListsPerItem = 16;

// A list that met too few rows looks for so many times more vectors.
constexpr int64_t kWantedGrowth = 4;

/// The vectors of some lists, one list after another.
exec::QueryLists SelectLists(const exec::QueryLists& lists, const std::vector<int64_t>& some) {
  exec::QueryLists out;
  out.vectors.metric = lists.vectors.metric;
  out.vectors.dim = lists.dim();
  for (const int64_t list : some) {
    const int64_t begin = lists.begins[list];
    const int64_t end = lists.begins[list + 1];
    out.vectors.values.insert(out.vectors.values.end(), lists.vectors.query(begin),
                              lists.vectors.query(begin) + (end - begin) * lists.dim());
    out.vectors.norms.insert(out.vectors.norms.end(), lists.vectors.norms.begin() + begin,
                             lists.vectors.norms.begin() + end);
    out.vectors.num_queries += end - begin;
    out.begins.push_back(out.vectors.num_queries);
  }
  return out;
}

}  // namespace

MultivectorSearch::MultivectorSearch(const JoinPlan& plan, base::ThreadPool* pool,
                                     base::CancelToken cancel, RunCounters* counters)
    : plan_(plan),
      pool_(pool),
      cancel_(std::move(cancel)),
      refiner_(plan, pool, cancel_, counters),
      exact_(plan, pool, cancel_, counters) {
  if (plan.uses_index()) prober_.emplace(plan, pool, cancel_, counters);
}

arrow::Status MultivectorSearch::EstimateSome(const exec::QueryLists& lists,
                                              const std::vector<int64_t>& some, int64_t wanted,
                                              exec::NeighborHeaps* rows,
                                              std::vector<int64_t>* unfinished) {
  const bool all = static_cast<int64_t>(some.size()) == lists.num_lists();
  const exec::QueryLists selected = all ? exec::QueryLists{} : SelectLists(lists, some);
  const exec::QueryLists& own = all ? lists : selected;
  found_.Reset(own.vectors.num_queries, wanted, exec::DistanceRange{});
  ARROW_RETURN_NOT_OK(prober_->Probe(own.vectors, wanted, &found_));
  std::vector<uint8_t> goes_on(some.size(), 0);
  const int64_t items = (own.num_lists() + kListsPerItem - 1) / kListsPerItem;
  ARROW_RETURN_NOT_OK(pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    const int64_t last = std::min(own.num_lists(), (item + 1) * kListsPerItem);
    for (int64_t list = item * kListsPerItem; list < last; ++list) {
      std::vector<std::vector<kernels::Neighbor>> found;
      bool more = false;
      Prober::Met* list_met = &met_[some[list]];
      list_met->all = true;
      for (int64_t query = own.begins[list]; query < own.begins[list + 1]; ++query) {
        found.push_back(found_.TakeSorted(query));
        more |= static_cast<int64_t>(found.back().size()) == wanted;
        list_met->all = list_met->all && prober_->met()[query].all;
      }
      const auto met = exec::EstimateRows(found);
      list_met->rows = static_cast<int64_t>(met.size());
      goes_on[list] = more && static_cast<int64_t>(met.size()) < plan_.options.k;
      if (goes_on[list] != 0) continue;
      for (const kernels::Neighbor& row : met) rows->Push(some[list], row);
    }
    return arrow::Status::OK();
  }));
  for (size_t i = 0; i < some.size(); ++i) {
    if (goes_on[i] != 0) unfinished->push_back(some[i]);
  }
  return arrow::Status::OK();
}

arrow::Status MultivectorSearch::Estimate(const exec::QueryLists& lists,
                                          exec::NeighborHeaps* rows) {
  std::vector<int64_t> pending(static_cast<size_t>(lists.num_lists()));
  std::iota(pending.begin(), pending.end(), int64_t{0});
  int64_t wanted = plan_.wanted;
  // The memory plan has room for this many vectors' finds.
  int64_t vectors_max = std::max(lists.vectors.num_queries, plan_.memory.block_vectors);
  while (!pending.empty()) {
    std::vector<int64_t> unfinished;
    for (size_t done = 0; done < pending.size();) {
      std::vector<int64_t> some;
      int64_t vectors = 0;
      while (done < pending.size() &&
             (some.empty() || vectors + lists.size(pending[done]) <= vectors_max)) {
        vectors += lists.size(pending[done]);
        some.push_back(pending[done++]);
      }
      ARROW_RETURN_NOT_OK(EstimateSome(lists, some, wanted, rows, &unfinished));
    }
    pending = std::move(unfinished);
    wanted *= kWantedGrowth;
    vectors_max = std::max<int64_t>(vectors_max / kWantedGrowth, 1);
  }
  return arrow::Status::OK();
}

arrow::Status MultivectorSearch::Search(const exec::QueryLists& lists, exec::NeighborHeaps* heaps,
                                        const MultivectorExactPath::OnRows& on_rows) {
  scanned_rows_ = 0;
  if (!plan_.uses_index()) {
    ARROW_RETURN_NOT_OK(exact_.Scan(lists, std::nullopt, heaps, on_rows));
    scanned_rows_ = exact_.matching_rows();
    return arrow::Status::OK();
  }
  met_.assign(static_cast<size_t>(lists.num_lists()), {});
  if (!plan_.refines) return Estimate(lists, heaps);
  candidates_.Reset(lists.num_lists(), plan_.candidates, plan_.range);
  ARROW_RETURN_NOT_OK(Estimate(lists, &candidates_));
  ARROW_RETURN_NOT_OK(refiner_.Refine(lists, &candidates_, heaps));
  if (!plan_.scans_unindexed()) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(exact_.Scan(lists, plan_.choice.index->unindexed_fragments, heaps, {}));
  scanned_rows_ = exact_.matching_rows();
  return arrow::Status::OK();
}

}  // namespace kinjo::join
