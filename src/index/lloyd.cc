#include "index/lloyd.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

constexpr int64_t kItemRows = 512;     // of a parallel loop over rows
constexpr int64_t kItemClusters = 16;  // of a parallel loop over clusters

double NormOf(const float* row, int64_t dim) {
  return std::sqrt(kernels::CanonicalDot(row, row, dim));
}

}  // namespace

Lloyd::Lloyd(const float* rows, int64_t num_rows, int64_t dim, Nearness nearness,
             const BuildContext& context)
    : rows_(rows),
      num_rows_(num_rows),
      dim_(dim),
      nearness_(nearness),
      context_(context),
      labels_(static_cast<size_t>(num_rows)),
      gaps_(static_cast<size_t>(num_rows)),
      members_(static_cast<size_t>(num_rows)) {
  if (nearness_ == Nearness::kL2) return;
  norms_.resize(static_cast<size_t>(num_rows));
  for (int64_t i = 0; i < num_rows; ++i) norms_[i] = NormOf(row(i), dim);
}

double Lloyd::Gap(const float* row, double norm, const NearestVectors<float>& nearest,
                  uint32_t label) const {
  const double distance = nearest.Distance(row, label);
  return nearness_ == Nearness::kL2 ? distance : std::max(0.0, norm + distance);
}

arrow::Status Lloyd::Assign(const std::vector<float>& centroids) {
  const NearestVectors<float> nearest(centroids, dim_, nearness_);
  const int64_t items = (num_rows_ + kItemRows - 1) / kItemRows;
  std::vector<double> costs(static_cast<size_t>(items));
  ARROW_RETURN_NOT_OK(context_.pool->ParallelFor(items, context_.cancel, [&](int64_t item, int) {
    const int64_t first = item * kItemRows;
    const int64_t end = std::min(first + kItemRows, num_rows_);
    nearest.Find(row(first), dim_, end - first, labels_.data() + first);
    double cost = 0;
    for (int64_t i = first; i < end; ++i) {
      gaps_[i] = Gap(row(i), norms_.empty() ? 0 : norms_[i], nearest, labels_[i]);
      cost += gaps_[i];
    }
    costs[item] = cost;
    return arrow::Status::OK();
  }));
  cost_ = std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(num_rows_);
  sizes_.assign(centroids.size() / static_cast<size_t>(dim_), 0);
  for (const uint32_t label : labels_) ++sizes_[label];
  return arrow::Status::OK();
}

void Lloyd::GroupRows() {
  starts_.assign(sizes_.size() + 1, 0);
  std::partial_sum(sizes_.begin(), sizes_.end(), starts_.begin() + 1);
  std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
  for (int64_t i = 0; i < num_rows_; ++i) {
    members_[next[labels_[i]]++] = static_cast<uint32_t>(i);
  }
}

// False, and nothing written, where the mean says nothing: of no rows, or (kDot) of no direction.
bool Lloyd::MeanOf(const std::vector<uint32_t>& members, float* out) const {
  std::vector<double> sum(static_cast<size_t>(dim_), 0.0);
  for (const uint32_t member : members) {
    const float* values = row(member);
    for (int64_t j = 0; j < dim_; ++j) sum[j] += values[j];
  }
  double divisor = static_cast<double>(members.size());
  if (nearness_ == Nearness::kDot) {
    divisor = std::sqrt(kernels::CanonicalDot(sum.data(), sum.data(), dim_));
  }
  if (divisor == 0) return false;
  for (int64_t j = 0; j < dim_; ++j) out[j] = static_cast<float>(sum[j] / divisor);
  return true;
}

arrow::Status Lloyd::MoveToMeans(std::vector<float>* centroids) {
  const auto clusters = static_cast<int64_t>(sizes_.size());
  const int64_t items = (clusters + kItemClusters - 1) / kItemClusters;
  return context_.pool->ParallelFor(items, context_.cancel, [&](int64_t item, int) {
    const int64_t end = std::min((item + 1) * kItemClusters, clusters);
    for (int64_t c = item * kItemClusters; c < end; ++c) {
      const std::vector<uint32_t> members(members_.begin() + starts_[c],
                                          members_.begin() + starts_[c + 1]);
      MeanOf(members, centroids->data() + c * dim_);
    }
    return arrow::Status::OK();
  });
}

