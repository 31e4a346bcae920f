// The search of one block of left lists of vectors, on either path. Through an index, each left
// vector looks for the right vectors nearest to it, all vectors of the block together; from what
// they found come estimated distances of right rows, and where a refine is asked the best rows are
// scored on their true vectors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/cancel_token.h"
#include "base/thread_pool.h"
#include "exec/multivector_estimate.h"
#include "exec/neighbor_heaps.h"
#include "exec/query_lists.h"
#include "join/exact_path.h"
#include "join/plan.h"
#include "join/prober.h"
#include "join/refine.h"
#include "join/run_counters.h"

namespace kinjo::join {

/// Made once a run. Not thread-safe; spreads its own work.
class MultivectorSearch {
 public:
  MultivectorSearch(const JoinPlan& plan, base::ThreadPool* pool, base::CancelToken cancel,
                    RunCounters* counters);

  /// Fills the heaps, one for each list, with the k nearest right rows. `on_rows` is told the rows
  /// that the exact path has scanned, and may be empty.
  arrow::Status Search(const exec::QueryLists& lists, exec::NeighborHeaps* heaps,
                       const MultivectorExactPath::OnRows& on_rows);

  /// What each list of the last search met in the index: rows are counted once. Empty without one.
  const std::vector<Prober::Met>& met() const { return met_; }

 private:
  /// What the vectors of one list found so far.
  struct ListSearch {
    exec::RowEstimates rows;
    bool may_find_more = false;
    bool met_all = true;
  };

  /// Offers `rows` every right row that the vectors of each list met, with its estimated distance.
  arrow::Status Estimate(const exec::QueryLists& lists, exec::NeighborHeaps* rows);
  /// The same for some of the lists, whose vectors find at most `wanted` each. The lists that met
  /// fewer than k rows and may find more are appended to `unfinished`.
  arrow::Status EstimateSome(const exec::QueryLists& lists, const std::vector<int64_t>& some,
                             int64_t wanted, exec::NeighborHeaps* rows,
                             std::vector<int64_t>* unfinished);
  /// The same for one list with more vectors than may look at a time.
  arrow::Status EstimateLong(const exec::QueryLists& lists, int64_t list, int64_t wanted,
                             int64_t vectors_at_once, exec::NeighborHeaps* rows,
                             std::vector<int64_t>* unfinished);
  /// Takes queries [begin, end) of the last Probe as the next vectors of a list.
  void AddFound(int64_t begin, int64_t end, int64_t wanted, ListSearch* search);
  /// True when the list is done: its rows are offered then.
  bool Finish(const ListSearch& search, int64_t list, exec::NeighborHeaps* rows);
  /// How many vectors may look for `wanted` others at a time within the planned memory.
  arrow::Result<int64_t> VectorsAtOnce(int64_t wanted) const;

  const JoinPlan& plan_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  std::optional<Prober> prober_;
  MultivectorRefiner refiner_;
  MultivectorExactPath exact_;
  exec::QueryEligibility eligibility_;  // of the vectors that are searched
  exec::NeighborHeaps found_;           // of each vector
  exec::NeighborHeaps candidates_;      // of each list
  std::vector<Prober::Met> met_;        // of each list
  int64_t indexed_vectors_ = 0;
};

}  // namespace kinjo::join
