#include "index/kmeans.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "index/chance.h"
#include "index/column_vectors.h"
#include "index/kmeans_seeds.h"
#include "index/lloyd.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

// Rows for each cluster on which seeds are drawn and first improved, and then improved further:
// most of the way is gone on a few of the rows.
constexpr int64_t kSeedRows = 32;
constexpr int64_t kMoreRows = 96;
constexpr int kSeedPasses = 10;
constexpr double kSeedTolerance = 5e-3;
// More clusters than this are found in two levels: the work of one grows with their square.
constexpr int64_t kMostFlat = 2048;
constexpr int64_t kCoarseRows = 256;  // for each cluster of the first level
constexpr int kTwoLevelPasses = 2;    // over all rows, once the second level stands
constexpr int64_t kItemRows = 4096;
constexpr double kFinestTolerance = 1e-4;
constexpr double kCoarsestTolerance = 2e-3;
constexpr double kCheapPass = 2e9;  // multiplications

class KMeans {
 public:
  KMeans(const float* rows, int64_t num_rows, int64_t dim, const KMeansOptions& options,
         const BuildContext& context)
      : rows_(rows), num_rows_(num_rows), dim_(dim), options_(options), context_(context) {}

  arrow::Result<KMeansResult> Train() const;

 private:
  arrow::Result<std::vector<float>> Start(double progress_to) const;
  arrow::Result<std::vector<float>> StartInTwoLevels(double progress_to) const;
  arrow::Result<std::vector<float>> Seed(const float* rows, int64_t num_rows) const;
  std::vector<float> Gather(const std::vector<int64_t>& positions) const;
  arrow::Result<std::vector<std::vector<int64_t>>> CoarseClusters() const;
  std::vector<int64_t> ShareOut(const std::vector<std::vector<int64_t>>& coarse) const;
  double Tolerance() const {
    if (options_.tolerance > 0) return options_.tolerance;
    const double work = static_cast<double>(num_rows_) * static_cast<double>(dim_) *
                        static_cast<double>(options_.num_clusters);
    return std::clamp(kFinestTolerance * work / kCheapPass, kFinestTolerance, kCoarsestTolerance);
  }

  const float* const rows_;
  const int64_t num_rows_;
  const int64_t dim_;
  const KMeansOptions options_;
  const BuildContext& context_;
};

std::vector<float> KMeans::Gather(const std::vector<int64_t>& positions) const {
  std::vector<float> out(positions.size() * static_cast<size_t>(dim_));
  float* to = out.data();
  for (const int64_t i : positions) to = std::copy_n(rows_ + i * dim_, dim_, to);
  return out;
}

// One centroid a cluster; where there aren't rows enough, copies of the first.
arrow::Result<std::vector<float>> KMeans::Seed(const float* rows, int64_t num_rows) const {
  ARROW_ASSIGN_OR_RAISE(std::vector<uint32_t> seeds,
                        DrawSeeds(rows, num_rows, dim_, options_.num_clusters, options_.nearness,
                                  options_.seed, context_));
  std::vector<float> centroids;
  centroids.reserve(static_cast<size_t>(options_.num_clusters * dim_));
  seeds.resize(static_cast<size_t>(options_.num_clusters), seeds.front());
  for (const uint32_t seed : seeds) {
    const float* row = rows + int64_t{seed} * dim_;
    const double norm = std::sqrt(kernels::CanonicalDot(row, row, dim_));
    const bool unit = options_.nearness == Nearness::kDot && norm > 0;
    for (int64_t j = 0; j < dim_; ++j) {
      centroids.push_back(unit ? static_cast<float>(row[j] / norm) : row[j]);
    }
  }
  return centroids;
}

