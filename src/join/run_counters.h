// What a run counts while it goes: atomics that any thread adds to, and the phases' seconds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/ann_ivf_batch.h"
#include "join/knn_join.h"
#include "join/ways.h"

namespace kinjo::join {

/// Counters of one run. Thread-safe.
struct RunCounters {
  std::atomic<int64_t> left_rows{0};
  std::atomic<int64_t> resumed_rows{0};
  std::atomic<bool> finished{false};  ///< every left row is joined
  std::atomic<int64_t> skipped_null_rows{0};
  std::atomic<int64_t> skipped_non_finite_rows{0};
  std::atomic<int64_t> duplicate_rows{0};
  std::atomic<int64_t> short_rows{0};
  std::atomic<int64_t> capped_rows{0};
  std::atomic<int64_t> result_rows{0};
  std::atomic<int64_t> dropped_matches{0};
  std::atomic<int64_t> clusters{0};
  std::atomic<int64_t> partitions_ranked{0};
  std::atomic<int64_t> exact_comparisons{0};
  std::atomic<int64_t> rows_refined{0};
  std::atomic<int64_t> rows_scanned{0};
  std::atomic<int64_t> scan_tiles_started{0};
  exec::BatchCounters batch;
  std::atomic<int64_t> filter_rows{0};
  std::atomic<int64_t> filter_rows_evaluated{0};
  std::atomic<bool> scored_all_passing{false};
  std::atomic<int64_t> measured_memory_bytes{-1};  ///< -1: not known
  // Nanoseconds of each phase, by the clock on the wall.
  std::atomic<int64_t> filter_ns{0};
  std::atomic<int64_t> choose_ns{0};
  std::atomic<int64_t> rank_ns{0};
  std::atomic<int64_t> probe_ns{0};
  std::atomic<int64_t> refine_ns{0};
  std::atomic<int64_t> exact_ns{0};
  std::atomic<int64_t> take_ns{0};
  std::atomic<int64_t> total_ns{0};

  /// What the filter let through, and which scalar indexes answered parts of it.
  void SetFilterAnswer(int64_t rows, int64_t rows_evaluated, std::vector<std::string> indexes) {
    filter_rows.store(rows);
    filter_rows_evaluated.store(rows_evaluated);
    const std::lock_guard<std::mutex> lock(mutex_);
    filter_indexes_ = std::move(indexes);
  }
  void SetRecall(RecallReport recall) {
    const std::lock_guard<std::mutex> lock(mutex_);
    recall_ = recall;
  }
  /// The way that the run goes.
  void SetWay(ConsideredWay way) {
    const std::lock_guard<std::mutex> lock(mutex_);
    way_ = std::move(way);
  }
  std::optional<ConsideredWay> way() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return way_;
  }
  std::optional<RecallReport> recall() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return recall_;
  }
  std::vector<std::string> filter_indexes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return filter_indexes_;
  }

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::string> filter_indexes_;
  std::optional<RecallReport> recall_;
  std::optional<ConsideredWay> way_;
};

/// Adds the time of its own life to a phase.
class PhaseTimer {
 public:
  explicit PhaseTimer(std::atomic<int64_t>* phase_ns)
      : phase_ns_(phase_ns), start_(std::chrono::steady_clock::now()) {}
  ~PhaseTimer() {
    const auto spent = std::chrono::steady_clock::now() - start_;
    phase_ns_->fetch_add(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count(),
                         std::memory_order_relaxed);
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  std::atomic<int64_t>* phase_ns_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace kinjo::join
