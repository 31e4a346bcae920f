#include "join/probe_curve.h"

#include <algorithm>

namespace kinjo::join {

std::vector<double> ProbeCurve::Reach(int64_t nprobes) const {
  std::vector<double> recalls;
  recalls.reserve(queries_.size());
  for (const CurveQuery& query : queries_) {
    const auto reached =
        std::count_if(query.truth_ranks.begin(), query.truth_ranks.end(),
                      [&](uint32_t rank) { return rank != kNoRank && rank < nprobes; });
    recalls.push_back(static_cast<double>(query.scanned_truths + reached) /
                      static_cast<double>(query.truths()));
  }
  return recalls;
}

std::vector<double> ProbeCurve::Recalls(int64_t nprobes, int64_t refine_factor) const {
  if (!searched_) return Reach(nprobes);
  const int64_t handed_on = k_ * std::max<int64_t>(refine_factor, 1);
  std::vector<double> recalls;
  recalls.reserve(queries_.size());
  for (const CurveQuery& query : queries_) {
    int64_t found = query.scanned_truths;
    int64_t place = 0;
    for (size_t i = 0; i < query.candidate_ranks.size() && place < handed_on; ++i) {
      if (query.candidate_ranks[i] == kNoRank || query.candidate_ranks[i] >= nprobes) continue;
      ++place;
      found += query.candidate_truths[i] >= 0;
    }
    recalls.push_back(static_cast<double>(found) / static_cast<double>(query.truths()));
  }
  return recalls;
}

std::vector<int64_t> ProbeSteps(int64_t most) {
  std::vector<int64_t> steps;
  for (int64_t step = 1; step < most; step += std::max<int64_t>(1, step / 10)) {
    steps.push_back(step);
  }
  steps.push_back(std::max<int64_t>(most, 1));
  return steps;
}

std::vector<int64_t> RefineSteps(int64_t least, int64_t most) {
  std::vector<int64_t> steps;
  if (least == 0) steps.push_back(0);
  for (int64_t step = least == 0 ? 2 : 1; step <= most; step += std::max<int64_t>(1, step / 4)) {
    steps.push_back(step);
  }
  if (steps.empty() || steps.back() < most) steps.push_back(most);
  return steps;
}

}  // namespace kinjo::join
