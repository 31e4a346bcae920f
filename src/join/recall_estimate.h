// What the recalls of some left rows say about all of them. The rows are the unit, not the
// neighbours: those of one row are missed together, so that their misses aren't independent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/top_k.h"

namespace kinjo::join {

/// Appends the share of the exact answer that was found; nothing when there is no exact answer.
void AppendRecall(std::span<const kernels::Neighbor> exact,
                  std::span<const kernels::Neighbor> found, std::vector<double>* recalls);

/// A mean with its interval of 95 % confidence.
struct RecallEstimate {
  double recall = 1;
  double low = 1;
  double high = 1;
  int64_t rows = 0;  ///< with a recall, of those looked at
};

/// Estimates the mean recall of `population` rows from the recalls (0 to 1) of some, drawn without
/// regard to them. Rows of which all were seen give the mean itself; `population` < 0 means that
/// the rows are too many to count.
///
/// The interval is Wilson's, for as many independent trials as explain the spread of the rows: near
/// 1, where the spread of few rows tells too little, it stays honest and inside [0, 1]. No rows at
/// all give [0, 1].
RecallEstimate EstimateRecall(std::span<const double> recalls, int64_t population);

/// True when a setting with these recalls on a sample may be taken for `target`: the mean reaches
/// it, and, less the slack, so does the mean less two and a half standard errors. For the error one
/// row is added, missing as much as those that miss (or one neighbour of `k`), so that a sample
/// without misses doesn't pass for proof. With all of the population seen the mean alone decides.
bool ReachesTarget(std::span<const double> recalls, int64_t population, int64_t k, double target);

/// How far below its target a run may end up.
inline constexpr double kRecallSlack = 0.01;

}  // namespace kinjo::join
