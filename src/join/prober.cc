#include "join/prober.h"

#include <numeric>
#include <optional>
#include <span>

#include "join/partition_filter.h"
#include "join/temporary_index.h"

namespace kinjo::join {

namespace {

constexpr int kPlaceBits = 18;
constexpr int64_t kVisitsForSeeds = 12;  // of a partition, on average
// From so many queries on reading the partitions is a small part of a search: a dataset that stays
// open needn't keep what such a block has read for the next one.
constexpr int64_t kQueriesToReadOnce = 1024;

}  // namespace

Prober::Prober(const JoinPlan& plan, base::ThreadPool* pool, base::CancelToken cancel,
               RunCounters* counters)
    : plan_(plan),
      pool_(pool),
      cancel_(std::move(cancel)),
      counters_(counters),
      cache_(plan.partitions != nullptr
                 ? plan.partitions
                 : std::make_shared<exec::PartitionCache>(plan.memory.cache_bytes)),
      workers_(static_cast<size_t>(pool->size())) {
  const ChosenIndex& chosen = *plan.choice.index;
  const auto filter = MakePartitionFilter(plan, cancel_, counters);
  const dataset::Dataset* const dataset = IsTemporary(plan) ? nullptr : plan.right->dataset().get();
  for (size_t i = 0; i < chosen.segments.size(); ++i) {
    batches_.push_back(std::make_unique<exec::AnnIvfBatch>(
        exec::AnnIvfBatch::Source{.segment = chosen.segments[i],
                                  .dataset = dataset,
                                  .info = chosen.info.segments[i],
                                  .ordinal = i,
                                  .mask = plan.rows,
                                  .filter = filter,
                                  .ef = plan.ef},
        cache_.get(), &counters->batch, pool_, cancel_, &workers_));
  }
}

exec::ProbeLimits Prober::Limits() const {
  exec::ProbeLimits limits = plan_.probes;
  limits.any_order = true;
  uint64_t rows = 0;
  for (const auto& segment : plan_.choice.index->segments) {
    for (int64_t p = 0; p < segment->num_partitions(); ++p) rows += segment->partition_rows(p);
  }
  // No query can meet so many rows: the late search would end with every partition, one a round.
  if (rows <= static_cast<uint64_t>(wanted_)) limits.minimum = INT64_MAX;
  return limits;
}

arrow::Status Prober::Rank(const exec::QueryRows& queries, Rankings* rankings) {
  const PhaseTimer timer(&counters_->rank_ns);
  const exec::ProbeLimits limits = Limits();
  const std::vector<double> bytes(queries.bytes.begin(), queries.bytes.end());
  for (const auto& segment : plan_.choice.index->segments) {
    if (segment->dim() != queries.dim) {
      return base::Invalid("vectors of different widths: ", plan_.left_vector.what, " has ",
                           queries.dim, " elements, the index of ", plan_.right_vector.what,
                           " has ", segment->dim());
    }
    auto ranking = std::make_unique<exec::AnnIvfPartition>(segment, pool_, cancel_);
    ARROW_RETURN_NOT_OK(ranking->Start(bytes.empty() ? queries.values : bytes, wanted_, limits));
    counters_->partitions_ranked.fetch_add(segment->num_partitions() * queries.num_queries,
                                           std::memory_order_relaxed);
    rankings->push_back(std::move(ranking));
  }
  return arrow::Status::OK();
}

arrow::Status Prober::Visit(size_t segment, const exec::AnnIvfPartition& ranking,
                            const std::vector<exec::Probe>& probes, bool wanted_again,
                            exec::NeighborHeaps* heaps) {
  if (probes.empty()) return arrow::Status::OK();
  const auto list = exec::ProbeList::Invert(probes, ranking.segment().num_partitions());
  return batches_[segment]->Scan(ranking.queries(), list, heaps, wanted_again);
}

bool Prober::ReadsOnce(const exec::QueryRows& queries) const {
  const std::optional<int64_t> left_rows = plan_.left->num_rows();
  return queries.num_queries >= kQueriesToReadOnce && plan_.probes.nprobes.has_value() &&
         plan_.partitions == nullptr && plan_.memory.keeps_index && !plan_.multivector() &&
         left_rows.has_value() && *left_rows <= plan_.memory.block_vectors;
}

// A row nearer than the range may not come out.
std::vector<uint32_t> Prober::Unfinished(const Rankings& rankings, const exec::NeighborHeaps& heaps,
                                         const std::vector<uint32_t>& among) const {
  std::vector<uint32_t> queries;
  for (const uint32_t query : among) {
    if (heaps.size(query) >= wanted_) continue;
    if (heaps.met(query) - heaps.nearer_than_range(query) >= wanted_) continue;
    for (const auto& ranking : rankings) {
      if (!ranking->has_next(query)) continue;
      queries.push_back(query);
      break;
    }
  }
  return queries;
}

arrow::Status Prober::LateSearch(const Rankings& rankings, exec::NeighborHeaps* heaps) {
  if (plan_.probes.nprobes.has_value()) return arrow::Status::OK();
  std::vector<uint32_t> queries(static_cast<size_t>(heaps->num_queries()));
  std::iota(queries.begin(), queries.end(), 0u);
  while (true) {
    queries = Unfinished(rankings, *heaps, queries);
    if (queries.empty()) return arrow::Status::OK();
    for (size_t i = 0; i < rankings.size(); ++i) {
      std::vector<exec::Probe> probes;
      {
        const PhaseTimer timer(&counters_->rank_ns);
        ARROW_RETURN_NOT_OK(rankings[i]->NextRound(queries, &probes));
      }
      const PhaseTimer timer(&counters_->probe_ns);
      ARROW_RETURN_NOT_OK(Visit(i, *rankings[i], probes, true, heaps));
    }
  }
}

arrow::Status Prober::Locate(std::unordered_map<uint64_t, PartitionPlace>* places) {
  // Nearly all rows are none of those: a bit tells so without looking into the map.
  std::vector<bool> may_be(size_t{1} << kPlaceBits, false);
  const auto bit_of = [](uint64_t address) {
    return static_cast<size_t>(address * 0x9e3779b97f4a7c15 >> (64 - kPlaceBits));
  };
  for (const auto& [address, place] : *places) may_be[bit_of(address)] = true;
  for (size_t i = 0; i < batches_.size(); ++i) {
    // A row lies in one partition, so that no two threads write the same entry.
    ARROW_RETURN_NOT_OK(
        batches_[i]->VisitAddresses([&](int64_t partition, std::span<const uint64_t> addresses) {
          for (const uint64_t address : addresses) {
            if (!may_be[bit_of(address)]) continue;
            const auto found = places->find(address);
            if (found != places->end()) found->second = {i, partition};
          }
        }));
  }
  return arrow::Status::OK();
}

void Prober::TellMet(const Rankings& rankings, const exec::NeighborHeaps& heaps) {
  met_.assign(static_cast<size_t>(heaps.num_queries()), {});
  for (size_t query = 0; query < met_.size(); ++query) {
    met_[query].rows = heaps.met(static_cast<int64_t>(query));
  }
  for (size_t i = 0; i < rankings.size(); ++i) {
    const index::IvfSegment& segment = rankings[i]->segment();
    uint64_t all_rows = 0;
    for (int64_t p = 0; p < segment.num_partitions(); ++p) all_rows += segment.partition_rows(p);
    for (size_t query = 0; query < met_.size(); ++query) {
      uint64_t stored = 0;
      for (const auto& visited : rankings[i]->visited(static_cast<uint32_t>(query))) {
        stored += segment.partition_rows(visited.partition);
      }
      met_[query].all = met_[query].all && stored == all_rows;
    }
  }
}

arrow::Status Prober::Probe(const exec::QueryRows& queries, int64_t wanted,
                            exec::NeighborHeaps* heaps) {
  wanted_ = wanted;
  Rankings rankings;
  ARROW_RETURN_NOT_OK(Rank(queries, &rankings));
  // Every query's nearest partition first: after it the thresholds are tight, and the kernel drops
  // most of what the other partitions hold. Only worth it when the partitions read for it are kept,
  // a query visits many others, and so many queries visit each that decoding it twice is the
  // smaller part; and not where survivors cost next to nothing.
  const bool reads_once = ReadsOnce(queries);
  for (size_t i = 0; i < rankings.size(); ++i) {
    const PhaseTimer timer(&counters_->probe_ns);
    const int64_t rounds = rankings[i]->first_round_max();
    const int64_t partitions = rankings[i]->segment().num_partitions();
    const bool seeds = plan_.memory.keeps_index &&
                       queries.num_queries * rounds >= kVisitsForSeeds * partitions &&
                       !rankings[i]->segment().scans_bytes();
    std::vector<exec::Probe> probes;
    if (seeds) {
      rankings[i]->FirstRound(0, 1, &probes);
      ARROW_RETURN_NOT_OK(Visit(i, *rankings[i], probes, true, heaps));
      probes.clear();
    }
    rankings[i]->FirstRound(seeds ? 1 : 0, rounds, &probes);
    ARROW_RETURN_NOT_OK(Visit(i, *rankings[i], probes, seeds || !reads_once, heaps));
  }
  ARROW_RETURN_NOT_OK(LateSearch(rankings, heaps));
  TellMet(rankings, *heaps);
  return arrow::Status::OK();
}

}  // namespace kinjo::join
