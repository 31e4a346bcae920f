#include "index/kmodes.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "index/chance.h"
#include "index/column_vectors.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

constexpr int64_t kSeedRows = 16;  // for each cluster, to draw seeds from
constexpr int64_t kItemRows = 1024;

class KModes {
 public:
  KModes(const uint8_t* rows, int64_t num_rows, int64_t bytes, const KModesOptions& options,
         const BuildContext& context)
      : rows_(rows),
        num_rows_(num_rows),
        bytes_(bytes),
        options_(options),
        context_(context),
        labels_(static_cast<size_t>(num_rows)),
        gaps_(static_cast<size_t>(num_rows)) {}

  arrow::Result<KModesResult> Train();

 private:
  const uint8_t* row(int64_t i) const { return rows_ + i * bytes_; }
  arrow::Status DrawSeeds(std::vector<uint8_t>* centroids) const;
  arrow::Status Assign(KModesResult* result);
  void MoveToModes(KModesResult* result) const;
  bool FillEmpty(KModesResult* result) const;

  const uint8_t* const rows_;
  const int64_t num_rows_;
  const int64_t bytes_;
  const KModesOptions options_;
  const BuildContext& context_;
  std::vector<uint32_t> labels_;
  std::vector<int64_t> gaps_;
};

// Rows drawn one by one, with a chance that grows with the square of the distance to those before.
arrow::Status KModes::DrawSeeds(std::vector<uint8_t>* centroids) const {
  const std::vector<int64_t> pool =
      SamplePositions(num_rows_, options_.num_clusters * kSeedRows, options_.seed);
  std::vector<double> weights(pool.size(), 1);
  for (int64_t c = 0; c < options_.num_clusters; ++c) {
    ARROW_RETURN_NOT_OK(context_.cancel.Check());
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    size_t next = 0;  // a copy of some row where all others are copies of those drawn
    double mark = ChanceUnit(options_.seed, static_cast<uint64_t>(c)) * total;
    for (size_t i = 0; i < pool.size() && mark >= 0; ++i) {
      if (weights[i] == 0) continue;
      next = i;
      mark -= weights[i];
    }
    const uint8_t* chosen = row(pool[next]);
    centroids->insert(centroids->end(), chosen, chosen + bytes_);
    const auto items = (static_cast<int64_t>(pool.size()) + kItemRows - 1) / kItemRows;
    ARROW_RETURN_NOT_OK(context_.pool->ParallelFor(items, context_.cancel, [&](int64_t item, int) {
      const int64_t end = std::min((item + 1) * kItemRows, static_cast<int64_t>(pool.size()));
      for (int64_t i = item * kItemRows; i < end; ++i) {
        const auto bits =
            static_cast<double>(kernels::HammingDistance(row(pool[i]), chosen, bytes_));
        weights[i] = c == 0 ? bits * bits : std::min(weights[i], bits * bits);
      }
      return arrow::Status::OK();
    }));
  }
  return arrow::Status::OK();
}

arrow::Status KModes::Assign(KModesResult* result) {
  const int64_t items = (num_rows_ + kItemRows - 1) / kItemRows;
  ARROW_RETURN_NOT_OK(context_.pool->ParallelFor(items, context_.cancel, [&](int64_t item, int) {
    for (int64_t i = item * kItemRows; i < std::min((item + 1) * kItemRows, num_rows_); ++i) {
      gaps_[i] = std::numeric_limits<int64_t>::max();
      for (int64_t c = 0; c < options_.num_clusters; ++c) {
        const int64_t bits =
            kernels::HammingDistance(row(i), result->centroids.data() + c * bytes_, bytes_);
        if (bits >= gaps_[i]) continue;
        gaps_[i] = bits;
        labels_[i] = static_cast<uint32_t>(c);
      }
    }
    return arrow::Status::OK();
  }));
  result->sizes.assign(static_cast<size_t>(options_.num_clusters), 0);
  for (const uint32_t label : labels_) ++result->sizes[label];
  result->cost = static_cast<double>(std::accumulate(gaps_.begin(), gaps_.end(), int64_t{0})) /
                 static_cast<double>(num_rows_);
  return arrow::Status::OK();
}

void KModes::MoveToModes(KModesResult* result) const {
  const int64_t bits = 8 * bytes_;
  std::vector<int64_t> ones(static_cast<size_t>(options_.num_clusters * bits), 0);
  for (int64_t i = 0; i < num_rows_; ++i) {
    int64_t* counts = ones.data() + labels_[i] * bits;
    for (int64_t b = 0; b < bits; ++b) counts[b] += row(i)[b / 8] >> b % 8 & 1;
  }
  for (int64_t c = 0; c < options_.num_clusters; ++c) {
    if (result->sizes[c] == 0) continue;
    uint8_t* centroid = result->centroids.data() + c * bytes_;
    std::fill(centroid, centroid + bytes_, uint8_t{0});
    for (int64_t b = 0; b < bits; ++b) {
      const bool set = 2 * ones[c * bits + b] > result->sizes[c];
      centroid[b / 8] = static_cast<uint8_t>(centroid[b / 8] | (set ? 1 : 0) << b % 8);
    }
  }
}

// Gives each cluster without rows the row that is farthest from its centroid, each row once and
// equal ones too; true where one was left to give.
bool KModes::FillEmpty(KModesResult* result) const {
  if (std::count(result->sizes.begin(), result->sizes.end(), 0) == 0) return false;
  std::vector<uint32_t> far(static_cast<size_t>(num_rows_));
  std::iota(far.begin(), far.end(), 0u);
  std::sort(far.begin(), far.end(), [&](uint32_t a, uint32_t b) {
    return gaps_[a] != gaps_[b] ? gaps_[a] > gaps_[b] : a < b;
  });
  size_t next = 0;
  bool any = false;
  for (int64_t c = 0; c < options_.num_clusters; ++c) {
    if (result->sizes[c] != 0 || next == far.size() || gaps_[far[next]] == 0) continue;
    std::copy_n(row(far[next++]), bytes_, result->centroids.data() + c * bytes_);
    any = true;
  }
  return any;
}

arrow::Result<KModesResult> KModes::Train() {
  KModesResult result;
  ARROW_RETURN_NOT_OK(DrawSeeds(&result.centroids));
  double before = 0;
  bool has_filled = false;
  for (result.iterations = 1;; ++result.iterations) {
    ARROW_RETURN_NOT_OK(context_.cancel.Check());
    ARROW_RETURN_NOT_OK(Assign(&result));
    context_.Report(static_cast<double>(result.iterations) / options_.max_iterations);
    if (result.iterations >= options_.max_iterations) break;
    const bool settled = result.iterations > 1 && !has_filled && result.cost >= before;
    if (!settled) MoveToModes(&result);
    has_filled = FillEmpty(&result);
    if (settled && !has_filled) break;
    before = result.cost;
  }
  context_.Report(1);
  return result;
}

}  // namespace

arrow::Result<KModesResult> TrainKModes(const uint8_t* rows, int64_t num_rows, int64_t bytes,
                                        const KModesOptions& options, const BuildContext& context) {
  return KModes(rows, num_rows, bytes, options, context).Train();
}

}  // namespace kinjo::index
