#include "exec/threshold_seed.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "index/smallest_scores.h"

namespace kinjo::exec {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Rows looked at: enough for a k-th score that means something, few enough to be cheap.
constexpr int64_t kSeedGroups = 24;

// Above this the scores may not be finite (block_scan.h, "Odd magnitudes").
constexpr double kNorm2Max = 1e30;

/// Writes what each row of a group may add to its score at most: twice what RowInitFrom took off
/// the start, which is E max(|x|^2, |start| + |x|^2 / 2), and |start| is at most |init| and that.
/// Infinite for rows whose score says nothing: the too long ones, and padding.
void GroupSlack(const kernels::GroupedRows& rows, int64_t group, double error, float* slack) {
  constexpr int64_t kGroup = kernels::kGroupRows;
  double norms2[kGroup] = {};
  const float* row = rows.rows() + group * kGroup * rows.dim();
  for (int64_t j = 0; j < rows.dim(); ++j, row += kGroup) {
    for (int64_t i = 0; i < kGroup; ++i) norms2[i] += static_cast<double>(row[i]) * row[i];
  }
  const float* init = rows.init() + group * kGroup;
  for (int64_t i = 0; i < kGroup; ++i) {
    const double size = (std::abs(init[i]) + norms2[i]) / (1 - error);
    slack[i] = std::isfinite(init[i]) ? static_cast<float>(2.001 * error * size) : kInfinity;
  }
}

/// The distance that a score of at most `score` stands for, rounded up.
float DistanceBelow(kernels::Metric metric, double score, double query_norm2, double error) {
  score += error * query_norm2;
  double distance = 2 * score + query_norm2;
  if (metric == kernels::Metric::kDot) distance = 1 + score;
  if (metric == kernels::Metric::kCosine) distance = distance / 2 + 1e-9;
  distance += 1e-6 * std::abs(distance) + 1e-30;
  return std::nextafter(static_cast<float>(distance), kInfinity);
}

/// Groups to look at, 0 when seeding isn't worth it.
int64_t SeedGroups(const QueryTile& tile, const RowRange& range, const NeighborHeaps& heaps) {
  if (heaps.range().lower != -kInfinity) return 0;  // k rows might be nearer than the range
  const int64_t wanted = std::max(kSeedGroups, 4 * heaps.k() / kernels::kGroupRows);
  const int64_t groups = std::min(wanted, range.num_groups);
  if (groups * kernels::kGroupRows <= heaps.k()) return 0;
  if (groups * kernels::kGroupRows * tile.num_queries > kChunkPairsMax) return 0;
  const auto filling = std::count_if(tile.query_ids, tile.query_ids + tile.num_queries,
                                     [&](uint32_t query) { return heaps.filling(query); });
  return 2 * filling >= tile.num_queries ? groups : 0;
}

/// Rows of the first groups that don't belong to the range.
int64_t ForeignRows(const RowRange& range, int64_t groups) {
  const int64_t first = range.first_group * kernels::kGroupRows;
  const int64_t last = first + groups * kernels::kGroupRows;
  return std::max<int64_t>(range.first_slot - first, 0) +
         std::max<int64_t>(last - range.last_slot, 0);
}

}  // namespace

int64_t SeedThresholds(kernels::Metric metric, const QueryTile& tile, const RowRange& range,
                       NeighborHeaps* heaps, FilterScratch* scratch) {
  const int64_t groups = SeedGroups(tile, range, *heaps);
  const int64_t dim = range.rows->dim();
  const double error = kernels::ErrorFactor(dim);
  if (groups == 0 || !(error < 0.1)) return 0;
  const int64_t rows = groups * kernels::kGroupRows;
  scratch->seed_scores.resize(static_cast<size_t>(tile.num_queries * rows));
  scratch->seed_slack.resize(static_cast<size_t>(rows));
  const kernels::RowCodes codes = range.rows->codes();
  const bool by_codes = codes.slack != nullptr;
  if (by_codes) {
    const float* slack = codes.slack + range.first_group * kernels::kGroupRows;
    std::copy(slack, slack + rows, scratch->seed_slack.begin());
  }
  for (int64_t i = 0; i < groups && !by_codes; ++i) {
    GroupSlack(*range.rows, range.first_group + i, error,
               scratch->seed_slack.data() + i * kernels::kGroupRows);
  }
  const kernels::BlockScan scan{.rows = range.rows->rows(),
                                .init = range.rows->init(),
                                .dim = dim,
                                .first_group = range.first_group,
                                .num_groups = groups,
                                .queries = tile.moved,
                                .bounds = nullptr,
                                .num_queries = tile.num_queries,
                                .codes = codes};
  if (by_codes) {
    kernels::ScoreCodes(scan, scratch->seed_scores.data(), rows);
  } else {
    kernels::ScoreBlock(scan, scratch->seed_scores.data(), rows);
  }
  const int64_t foreign = ForeignRows(range, groups);
  for (int64_t q = 0; q < tile.num_queries; ++q) {
    if (!heaps->filling(tile.query_ids[q]) || !(tile.norms2[q] < kNorm2Max)) continue;
    // Of the k nearest so many may not come out.
    const int64_t rank = heaps->k() - 1 + foreign + heaps->excluded_rows(tile.query_ids[q]);
    if (rank >= rows) continue;
    float* scores = scratch->seed_scores.data() + q * rows;
    float most = -kInfinity;
    int64_t finite = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const float upper = scores[i] + scratch->seed_slack[i];
      scores[i] = upper < kInfinity ? upper : kInfinity;  // also for NaN
      most = upper < kInfinity && upper > most ? upper : most;
      finite += upper < kInfinity ? 1 : 0;
    }
    if (finite <= rank) continue;
    // The cut is looked for between the smallest and the largest, so that none may be infinite.
    for (int64_t i = 0; i < rows; ++i) scores[i] = scores[i] < most ? scores[i] : most;
    const float kth = index::CutAbove(scores, rows, rank + 1, &scratch->seed_pick);
    heaps->LowerThreshold(tile.query_ids[q], DistanceBelow(metric, kth, tile.norms2[q], error));
  }
  return groups;
}

}  // namespace kinjo::exec
