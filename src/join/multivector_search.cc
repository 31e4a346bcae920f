#include "join/multivector_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kinjo::join {

namespace {

constexpr int64_t kListsPerItem = 16;

// A list that met too few rows looks for so many times more vectors.
constexpr int64_t kWantedGrowth = 4;

/// Appends the vectors [begin, end) as one more list.
void AppendVectors(const exec::QueryLists& lists, int64_t begin, int64_t end,
                   exec::QueryLists* out) {
  out->vectors.metric = lists.vectors.metric;
  out->vectors.dim = lists.dim();
  out->vectors.values.insert(out->vectors.values.end(), lists.vectors.query(begin),
                             lists.vectors.query(begin) + (end - begin) * lists.dim());
  out->vectors.norms.insert(out->vectors.norms.end(), lists.vectors.norms.begin() + begin,
                            lists.vectors.norms.begin() + end);
  out->vectors.num_queries += end - begin;
  out->begins.push_back(out->vectors.num_queries);
}

/// The vectors of some lists, one list after another.
exec::QueryLists SelectLists(const exec::QueryLists& lists, const std::vector<int64_t>& some) {
  exec::QueryLists out;
  for (const int64_t list : some) {
    AppendVectors(lists, lists.begins[list], lists.begins[list + 1], &out);
  }
  return out;
}

/// Appends what `vectors` vectors of a list may find.
void AppendVectorsOf(const exec::QueryEligibility* of_lists, int64_t list, int64_t vectors,
                     exec::QueryEligibility* out) {
  if (of_lists == nullptr || !of_lists->excludes) return;
  out->excludes = true;
  out->selves = of_lists->selves;
  out->self.insert(out->self.end(), static_cast<size_t>(vectors), of_lists->self[list]);
}

}  // namespace

MultivectorSearch::MultivectorSearch(const JoinPlan& plan, base::ThreadPool* pool,
                                     base::CancelToken cancel, RunCounters* counters)
    : plan_(plan),
      pool_(pool),
      cancel_(std::move(cancel)),
      refiner_(plan, pool, cancel_, counters),
      exact_(plan, pool, cancel_, counters) {
  if (!plan.uses_index()) return;
  prober_.emplace(plan, pool, cancel_, counters);
  for (const auto& segment : plan.choice.index->segments) {
    for (int64_t p = 0; p < segment->num_partitions(); ++p) {
      indexed_vectors_ += static_cast<int64_t>(segment->partition_rows(p));
    }
  }
}

void MultivectorSearch::AddFound(int64_t begin, int64_t end, int64_t wanted, ListSearch* search) {
  for (int64_t query = begin; query < end; ++query) {
    const std::vector<kernels::Neighbor> found = found_.TakeSorted(query);
    search->may_find_more |= static_cast<int64_t>(found.size()) == wanted;
    search->met_all = search->met_all && prober_->met()[query].all;
    search->rows.Add(found);
  }
}

bool MultivectorSearch::Finish(const ListSearch& search, int64_t list, exec::NeighborHeaps* rows) {
  met_[list] = {.rows = search.rows.num_rows(), .all = search.met_all};
  if (search.may_find_more && search.rows.num_rows() < plan_.options.k) return false;
  for (const kernels::Neighbor& row : search.rows.Rows()) rows->Push(list, row);
  return true;
}

arrow::Status MultivectorSearch::EstimateSome(const exec::QueryLists& lists,
                                              const std::vector<int64_t>& some, int64_t wanted,
                                              exec::NeighborHeaps* rows,
                                              std::vector<int64_t>* unfinished) {
  const bool all = static_cast<int64_t>(some.size()) == lists.num_lists();
  const exec::QueryLists selected = all ? exec::QueryLists{} : SelectLists(lists, some);
  const exec::QueryLists& own = all ? lists : selected;
  eligibility_ = {};
  for (const int64_t list : some) {
    AppendVectorsOf(rows->eligibility(), list, lists.size(list), &eligibility_);
  }
  eligibility_.Finish();
  found_.Reset(own.vectors.num_queries, wanted, exec::DistanceRange{}, &eligibility_);
  ARROW_RETURN_NOT_OK(prober_->Probe(own.vectors, wanted, &found_));
  std::vector<uint8_t> is_done(some.size(), 0);
  const int64_t items = (own.num_lists() + kListsPerItem - 1) / kListsPerItem;
  ARROW_RETURN_NOT_OK(pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    const int64_t last = std::min(own.num_lists(), (item + 1) * kListsPerItem);
    for (int64_t list = item * kListsPerItem; list < last; ++list) {
      ListSearch search;
      AddFound(own.begins[list], own.begins[list + 1], wanted, &search);
      is_done[list] = Finish(search, some[list], rows);
    }
    return arrow::Status::OK();
  }));
  for (size_t i = 0; i < some.size(); ++i) {
    if (is_done[i] == 0) unfinished->push_back(some[i]);
  }
  return arrow::Status::OK();
}

