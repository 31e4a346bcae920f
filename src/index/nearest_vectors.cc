#include "index/nearest_vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "index/elements.h"
#include "kernels/block_scan.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

// Rows compared by one call of the kernel.
constexpr int64_t kBlockRows = 256;
// Squared norms above this might overflow a float32 score.
constexpr double kScorableNorm2 = 1e30;
// What a step of a sum may lose below the range of float32, and more.
constexpr double kUnderflow = 0x1p-120;

// The slots of distinct finite vectors: the first of equal ones.
template <typename T>
std::vector<uint32_t> DistinctFinite(std::span<const T> vectors, int64_t dim) {
  const auto count = static_cast<int64_t>(vectors.size()) / dim;
  const auto bytes = static_cast<size_t>(dim) * sizeof(T);
  std::vector<uint32_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    if (AllFinite(vectors.data() + i * dim, dim)) ids.push_back(static_cast<uint32_t>(i));
  }
  const auto compare = [&](uint32_t a, uint32_t b) {
    return std::memcmp(vectors.data() + a * dim, vectors.data() + b * dim, bytes);
  };
  std::sort(ids.begin(), ids.end(), [&](uint32_t a, uint32_t b) {
    const int order = compare(a, b);
    return order != 0 ? order < 0 : a < b;
  });
  ids.erase(std::unique(ids.begin(), ids.end(),
                        [&](uint32_t a, uint32_t b) { return compare(a, b) == 0; }),
            ids.end());
  std::sort(ids.begin(), ids.end());
  return ids;
}

template <typename T>
double Norm2(const T* values, int64_t dim) {
  return kernels::CanonicalDot(values, values, dim);
}

}  // namespace

template <typename T>
struct NearestVectors<T>::Scratch {
  std::vector<float> moved;  // [kBlockRows][dim]; unused where rows are scanned where they lie
  std::vector<double> norms2;
  std::vector<kernels::NearestRow> found;
  std::vector<float> scores;  // of one row
};

template <typename T>
NearestVectors<T>::NearestVectors(std::span<const T> vectors, int64_t dim, Nearness nearness)
    : vectors_(vectors), dim_(dim), nearness_(nearness), ids_(DistinctFinite(vectors, dim)) {
  std::vector<double> mean(static_cast<size_t>(dim), 0.0);
  double spread2 = 0;
  if (!is_dot()) {
    for (const uint32_t id : ids_) {
      for (int64_t j = 0; j < dim; ++j)
        mean[j] += vectors[id * dim + j] / static_cast<double>(ids_.size());
    }
    centre_.assign(mean.begin(), mean.end());
    if (!AllFinite(centre_.data(), dim)) centre_.clear();
  }
  if (!centre_.empty()) {
    for (const uint32_t id : ids_) {
      spread2 =
          std::max(spread2, kernels::CanonicalL2(vectors.data() + id * dim, centre_.data(), dim));
    }
    // Vectors around the origin lose nothing where they are, and rows need no copy then.
    if (Norm2(centre_.data(), dim) <= spread2) centre_.clear();
  }
  rows_.Reset(static_cast<int64_t>(ids_.size()), dim);
  std::vector<float> moved(static_cast<size_t>(dim));
  for (size_t slot = 0; slot < ids_.size(); ++slot) {
    rows_.SetRow(static_cast<int64_t>(slot), vectors.data() + ids_[slot] * dim,
                 centre_.empty() ? nullptr : centre_.data(), is_dot());
    rows_.GetRow(static_cast<int64_t>(slot), moved.data());
    max_norm2_ = std::max(max_norm2_, Norm2(moved.data(), dim));
  }
}

template <typename T>
double NearestVectors<T>::Distance(const T* row, int64_t vector) const {
  const T* other = vectors_.data() + vector * dim_;
  return is_dot() ? -kernels::CanonicalDot(row, other, dim_)
                  : kernels::CanonicalL2(row, other, dim_);
}

