// The passes of k-means over rows held in memory: each row to its nearest centroid, each centroid
// to the mean of its rows, and clusters without rows to a half of one that is spread out.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "index/build_context.h"
#include "index/nearest_vectors.h"

namespace kinjo::index {

/// One clustering in work. Borrows the rows; not thread-safe (it uses the context's pool itself).
class Lloyd {
 public:
  /// rows is [num_rows][dim], at least one row.
  Lloyd(const float* rows, int64_t num_rows, int64_t dim, Nearness nearness,
        const BuildContext& context);

  /// Improves centroids [any][dim] by at most `max_passes` (>= 1) passes, until one lowers the cost
  /// by no more than `tolerance` of it. What the functions below say is of the centroids that it
  /// leaves. progress_from and progress_to: what part of all work this is.
  arrow::Status Run(int max_passes, double tolerance, double progress_from, double progress_to,
                    std::vector<float>* centroids);

  const std::vector<uint32_t>& labels() const { return labels_; }  ///< of each row
  const std::vector<int64_t>& sizes() const { return sizes_; }     ///< of each cluster
  double cost() const { return cost_; }                            ///< KMeansResult::cost
  int passes() const { return passes_; }                           ///< of the last Run

 private:
  const float* row(int64_t i) const { return rows_ + i * dim_; }
  arrow::Status Assign(const std::vector<float>& centroids);
  void GroupRows();
  arrow::Status MoveToMeans(std::vector<float>* centroids);
  bool SplitForEmpty(std::vector<float>* centroids);
  bool Split(int64_t donor, float* kept, float* fresh) const;
  std::vector<int64_t> Donors() const;
  bool MeanOf(const std::vector<uint32_t>& members, float* out) const;
  double Gap(const float* row, double norm, const NearestVectors<float>& nearest,
             uint32_t label) const;

  const float* const rows_;
  const int64_t num_rows_;
  const int64_t dim_;
  const Nearness nearness_;
  const BuildContext& context_;
  std::vector<double> norms_;  // kDot only
  std::vector<uint32_t> labels_;
  std::vector<double> gaps_;  // of each row to its centroid
  std::vector<int64_t> sizes_;
  std::vector<int64_t> starts_;    // of each cluster in members_
  std::vector<uint32_t> members_;  // rows, cluster after cluster, rising
  double cost_ = 0;
  int passes_ = 0;
};

}  // namespace kinjo::index
