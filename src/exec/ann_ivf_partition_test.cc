#include "exec/ann_ivf_partition.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "exec/empty_segment.h"

namespace kinjo::exec {
namespace {

/// Prepares queries of width 3, of all fields or of `values` alone; may raise `cancel` meanwhile.
class PreparingSegment final : public EmptySegment {
 public:
  explicit PreparingSegment(bool all_fields, bool scans_bytes = false)
      : all_fields_(all_fields), scans_bytes_(scans_bytes) {}

  int64_t dim() const override { return 3; }
  bool scans_bytes() const override { return scans_bytes_; }
  index::QueryBlock PrepareQueries(std::span<const double> vectors) const override {
    if (++calls_ == cancel_in_call_) cancel_.Cancel();
    index::QueryBlock block{.num_queries = static_cast<int64_t>(vectors.size()) / 3, .dim = 3};
    for (const double value : vectors) {
      block.values.push_back(value);
      if (!all_fields_) continue;
      block.coded.push_back(2 * value);
      block.bytes.push_back(static_cast<uint8_t>(static_cast<int64_t>(value) % 251));
    }
    return block;
  }

  base::CancelToken cancel_;
  mutable std::atomic<int> calls_ = 0;
  int cancel_in_call_ = 0;

 private:
  const bool all_fields_;
  const bool scans_bytes_;
};

std::vector<double> MakeQueries(int64_t count) {
  std::vector<double> vectors(static_cast<size_t>(count * 3));
  std::iota(vectors.begin(), vectors.end(), 0.0);
  return vectors;
}

TEST(AnnIvfPartition, SlicesMakeTheSameQueries) {
  base::ThreadPool pool(2);
  for (const bool all_fields : {false, true}) {
    for (const int64_t count : {0, 1, 128, 129, 700}) {
      const auto segment = std::make_shared<PreparingSegment>(all_fields);
      AnnIvfPartition ranker(segment, &pool, segment->cancel_);
      const std::vector<double> vectors = MakeQueries(count);
      ASSERT_TRUE(ranker.Start(vectors, 1, {.nprobes = 1}).ok());
      const index::QueryBlock expected = segment->PrepareQueries(vectors);
      EXPECT_EQ(ranker.queries().num_queries, count);
      EXPECT_EQ(ranker.queries().dim, 3);
      EXPECT_EQ(ranker.queries().values, expected.values);
      EXPECT_EQ(ranker.queries().coded, expected.coded);
      EXPECT_EQ(ranker.queries().bytes, expected.bytes);
    }
  }
}

TEST(AnnIvfPartition, OnlyTheBytesAreKeptThatAScanOfBytesReads) {
  base::ThreadPool pool(2);
  for (const int64_t count : {1, 128, 700}) {
    const auto segment = std::make_shared<PreparingSegment>(true, true);
    const std::vector<double> vectors = MakeQueries(count);
    const index::QueryBlock expected = segment->PrepareQueries(vectors);
    AnnIvfPartition fixed(segment, &pool, segment->cancel_);
    ASSERT_TRUE(fixed.Start(vectors, 1, {.nprobes = 1}).ok());
    EXPECT_EQ(fixed.queries().num_queries, count);
    EXPECT_EQ(fixed.queries().bytes, expected.bytes);
    EXPECT_TRUE(fixed.queries().values.empty());
    EXPECT_TRUE(fixed.queries().coded.empty());
    EXPECT_EQ(fixed.visited(0).size(), 1u);
    AnnIvfPartition late(segment, &pool, segment->cancel_);
    ASSERT_TRUE(late.Start(vectors, 1, {}).ok());
    EXPECT_EQ(late.queries().values, expected.values);
  }
}

TEST(AnnIvfPartition, StopsWhileQueriesArePrepared) {
  base::ThreadPool pool(1);
  const auto segment = std::make_shared<PreparingSegment>(true);
  segment->cancel_in_call_ = 2;
  AnnIvfPartition ranker(segment, &pool, segment->cancel_);
  const arrow::Status status = ranker.Start(MakeQueries(700), 1, {.nprobes = 1});
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCancelled);
  EXPECT_EQ(segment->calls_, 2);
}

}  // namespace
}  // namespace kinjo::exec
