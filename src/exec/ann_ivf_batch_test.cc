#include "exec/ann_ivf_batch.h"

#include <gtest/gtest.h>

#include "exec/empty_segment.h"

namespace kinjo::exec {
namespace {

enum class Step { kLoad, kLoadGraph, kDropUnmatchable, kDecode };

/// Raises `cancel` in the course of one step, and notes the last.
class StoppedSegment final : public EmptySegment {
 public:
  StoppedSegment(Step stop, base::CancelToken cancel) : stop_(stop), cancel_(std::move(cancel)) {}

  arrow::Status LoadCodes(int64_t, format::PartitionRows*) const override {
    Note(Step::kLoad);
    return arrow::Status::OK();
  }
  void Decode(int64_t, const format::PartitionRows&, std::span<const uint64_t>, uint64_t,
              index::DecodedPartition*) const override {
    Note(Step::kDecode);
  }
  bool has_graph() const override { return true; }
  arrow::Result<format::PartitionGraph> LoadGraph(int64_t) const override {
    Note(Step::kLoadGraph);
    return format::PartitionGraph{};
  }
  void DropUnmatchable(const format::PartitionRows&, std::span<uint64_t>, uint64_t) const override {
    Note(Step::kDropUnmatchable);
  }

  Step last() const { return last_; }

 private:
  void Note(Step step) const {
    last_ = step;
    if (step == stop_) cancel_.Cancel();
  }

  const Step stop_;
  const base::CancelToken cancel_;
  mutable Step last_ = Step::kLoad;
};

TEST(AnnIvfBatch, StopsBetweenTheStepsOfAPartition) {
  for (const int threads : {1, 2}) {
    for (const Step stop : {Step::kLoad, Step::kLoadGraph, Step::kDropUnmatchable}) {
      const base::CancelToken cancel;
      const auto segment = std::make_shared<StoppedSegment>(stop, cancel);
      base::ThreadPool pool(threads);
      PartitionCache cache(0);
      BatchCounters counters;
      std::vector<BatchWorker> workers(static_cast<size_t>(threads));
      AnnIvfBatch batch({.segment = segment}, &cache, &counters, &pool, cancel, &workers);
      NeighborHeaps heaps;
      heaps.Reset(1, 1, {});
      const std::vector<Probe> probes = {{0, 0}};
      const arrow::Status status = batch.Scan({}, ProbeList::Invert(probes, 1), &heaps);
      EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCancelled);
      EXPECT_EQ(segment->last(), stop) << "threads " << threads;
    }
  }
}

}  // namespace
}  // namespace kinjo::exec