// Returns the squared norm of what it writes.
template <typename T>
double NearestVectors<T>::Move(const T* row, float* moved) const {
  for (int64_t j = 0; j < dim_; ++j) {
    moved[j] = static_cast<float>(centre_.empty() ? row[j] : row[j] - centre_[j]);
  }
  return Norm2(moved, dim_);
}

// The nearest by canonical distance of all vectors whose score is within `limit`; of all of them
// where scores say nothing (limit = +inf).
template <typename T>
uint32_t NearestVectors<T>::Settle(const T* row, const float* moved, float limit,
                                   Scratch* scratch) const {
  const bool scored = std::isfinite(limit);
  if (scored) {
    const int64_t stride = rows_.num_groups() * kernels::kGroupRows;
    scratch->scores.resize(static_cast<size_t>(stride));
    kernels::ScoreBlock({.rows = rows_.rows(),
                         .init = rows_.init(),
                         .dim = dim_,
                         .first_group = 0,
                         .num_groups = rows_.num_groups(),
                         .queries = moved,
                         .bounds = nullptr,
                         .num_queries = 1},
                        scratch->scores.data(), stride);
  }
  double least = std::numeric_limits<double>::infinity();
  uint32_t nearest = ids_.empty() ? 0 : ids_.front();  // empty: no vector is finite
  for (size_t slot = 0; slot < ids_.size(); ++slot) {
    if (scored && scratch->scores[slot] > limit) continue;
    const double distance = Distance(row, ids_[slot]);
    if (distance < least) {
      least = distance;
      nearest = ids_[slot];
    }
  }
  return nearest;
}

template <typename T>
void NearestVectors<T>::Find(const T* rows, int64_t stride, int64_t num_rows,
                             uint32_t* nearest) const {
  const bool in_place = std::is_same_v<T, float> && centre_.empty();
  Scratch scratch;
  const int64_t block = std::min(kBlockRows, num_rows);
  if (!in_place) scratch.moved.resize(static_cast<size_t>(block * dim_));
  scratch.norms2.resize(static_cast<size_t>(block));
  scratch.found.resize(static_cast<size_t>(block));
  const double error = 2.02 * kernels::ErrorFactor(dim_);
  for (int64_t first = 0; first < num_rows; first += block) {
    const int64_t count = std::min(block, num_rows - first);
    const float* queries = scratch.moved.data();
    if constexpr (std::is_same_v<T, float>) {
      if (in_place) queries = rows + first * stride;
    }
    const int64_t query_stride = in_place ? stride : dim_;
    for (int64_t i = 0; i < count; ++i) {
      scratch.norms2[i] = in_place
                              ? Norm2(queries + i * query_stride, dim_)
                              : Move(rows + (first + i) * stride, scratch.moved.data() + i * dim_);
    }
    kernels::FindNearestRows({.rows = rows_.rows(),
                              .init = rows_.init(),
                              .dim = dim_,
                              .num_groups = rows_.num_groups(),
                              .queries = queries,
                              .stride = query_stride,
                              .num_queries = count},
                             scratch.found.data());
    for (int64_t i = 0; i < count; ++i) {
      const kernels::NearestRow& found = scratch.found[i];
      const double norm2 = scratch.norms2[i];
      float limit = std::numeric_limits<float>::infinity();
      if (norm2 < kScorableNorm2 && max_norm2_ < kScorableNorm2) {
        // Scores are off by at most E (|q|^2 + 2 |x|^2) (block_scan.h).
        const double slack =
            error * (norm2 + max_norm2_) + kUnderflow * static_cast<double>(dim_ + 8);
        limit = std::nextafter(static_cast<float>(found.score + slack),
                               std::numeric_limits<float>::infinity());
        if (found.second > limit) {
          nearest[first + i] = ids_[found.row];
          continue;
        }
      }
      nearest[first + i] =
          Settle(rows + (first + i) * stride, queries + i * query_stride, limit, &scratch);
    }
  }
}

template class NearestVectors<float>;
template class NearestVectors<double>;

}  // namespace kinjo::index
