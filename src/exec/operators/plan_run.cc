#include "exec/operators/plan_run.h"

namespace kinjo::exec {

void OperatorMetrics::Add(std::string_view name, int64_t count) {
  for (auto& [known, sum] : counts) {
    if (known != name) continue;
    sum += count;
    return;
  }
  counts.emplace_back(name, count);
}

int64_t OperatorMetrics::Get(std::string_view name) const {
  for (const auto& [known, sum] : counts) {
    if (known == name) return sum;
  }
  return 0;
}

const OperatorMetrics* PlanRun::FindMetrics(const Operator* op) const {
  const auto found = metrics_.find(op);
  return found == metrics_.end() ? nullptr : &found->second;
}

int64_t PlanRun::Total(std::string_view name) const {
  int64_t total = 0;
  for (const auto& [op, metrics] : metrics_) total += metrics.Get(name);
  return total;
}

std::shared_ptr<const dataset::RowMask> PlanRun::FindMask(const Operator* source) const {
  const auto found = masks_.find(source);
  return found == masks_.end() ? nullptr : found->second;
}

PlanRun::OwnTime::OwnTime(PlanRun* run, OperatorMetrics* metrics)
    : run_(run),
      metrics_(metrics),
      outer_nested_ns_(run->nested_ns_),
      start_(std::chrono::steady_clock::now()) {
  run_->nested_ns_ = 0;
}

PlanRun::OwnTime::~OwnTime() {
  const int64_t total_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::steady_clock::now() - start_)
                               .count();
  metrics_->elapsed_compute_ns += total_ns - run_->nested_ns_;
  run_->nested_ns_ = outer_nested_ns_ + total_ns;
}

}  // namespace kinjo::exec