// Clusters with rows apart from their centroid, the costliest first.
std::vector<int64_t> Lloyd::Donors() const {
  std::vector<double> costs(sizes_.size(), 0.0);
  for (int64_t i = 0; i < num_rows_; ++i) costs[labels_[i]] += gaps_[i];
  std::vector<int64_t> donors;
  for (size_t c = 0; c < sizes_.size(); ++c) {
    if (sizes_[c] > 1 && costs[c] > 0) donors.push_back(static_cast<int64_t>(c));
  }
  std::sort(donors.begin(), donors.end(), [&](int64_t a, int64_t b) {
    return costs[a] != costs[b] ? costs[a] > costs[b] : a < b;
  });
  return donors;
}

// Makes two centroids of a cluster's: the mean of the rows nearer to the row farthest from `kept`
// than to `kept`, and that of the others.
bool Lloyd::Split(int64_t donor, float* kept, float* fresh) const {
  const auto first = members_.begin() + starts_[donor];
  const auto last = members_.begin() + starts_[donor + 1];
  const uint32_t far =
      *std::max_element(first, last, [&](uint32_t a, uint32_t b) { return gaps_[a] < gaps_[b]; });
  std::vector<float> pair(kept, kept + dim_);
  const double norm = nearness_ == Nearness::kL2 ? 1 : NormOf(row(far), dim_);
  if (norm == 0) return false;
  for (int64_t j = 0; j < dim_; ++j) pair.push_back(static_cast<float>(row(far)[j] / norm));
  const NearestVectors<float> nearest(pair, dim_, nearness_);
  std::vector<uint32_t> sides[2];
  for (auto member = first; member != last; ++member) {
    const bool to_far = nearest.Distance(row(*member), 1) < nearest.Distance(row(*member), 0);
    sides[to_far ? 1 : 0].push_back(*member);
  }
  if (sides[0].empty() || sides[1].empty()) return false;
  return MeanOf(sides[1], fresh) && MeanOf(sides[0], kept);
}

// True when a cluster without rows got some of another's.
bool Lloyd::SplitForEmpty(std::vector<float>* centroids) {
  if (std::none_of(sizes_.begin(), sizes_.end(), [](int64_t size) { return size == 0; })) {
    return false;
  }
  const std::vector<int64_t> donors = Donors();
  auto donor = donors.begin();
  bool any = false;
  for (size_t c = 0; c < sizes_.size(); ++c) {
    if (sizes_[c] != 0) continue;
    float* fresh = centroids->data() + static_cast<int64_t>(c) * dim_;
    bool split = false;
    while (!split && donor != donors.end()) {
      split = Split(*donor, centroids->data() + *donor * dim_, fresh);
      ++donor;
    }
    any = any || split;
  }
  return any;
}

arrow::Status Lloyd::Run(int max_passes, double tolerance, double progress_from, double progress_to,
                         std::vector<float>* centroids) {
  double before = 0;
  bool has_split = false;
  for (passes_ = 1;; ++passes_) {
    ARROW_RETURN_NOT_OK(context_.cancel.Check());
    ARROW_RETURN_NOT_OK(Assign(*centroids));
    context_.Report(progress_from + (progress_to - progress_from) * passes_ / max_passes);
    if (passes_ >= max_passes) break;
    GroupRows();
    const bool settled = passes_ > 1 && !has_split && before - cost_ <= tolerance * before;
    if (!settled) ARROW_RETURN_NOT_OK(MoveToMeans(centroids));
    has_split = SplitForEmpty(centroids);
    if (settled && !has_split) break;
    before = cost_;
  }
  context_.Report(progress_to);
  return arrow::Status::OK();
}

}  // namespace kinjo::index