arrow::Status MultivectorSearch::EstimateLong(const exec::QueryLists& lists, int64_t list,
                                              int64_t wanted, int64_t vectors_at_once,
                                              exec::NeighborHeaps* rows,
                                              std::vector<int64_t>* unfinished) {
  ListSearch search;
  const int64_t end = lists.begins[list + 1];
  for (int64_t first = lists.begins[list]; first < end; first += vectors_at_once) {
    exec::QueryLists part;
    AppendVectors(lists, first, std::min(end, first + vectors_at_once), &part);
    const int64_t num_queries = part.vectors.num_queries;
    eligibility_ = {};
    AppendVectorsOf(rows->eligibility(), list, num_queries, &eligibility_);
    eligibility_.Finish();
    found_.Reset(num_queries, wanted, exec::DistanceRange{}, &eligibility_);
    ARROW_RETURN_NOT_OK(prober_->Probe(part.vectors, wanted, &found_));
    AddFound(0, num_queries, wanted, &search);
  }
  if (!Finish(search, list, rows)) unfinished->push_back(list);
  return arrow::Status::OK();
}

arrow::Result<int64_t> MultivectorSearch::VectorsAtOnce(int64_t wanted) const {
  const MemoryPlan& memory = plan_.memory;
  const int64_t found_max = std::max<int64_t>(1, std::min(wanted, indexed_vectors_));
  const int64_t vectors = memory.block_vectors * plan_.wanted / found_max;
  if (vectors > 0) return vectors;
  return BlockTooSmall(
      memory, (found_max + plan_.wanted - 1) / plan_.wanted,
      base::Concat(plan_.left_vector.what, ": a vector looks at ", found_max,
                   " others to meet k = ", plan_.options.k, " rows, in the room of ",
                   (found_max + plan_.wanted - 1) / plan_.wanted, " vectors"));
}

arrow::Status MultivectorSearch::Estimate(const exec::QueryLists& lists,
                                          exec::NeighborHeaps* rows) {
  std::vector<int64_t> pending(static_cast<size_t>(lists.num_lists()));
  std::iota(pending.begin(), pending.end(), int64_t{0});
  for (int64_t wanted = plan_.wanted; !pending.empty(); wanted *= kWantedGrowth) {
    ARROW_ASSIGN_OR_RAISE(const int64_t vectors_max, VectorsAtOnce(wanted));
    std::vector<int64_t> unfinished;
    for (size_t done = 0; done < pending.size();) {
      if (lists.size(pending[done]) > vectors_max) {
        ARROW_RETURN_NOT_OK(
            EstimateLong(lists, pending[done++], wanted, vectors_max, rows, &unfinished));
        continue;
      }
      std::vector<int64_t> some;
      int64_t vectors = 0;
      while (done < pending.size() && vectors + lists.size(pending[done]) <= vectors_max) {
        vectors += lists.size(pending[done]);
        some.push_back(pending[done++]);
      }
      ARROW_RETURN_NOT_OK(EstimateSome(lists, some, wanted, rows, &unfinished));
    }
    pending = std::move(unfinished);
  }
  return arrow::Status::OK();
}

arrow::Status MultivectorSearch::Search(const exec::QueryLists& lists, exec::NeighborHeaps* heaps,
                                        const MultivectorExactPath::OnRows& on_rows) {
  if (!plan_.uses_index()) return exact_.Scan(lists, std::nullopt, heaps, on_rows);
  met_.assign(static_cast<size_t>(lists.num_lists()), {});
  if (!plan_.refines) return Estimate(lists, heaps);
  candidates_.Reset(lists.num_lists(), plan_.candidates, plan_.candidate_range(),
                    heaps->eligibility());
  ARROW_RETURN_NOT_OK(Estimate(lists, &candidates_));
  ARROW_RETURN_NOT_OK(refiner_.Refine(lists, &candidates_, heaps));
  if (!plan_.scans_unindexed()) return arrow::Status::OK();
  return exact_.Scan(lists, plan_.choice.index->unindexed_fragments, heaps, {});
}

}  // namespace kinjo::join
