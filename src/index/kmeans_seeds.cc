#include "index/kmeans_seeds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "index/chance.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

constexpr int64_t kItemRows = 512;  // of a parallel loop
constexpr int kRounds = 5;          // of many candidates at once
constexpr int kMaxRounds = 24;      // while there are too few candidates

// The rows, and how far each is from the candidates so far.
class SeedDrawing {
 public:
  SeedDrawing(const float* rows, int64_t num_rows, int64_t dim, Nearness nearness, uint64_t seed,
              const BuildContext& context)
      : rows_(rows),
        num_rows_(num_rows),
        dim_(dim),
        nearness_(nearness),
        seed_(seed),
        context_(context),
        gaps_(static_cast<size_t>(num_rows), std::numeric_limits<double>::infinity()),
        nearest_(static_cast<size_t>(num_rows), 0) {}

  arrow::Result<std::vector<uint32_t>> DrawCandidates(int64_t count);
  arrow::Result<std::vector<uint32_t>> Reduce(const std::vector<uint32_t>& candidates,
                                              int64_t count) const;

 private:
  const float* row(int64_t i) const { return rows_ + i * dim_; }
  // 0 for a copy of the other (kDot: its direction).
  double Gap(const float* row, const float* other, double other_norm) const {
    if (nearness_ == Nearness::kL2) return kernels::CanonicalL2(row, other, dim_);
    const double norm = std::sqrt(kernels::CanonicalDot(row, row, dim_));
    if (norm == 0 || other_norm == 0) return 0;
    const double gap = norm * (norm - kernels::CanonicalDot(row, other, dim_) / other_norm);
    return gap > norm * norm * 1e-12 ? gap : 0;
  }
  double NormOf(int64_t i) const {
    return nearness_ == Nearness::kL2 ? 0 : std::sqrt(kernels::CanonicalDot(row(i), row(i), dim_));
  }
  arrow::Status Add(const std::vector<uint32_t>& fresh, uint32_t first_candidate);

  const float* const rows_;
  const int64_t num_rows_;
  const int64_t dim_;
  const Nearness nearness_;
  const uint64_t seed_;
  const BuildContext& context_;
  std::vector<double> gaps_;       // to the nearest candidate
  std::vector<uint32_t> nearest_;  // which that is
};

// Brings gaps_ up to date with more candidates, whose numbers begin at `first_candidate`.
arrow::Status SeedDrawing::Add(const std::vector<uint32_t>& fresh, uint32_t first_candidate) {
  std::vector<float> vectors;
  std::vector<double> norms;
  for (const uint32_t i : fresh) {
    norms.push_back(NormOf(i));
    const double scale = nearness_ == Nearness::kL2 || norms.back() == 0 ? 1 : 1 / norms.back();
    for (int64_t j = 0; j < dim_; ++j) {
      vectors.push_back(nearness_ == Nearness::kL2 ? row(i)[j]
                                                   : static_cast<float>(row(i)[j] * scale));
    }
  }
  const NearestVectors<float> nearest(vectors, dim_, nearness_);
  const int64_t items = (num_rows_ + kItemRows - 1) / kItemRows;
  return context_.pool->ParallelFor(items, context_.cancel, [&](int64_t item, int) {
    const int64_t first = item * kItemRows;
    const int64_t count = std::min(kItemRows, num_rows_ - first);
    uint32_t found[kItemRows];
    nearest.Find(row(first), dim_, count, found);
    for (int64_t i = 0; i < count; ++i) {
      const double gap = Gap(row(first + i), row(fresh[found[i]]), norms[found[i]]);
      if (gap >= gaps_[first + i]) continue;
      gaps_[first + i] = gap;
      nearest_[first + i] = first_candidate + found[i];
    }
    return arrow::Status::OK();
  });
}

arrow::Result<std::vector<uint32_t>> SeedDrawing::DrawCandidates(int64_t count) {
  std::vector<uint32_t> candidates = {
      static_cast<uint32_t>(ChanceBelow(seed_, 0, static_cast<uint64_t>(num_rows_)))};
  ARROW_RETURN_NOT_OK(Add(candidates, 0));
  for (int round = 1; round <= kMaxRounds; ++round) {
    if (round > kRounds && static_cast<int64_t>(candidates.size()) > count) break;
    const double total = std::accumulate(gaps_.begin(), gaps_.end(), 0.0);
    if (!(total > 0) || std::isinf(total)) break;
    const double wanted = static_cast<double>(std::max<int64_t>(count / 2, 4));
    const uint64_t chance = ChanceBits(seed_, static_cast<uint64_t>(round));
    std::vector<uint32_t> fresh;
    for (int64_t i = 0; i < num_rows_; ++i) {
      if (ChanceUnit(chance, static_cast<uint64_t>(i)) < wanted * gaps_[i] / total) {
        fresh.push_back(static_cast<uint32_t>(i));
      }
    }
    if (fresh.empty()) continue;
    ARROW_RETURN_NOT_OK(Add(fresh, static_cast<uint32_t>(candidates.size())));
    candidates.insert(candidates.end(), fresh.begin(), fresh.end());
  }
  return candidates;
}

// k-means++ over the candidates, each with the weight of the rows that are nearest to it.
arrow::Result<std::vector<uint32_t>> SeedDrawing::Reduce(const std::vector<uint32_t>& candidates,
                                                         int64_t count) const {
  const auto num = static_cast<int64_t>(candidates.size());
  std::vector<double> weights(candidates.size(), 0.0);
  for (const uint32_t candidate : nearest_) weights[candidate] += 1;
  std::vector<double> gaps(candidates.size(), std::numeric_limits<double>::infinity());
  std::vector<uint32_t> seeds;
  const uint64_t chance = ChanceBits(seed_, 0x5eed);
  for (int64_t chosen = 0; chosen < count; ++chosen) {
    ARROW_RETURN_NOT_OK(context_.cancel.Check());
    double total = 0;
    for (int64_t c = 0; c < num; ++c) total += weights[c] * (chosen == 0 ? 1 : gaps[c]);
    if (!(total > 0)) break;  // nothing but copies of those chosen
    double mark = ChanceUnit(chance, static_cast<uint64_t>(chosen)) * total;
    int64_t next = -1;
    for (int64_t c = 0; c < num && mark >= 0; ++c) {
      const double share = weights[c] * (chosen == 0 ? 1 : gaps[c]);
      if (!(share > 0)) continue;
      next = c;
      mark -= share;
    }
    const uint32_t seed_row = candidates[next];
    seeds.push_back(seed_row);
    const double norm = NormOf(seed_row);
    const int64_t items = (num + kItemRows - 1) / kItemRows;
    ARROW_RETURN_NOT_OK(context_.pool->ParallelFor(items, context_.cancel, [&](int64_t item, int) {
      for (int64_t c = item * kItemRows; c < std::min((item + 1) * kItemRows, num); ++c) {
        if (gaps[c] > 0) gaps[c] = std::min(gaps[c], Gap(row(candidates[c]), row(seed_row), norm));
      }
      return arrow::Status::OK();
    }));
  }
  return seeds;
}

}  // namespace

arrow::Result<std::vector<uint32_t>> DrawSeeds(const float* rows, int64_t num_rows, int64_t dim,
                                               int64_t count, Nearness nearness, uint64_t seed,
                                               const BuildContext& context) {
  SeedDrawing drawing(rows, num_rows, dim, nearness, seed, context);
  ARROW_ASSIGN_OR_RAISE(const std::vector<uint32_t> candidates, drawing.DrawCandidates(count));
  return drawing.Reduce(candidates, count);
}

}  // namespace kinjo::index
