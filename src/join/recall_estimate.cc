#include "join/recall_estimate.h"

#include <algorithm>
#include <cmath>

namespace kinjo::join {

namespace {

constexpr double kNormalQuantile = 1.959964;  // of 97.5 %
// One sample in a hundred chooses too little then; with two it is three or four, since a sample of
// few rows may hold none of those that miss most.
constexpr double kStandardErrors = 2.5;

// A mean that misses the target by rounding alone reaches it.
constexpr double kRounding = 1e-9;

struct Moments {
  double mean = 0;
  double variance = 0;  // of one row
};

Moments MomentsOf(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  Moments moments;
  for (const double value : values) moments.mean += value;
  moments.mean /= count;  // of ones exactly 1
  if (values.size() < 2) return moments;
  for (const double value : values) {
    moments.variance += (value - moments.mean) * (value - moments.mean) / (count - 1);
  }
  return moments;
}

// The share of the variance that is left when `rows` of the population were seen.
double Unseen(size_t rows, int64_t population) {
  if (population < 0) return 1;
  const double seen = static_cast<double>(rows) / static_cast<double>(population);
  return std::max(0.0, 1 - seen);
}

}  // namespace

void AppendRecall(std::span<const kernels::Neighbor> exact,
                  std::span<const kernels::Neighbor> found, std::vector<double>* recalls) {
  if (exact.empty()) return;
  std::vector<uint64_t> addresses;
  addresses.reserve(found.size());
  for (const kernels::Neighbor& neighbor : found) addresses.push_back(neighbor.address);
  std::sort(addresses.begin(), addresses.end());
  const auto hits = std::count_if(exact.begin(), exact.end(), [&](const auto& neighbor) {
    return std::binary_search(addresses.begin(), addresses.end(), neighbor.address);
  });
  recalls->push_back(static_cast<double>(hits) / static_cast<double>(exact.size()));
}

RecallEstimate EstimateRecall(std::span<const double> recalls, int64_t population) {
  RecallEstimate estimate{.rows = static_cast<int64_t>(recalls.size())};
  if (recalls.empty()) {
    if (population != 0) estimate.low = 0;
    return estimate;
  }
  const Moments moments = MomentsOf(recalls);
  const double mean = std::min(1.0, moments.mean);
  estimate.recall = estimate.low = estimate.high = mean;
  const double unseen = Unseen(recalls.size(), population);
  if (unseen == 0) return estimate;
  const auto rows = static_cast<double>(recalls.size());
  const double spread = mean * (1 - mean);
  // A row is at least one trial: its neighbours can't vary more than all found or all missed.
  double trials = rows;
  if (moments.variance > 0) trials = std::max(rows, rows * spread / moments.variance);
  trials /= unseen;
  // Student's quantile, to its first order in 1 / rows.
  const double z = kNormalQuantile *
                   (1 + (kNormalQuantile * kNormalQuantile + 1) / (4 * std::max(1.0, rows - 1)));
  const double shrink = z * z / trials;
  const double centre = (mean + shrink / 2) / (1 + shrink);
  const double reach = std::sqrt(spread * shrink + shrink * shrink / 4) / (1 + shrink);
  estimate.low = std::max(0.0, std::min(mean, centre - reach));
  estimate.high = std::min(1.0, std::max(mean, centre + reach));
  return estimate;
}

bool ReachesTarget(std::span<const double> recalls, int64_t population, int64_t k, double target) {
  if (recalls.empty()) return true;
  const Moments moments = MomentsOf(recalls);
  if (moments.mean < target - kRounding) return false;
  const double unseen = Unseen(recalls.size(), population);
  if (unseen == 0) return true;
  const auto rows = static_cast<double>(recalls.size());
  const auto missing = static_cast<double>(
      std::count_if(recalls.begin(), recalls.end(), [](double recall) { return recall < 1; }));
  const double loss =
      missing > 0 ? (1 - moments.mean) * rows / missing : 1 / static_cast<double>(k);
  const double mean = (moments.mean * rows + 1 - loss) / (rows + 1);
  const double deviation = 1 - loss - moments.mean;
  const double variance =
      (moments.variance * (rows - 1) + deviation * deviation * rows / (rows + 1)) / rows;
  const double error = std::sqrt(variance / (rows + 1) * unseen);
  return mean - kStandardErrors * error >= target - kRecallSlack - kRounding;
}

}  // namespace kinjo::join