// Seeds improved on a part of the rows, and on a larger one.
arrow::Result<std::vector<float>> KMeans::Start(double progress_to) const {
  const int64_t part = options_.num_clusters * kSeedRows;
  if (part >= num_rows_ / 2) return Seed(rows_, num_rows_);
  std::vector<float> rows = Gather(SamplePositions(num_rows_, part, options_.seed));
  ARROW_ASSIGN_OR_RAISE(std::vector<float> centroids, Seed(rows.data(), part));
  Lloyd first(rows.data(), part, dim_, options_.nearness, context_);
  ARROW_RETURN_NOT_OK(
      first.Run(kSeedPasses, kSeedTolerance, progress_to / 4, progress_to / 2, &centroids));
  const int64_t more = options_.num_clusters * kMoreRows;
  if (more >= num_rows_ / 2) return centroids;
  rows = Gather(SamplePositions(num_rows_, more, options_.seed + 1));
  Lloyd second(rows.data(), more, dim_, options_.nearness, context_);
  ARROW_RETURN_NOT_OK(
      second.Run(kSeedPasses, kSeedTolerance, progress_to / 2, progress_to, &centroids));
  return centroids;
}

// The rows of each of about sqrt(num_clusters) clusters.
arrow::Result<std::vector<std::vector<int64_t>>> KMeans::CoarseClusters() const {
  KMeansOptions options = options_;
  options.num_clusters =
      static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(options_.num_clusters))));
  const std::vector<float> rows =
      Gather(SamplePositions(num_rows_, options.num_clusters * kCoarseRows, ~options_.seed));
  BuildContext silent{.pool = context_.pool, .cancel = context_.cancel, .progress = {}};
  ARROW_ASSIGN_OR_RAISE(
      const KMeansResult coarse,
      TrainKMeans(rows.data(), static_cast<int64_t>(rows.size()) / dim_, dim_, options, silent));
  const NearestVectors<float> nearest(coarse.centroids, dim_, options_.nearness);
  std::vector<uint32_t> labels(static_cast<size_t>(num_rows_));
  const int64_t items = (num_rows_ + kItemRows - 1) / kItemRows;
  ARROW_RETURN_NOT_OK(context_.pool->ParallelFor(items, context_.cancel, [&](int64_t item, int) {
    const int64_t first = item * kItemRows;
    nearest.Find(rows_ + first * dim_, dim_, std::min(kItemRows, num_rows_ - first),
                 labels.data() + first);
    return arrow::Status::OK();
  }));
  std::vector<std::vector<int64_t>> clusters(static_cast<size_t>(options.num_clusters));
  for (int64_t i = 0; i < num_rows_; ++i) clusters[labels[i]].push_back(i);
  return clusters;
}

// How many clusters each coarse one is cut into: in proportion to its rows, one at least where it
// has any, num_clusters in all.
std::vector<int64_t> KMeans::ShareOut(const std::vector<std::vector<int64_t>>& coarse) const {
  std::vector<int64_t> shares;
  int64_t rows_left = num_rows_;
  int64_t left = options_.num_clusters;
  int64_t waiting = std::count_if(coarse.begin(), coarse.end(),
                                  [](const auto& members) { return !members.empty(); });
  for (const auto& members : coarse) {
    const auto size = static_cast<int64_t>(members.size());
    int64_t share = 0;
    if (size > 0) {
      --waiting;  // each of the others still needs one
      const double exact =
          static_cast<double>(left) * static_cast<double>(size) / static_cast<double>(rows_left);
      share = std::clamp<int64_t>(std::llround(exact), 1, left - waiting);
    }
    shares.push_back(share);
    rows_left -= size;
    left -= share;
  }
  return shares;
}

