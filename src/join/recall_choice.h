// Probes, refine factor and ef for a recall target. The exact answers of a few left rows say which
// right rows a search has to meet; where those lie among the partitions says, for every number of
// probes at once, what it would find. The cheapest setting that reaches the target with a margin is
// taken. Costs are counted, never timed, so that two runs choose alike.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "join/block_search.h"
#include "join/left_sample.h"
#include "join/plan.h"
#include "join/probe_curve.h"
#include "join/recall_estimate.h"

namespace kinjo::join {

/// The most that may be chosen for this plan: every partition, the largest refine factor and ef.
/// Requires: the plan uses an index.
ProbeSettings WidestSettings(const JoinPlan& plan);

/// Makes the plan visit, hand on and refine what the settings say, and shares its memory out anew.
/// The late search stays: a left row that met fewer than k rows goes on.
arrow::Status ApplySettings(const ProbeSettings& settings, JoinPlan* plan);

/// Sampled left rows with their exact answers.
struct AnsweredSample {
  LeftSample rows;
  Matches exact;  ///< of the queries of rows.all
};

/// Answers the sample on the exact path, among the rows that the plan may find: those that pass
/// the filter, and with fast_search those that the index covers.
arrow::Result<AnsweredSample> AnswerSample(LeftSample rows, const JoinPlan& plan,
                                           const EligibleRows* eligible, base::ThreadPool* pool,
                                           const base::CancelToken& cancel);

/// What settings would do on the choosing rows of a sample. All references must outlive it. Not
/// thread-safe; spreads its own work.
class SettingsSearch {
 public:
  SettingsSearch(const AnsweredSample& sample, const JoinPlan& plan, const EligibleRows* eligible,
                 base::ThreadPool* pool, base::CancelToken cancel);

  /// Finds where the true neighbours lie. First of all, once.
  arrow::Status Start();

  /// The cheapest settings that reach the target; the widest when none do.
  arrow::Result<ProbeSettings> Choose(double target);

  /// The best recall that each of some numbers of probes reaches, cheapest first, with the smallest
  /// refine factor that comes within a thousandth of it, at the given ef.
  arrow::Result<std::vector<ProbeSettings>> Ladder(int64_t ef);

 private:
  struct Priced {
    ProbeSettings settings;
    double cost = 0;
  };

  bool searches() const;
  std::vector<int64_t> EfSteps() const;
  std::vector<int64_t> Factors(bool wide) const;
  bool Reaches(const std::vector<double>& recalls, double target) const;
  /// One search of the choosing rows, and the curve that follows from it.
  arrow::Result<ProbeCurve> Curve(const ProbeSettings& widest);
  /// The ranks of rows' partitions for each query, as far as they are below `depth`: ranks[q][i] of
  /// rows[q][i].
  arrow::Result<std::vector<std::vector<uint32_t>>> RanksOf(
      const std::vector<std::vector<uint64_t>>& rows, int64_t depth);
  arrow::Status RankSome(size_t segment, int64_t first_query, int64_t depth,
                         const std::vector<std::vector<uint64_t>>& rows,
                         const std::unordered_map<uint64_t, PartitionPlace>& places,
                         std::vector<std::vector<uint32_t>>* ranks);
  /// Ranks the partitions of the true neighbours so deep, unless that is done.
  arrow::Status RankTruths(int64_t depth);
  /// The fewest probes with which the target would be reached by exact distances; all if none do.
  arrow::Result<int64_t> LeastProbes(double target);
  std::optional<Priced> Cheapest(const ProbeCurve& curve, const ProbeSettings& widest,
                                 double target) const;
  arrow::Result<std::optional<Priced>> CheapestWithin(int64_t probes, bool wide, double target);
  arrow::Result<ProbeSettings> ChooseBySearching(double target);

  const AnsweredSample& sample_;
  const JoinPlan& plan_;
  const EligibleRows* eligible_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  // The search that reads the partitions, and keeps them from one curve to the next.
  JoinPlan wide_;
  RunCounters counters_;
  std::optional<Prober> prober_;
  std::vector<double> queries_;  // the choosing rows as the index ranks them
  int64_t most_probes_ = 1;
  double probe_cost_ = 0;           // of one probe, in rows of codes that are scored
  std::vector<CurveQuery> truths_;  // of each choosing query, without candidates
  int64_t ranked_truths_ = 0;       // how deep their partitions are ranked
  std::vector<std::vector<uint64_t>> indexed_truths_;  // their addresses
};

}  // namespace kinjo::join
