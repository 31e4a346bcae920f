// One run of a plan: the pool and cancel token its operators are handed, the counters of each
// operator, and the filters that several operators share.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/cancel_token.h"
#include "base/thread_pool.h"
#include "dataset/row_mask.h"

namespace kinjo::exec {

class Operator;

/// Names of counters, as Lance prints them.
inline constexpr std::string_view kPartitionsRanked = "partitions_ranked";
inline constexpr std::string_view kDeltasSearched = "deltas_searched";
inline constexpr std::string_view kPartitionsSearched = "partitions_searched";
inline constexpr std::string_view kIndexComparisons = "index_comparisons";
inline constexpr std::string_view kIndicesLoaded = "indices_loaded";
inline constexpr std::string_view kPartsLoaded = "parts_loaded";
/// Ours: partitions of which only the row ids were read, because no row of them could match. Shown
/// where it isn't 0.
inline constexpr std::string_view kPartsSkipped = "parts_skipped";
inline constexpr std::string_view kPrefilterRowIds = "prefilter_row_ids";
inline constexpr std::string_view kRowsScanned = "rows_scanned";
inline constexpr std::string_view kRowsRefined = "rows_refined";
inline constexpr std::string_view kRowsTaken = "rows_taken";

/// What one operator counted in one run.
struct OperatorMetrics {
  int64_t output_rows = 0;
  int64_t elapsed_compute_ns = 0;                       ///< without the time of its inputs
  std::vector<std::pair<std::string, int64_t>> counts;  ///< in the order in which they were made

  /// Adds to a counter; 0 makes it, so that it shows.
  void Add(std::string_view name, int64_t count);
  int64_t Get(std::string_view name) const;
};

/// Not thread-safe: one thread pulls the plan, its operators spread their work over the pool.
class PlanRun {
 public:
  PlanRun(base::ThreadPool* pool, base::CancelToken cancel)
      : pool_(pool), cancel_(std::move(cancel)) {}
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  base::ThreadPool* pool() const { return pool_; }
  const base::CancelToken& cancel() const { return cancel_; }

  /// The counters of an operator, made when first asked for; they stay where they are.
  OperatorMetrics* MetricsOf(const Operator* op) { return &metrics_[op]; }
  /// Null when the operator didn't run.
  const OperatorMetrics* FindMetrics(const Operator* op) const;
  /// A counter summed over all operators.
  int64_t Total(std::string_view name) const;

  /// The rows that the plan below `source` gave, once it has run: filters run once a run.
  std::shared_ptr<const dataset::RowMask> FindMask(const Operator* source) const;
  void KeepMask(const Operator* source, std::shared_ptr<const dataset::RowMask> mask) {
    masks_[source] = std::move(mask);
  }

  /// While it lives, time counts for one operator, but for what operators below it take.
  class OwnTime {
   public:
    OwnTime(PlanRun* run, OperatorMetrics* metrics);
    ~OwnTime();
    OwnTime(const OwnTime&) = delete;
    OwnTime& operator=(const OwnTime&) = delete;

   private:
    PlanRun* run_;
    OperatorMetrics* metrics_;
    int64_t outer_nested_ns_;
    std::chrono::steady_clock::time_point start_;
  };

 private:
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  int64_t nested_ns_ = 0;  // of the operators below the one that is timed now
  std::unordered_map<const Operator*, OperatorMetrics> metrics_;
  std::unordered_map<const Operator*, std::shared_ptr<const dataset::RowMask>> masks_;
};

}  // namespace kinjo::exec