arrow::Result<std::vector<float>> KMeans::StartInTwoLevels(double progress_to) const {
  ARROW_ASSIGN_OR_RAISE(const std::vector<std::vector<int64_t>> coarse, CoarseClusters());
  context_.Report(progress_to / 4);
  const std::vector<int64_t> shares = ShareOut(coarse);
  std::vector<int64_t> starts(shares.size() + 1, 0);
  std::partial_sum(shares.begin(), shares.end(), starts.begin() + 1);
  std::vector<float> centroids(static_cast<size_t>(options_.num_clusters * dim_));
  const BuildContext silent{.pool = context_.pool, .cancel = context_.cancel, .progress = {}};
  // A loop within a loop runs on its own thread alone: clusters side by side, each in one thread.
  ARROW_RETURN_NOT_OK(context_.pool->ParallelFor(
      static_cast<int64_t>(coarse.size()), context_.cancel,
      [&](int64_t item, int) -> arrow::Status {
        if (shares[item] == 0) return arrow::Status::OK();
        KMeansOptions options = options_;
        options.num_clusters = shares[item];
        options.seed = ChanceBits(options_.seed, static_cast<uint64_t>(item));
        const std::vector<float> rows = Gather(coarse[item]);
        ARROW_ASSIGN_OR_RAISE(const KMeansResult fine,
                              TrainKMeans(rows.data(), static_cast<int64_t>(coarse[item].size()),
                                          dim_, options, silent));
        std::copy(fine.centroids.begin(), fine.centroids.end(),
                  centroids.begin() + starts[item] * dim_);
        return arrow::Status::OK();
      }));
  context_.Report(progress_to);
  return centroids;
}

// Puts clusters without rows last, as copies of the others in turns: rows, which go to the first of
// equal centroids, stay where they are counted.
void MoveEmptyLast(int64_t dim, KMeansResult* result) {
  KMeansResult sorted;
  for (size_t c = 0; c < result->sizes.size(); ++c) {
    if (result->sizes[c] == 0) continue;
    const auto from = result->centroids.begin() + static_cast<int64_t>(c) * dim;
    sorted.centroids.insert(sorted.centroids.end(), from, from + dim);
    sorted.sizes.push_back(result->sizes[c]);
  }
  const size_t filled = sorted.centroids.size();
  sorted.centroids.resize(result->centroids.size());
  for (size_t i = filled; i < sorted.centroids.size(); ++i) {
    sorted.centroids[i] = sorted.centroids[i - filled];
  }
  sorted.sizes.resize(result->sizes.size(), 0);
  result->centroids = std::move(sorted.centroids);
  result->sizes = std::move(sorted.sizes);
}

arrow::Result<KMeansResult> KMeans::Train() const {
  const bool two_levels = options_.num_clusters > kMostFlat && num_rows_ > options_.num_clusters;
  const double started = two_levels ? 0.6 : 0.2;
  KMeansResult result;
  ARROW_ASSIGN_OR_RAISE(result.centroids, two_levels ? StartInTwoLevels(started) : Start(started));
  const int passes =
      two_levels ? std::min(options_.max_iterations, kTwoLevelPasses) : options_.max_iterations;
  Lloyd lloyd(rows_, num_rows_, dim_, options_.nearness, context_);
  ARROW_RETURN_NOT_OK(lloyd.Run(passes, Tolerance(), started, 1, &result.centroids));
  result.sizes = lloyd.sizes();
  result.cost = lloyd.cost();
  result.iterations = lloyd.passes();
  MoveEmptyLast(dim_, &result);
  return result;
}

}  // namespace

double Imbalance(const std::vector<int64_t>& sizes) {
  double rows = 0;
  double squares = 0;
  for (const int64_t size : sizes) {
    rows += static_cast<double>(size);
    squares += static_cast<double>(size) * static_cast<double>(size);
  }
  return rows == 0 ? 1 : static_cast<double>(sizes.size()) * squares / (rows * rows);
}

double KMeansResult::imbalance() const { return Imbalance(sizes); }

int64_t KMeansResult::empty_clusters() const { return std::count(sizes.begin(), sizes.end(), 0); }

arrow::Result<KMeansResult> TrainKMeans(const float* rows, int64_t num_rows, int64_t dim,
                                        const KMeansOptions& options, const BuildContext& context) {
  return KMeans(rows, num_rows, dim, options, context).Train();
}

}  // namespace kinjo::index
