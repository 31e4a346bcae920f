// Which left rows a recall target is met on: some to choose the settings by, others to measure what
// came out. Drawn by the rows' numbers with a fixed seed, so that threads, memory and blocks don't
// matter.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "arrow/record_batch.h"
#include "base/error.h"
#include "join/left_block.h"
#include "join/plan.h"

namespace kinjo::join {

/// How many rows a sample has, at most.
struct SampleSizes {
  int64_t choosing = 0;
  int64_t measuring = 0;

  /// For a join of `left_rows` (nothing: not known) with `k`: so many that the answer's scatter is
  /// small beside the slack of a target, and few beside a left side of 10,000 rows.
  static SampleSizes For(std::optional<int64_t> left_rows, int64_t k, bool multivector);
  /// For a whole curve, which has no join to be cheap beside.
  static SampleSizes ForCurve(bool multivector);
};

/// Rows of the left side whose number isn't known (streams, text files) are sampled from so many
/// first ones.
inline constexpr int64_t kSampledPrefixRows = 4096;

/// The drawn rows. Rows for choosing come first.
struct LeftSample {
  /// Numbers of the rows that choose and of those that measure, each rising. One and the same where
  /// the left side is so small that all of its rows do both.
  std::vector<int64_t> choosing;
  std::vector<int64_t> measuring;
  std::optional<int64_t> left_rows;  ///< nothing: not known
  LeftBlock all;  ///< the choosing rows, then the measuring ones that aren't among them
  LeftBlock choosing_block;

  bool is_census() const { return !choosing.empty() && choosing == measuring; }
  /// The query of `all` that the i-th measuring row is; -1 if it can match nothing.
  int32_t measuring_query(size_t i) const {
    return all.query_of_row[is_census() ? i : choosing.size() + i];
  }
  /// Rows that the measured ones were drawn from; -1 when their number isn't known.
  int64_t measured_population() const;
};

/// Draws the sample and reads its vectors. A left side that doesn't tell its rows is read from its
/// start, and `plan->left` then gives those rows again before the rest. Nothing comes back when a
/// sampled row can't be used: the run will meet the row and name it.
arrow::Result<std::optional<LeftSample>> DrawLeftSample(const SampleSizes& sizes,
                                                        const EligibleRows* eligible,
                                                        JoinPlan* plan);

}  // namespace kinjo::join
