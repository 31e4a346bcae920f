// Recall as a function of the settings, without a search for each of them. A true neighbour is
// found with n probes when its partition is among the query's n nearest, and, where codes only
// estimate distances, when fewer rows of those partitions look nearer than are handed on. Both are
// read off one search at the widest setting.
#pragma once

#include <cstdint>
#include <vector>

namespace kinjo::join {

/// What a run may be asked to do for its recall.
struct ProbeSettings {
  int64_t nprobes = 1;        ///< partitions of the first round, in each segment
  int64_t refine_factor = 0;  ///< 0 = no refine
  int64_t ef = 0;             ///< of graphs; 0 = there are none

  friend bool operator==(const ProbeSettings&, const ProbeSettings&) = default;
};

/// The rank of a row's partition, from 0, in the order in which a query visits partitions.
inline constexpr uint32_t kNoRank = UINT32_MAX;  // no partition holds the row

/// What is known of one query.
struct CurveQuery {
  /// True neighbours that no setting can miss: they are scanned.
  int64_t scanned_truths = 0;
  /// Of each other true neighbour: the rank of its partition.
  std::vector<uint32_t> truth_ranks;
  /// The candidates of one wide search, best first by the index's own distance: where their
  /// partitions rank, and which true neighbour each is (-1: none). Empty where codes are exact.
  std::vector<uint32_t> candidate_ranks;
  std::vector<int32_t> candidate_truths;

  int64_t truths() const { return scanned_truths + static_cast<int64_t>(truth_ranks.size()); }
};

/// Immutable but for Add.
class ProbeCurve {
 public:
  /// Asks for `k` rows. `searched`: distances are estimates, so that queries have candidates.
  ProbeCurve(int64_t k, bool searched) : k_(k), searched_(searched) {}

  /// Queries without a true neighbour have no recall and are passed over.
  void Add(CurveQuery query) {
    if (query.truths() > 0) queries_.push_back(std::move(query));
  }

  /// The recall of each query where the partitions alone decide.
  std::vector<double> Reach(int64_t nprobes) const;
  /// The recall of each query when k * max(1, refine_factor) candidates are handed on. With fewer
  /// probes than the wide search had it is at most too low: rows beyond its candidates count as
  /// missed.
  std::vector<double> Recalls(int64_t nprobes, int64_t refine_factor) const;

 private:
  int64_t k_;
  bool searched_;
  std::vector<CurveQuery> queries_;
};

/// Numbers of probes worth looking at, rising in steps of a tenth, at last `most`.
std::vector<int64_t> ProbeSteps(int64_t most);
/// Refine factors worth looking at, rising from `least` (0 or 1), up to `most`.
std::vector<int64_t> RefineSteps(int64_t least, int64_t most);

}  // namespace kinjo::join
