#include "dataset/index_params.h"

#include <gtest/gtest.h>

#include "base/assert_result.h"

namespace kinjo::dataset {
namespace {

using format::ElementType;
using kernels::Metric;

IndexedVectors Column(int64_t rows, int64_t dim, ElementType element = ElementType::kFloat32) {
  return {.column = "vec", .element = element, .dim = dim, .lists = false, .num_rows = rows};
}

std::string Refusal(const IndexParams& params, const IndexedVectors& column) {
  const auto resolved = ResolveIndexParams(params, column);
  EXPECT_FALSE(resolved.ok());
  return resolved.ok() ? "" : base::MessageOf(resolved.status());
}

TEST(IndexParams, WhatIsNotGivenIsChosenAndTold) {
  KINJO_ASSERT_RESULT(pq, ResolveIndexParams({}, Column(1000000, 128)));
  EXPECT_EQ(pq.training.index_type, "IVF_PQ");
  EXPECT_EQ(pq.training.metric, Metric::kL2);
  EXPECT_EQ(pq.training.num_partitions, 122);
  EXPECT_EQ(pq.training.num_sub_vectors, 16);
  EXPECT_EQ(pq.training.num_bits, 8);
  EXPECT_EQ(pq.choices.size(), 2u);
  KINJO_ASSERT_RESULT(
      bits, ResolveIndexParams({.type = "ivf_hnsw_flat"}, Column(5, 16, ElementType::kUint8)));
  EXPECT_EQ(bits.training.metric, Metric::kHamming);
  EXPECT_EQ(bits.training.num_partitions, 1);
  EXPECT_EQ(bits.graphs.m, 20u);
  KINJO_ASSERT_RESULT(given,
                      ResolveIndexParams({.type = "IVF_RQ", .metric = "DOT", .num_partitions = 7},
                                         Column(100, 16)));
  EXPECT_EQ(given.training.num_bits, 5);
  EXPECT_EQ(given.training.metric, Metric::kDot);
  EXPECT_TRUE(given.choices.empty());
}

TEST(IndexParams, ListsOfVectorsHaveCosine) {
  IndexedVectors lists = Column(100, 8);
  lists.lists = true;
  KINJO_ASSERT_RESULT(resolved, ResolveIndexParams({}, lists));
  EXPECT_EQ(resolved.training.metric, Metric::kCosine);
  EXPECT_NE(Refusal({.metric = "l2"}, lists).find("needs cosine"), std::string::npos);
}

TEST(IndexParams, WhatCanNotBeIsRefused) {
  const IndexedVectors column = Column(100, 12);
  EXPECT_NE(Refusal({.type = "LSH"}, column).find("IVF_HNSW_SQ"), std::string::npos);
  EXPECT_NE(Refusal({.metric = "l3"}, column).find("l2, cosine, dot or hamming"),
            std::string::npos);
  EXPECT_NE(Refusal({.num_sub_vectors = 5}, column).find("must divide"), std::string::npos);
  EXPECT_NE(Refusal({.type = "IVF_SQ", .num_sub_vectors = 4}, column).find("no sub-vectors"),
            std::string::npos);
  EXPECT_NE(Refusal({.type = "IVF_FLAT", .num_bits = 8}, column).find("as they are"),
            std::string::npos);
  EXPECT_NE(Refusal({.num_partitions = -1}, column).find("num_partitions"), std::string::npos);
  EXPECT_NE(Refusal({.type = "IVF_HNSW_SQ", .m = 1}, column).find("m must be from 2"),
            std::string::npos);
  EXPECT_FALSE(Refusal({.type = "IVF_RQ"}, column).empty());     // not a multiple of 8
  EXPECT_FALSE(Refusal({.metric = "hamming"}, column).empty());  // not of bits
  EXPECT_FALSE(Refusal({}, Column(100, 12, ElementType::kUint8)).empty());
}

TEST(IndexParams, GivenCentroidsCountThePartitions) {
  const std::vector<float> values(24, 1.0f);
  IndexParams params;
  params.centroids = format::Tensor{.type = ElementType::kFloat32,
                                    .rows = 2,
                                    .cols = 12,
                                    .data = arrow::Buffer::FromVector(values)};
  KINJO_ASSERT_RESULT(resolved, ResolveIndexParams(params, Column(100, 12)));
  EXPECT_EQ(resolved.training.num_partitions, 2);
  params.num_partitions = 3;
  EXPECT_NE(Refusal(params, Column(100, 12)).find("2 centroids are given"), std::string::npos);
  params.num_partitions = 0;
  EXPECT_FALSE(Refusal(params, Column(100, 16)).empty());
}

}  // namespace
}  // namespace kinjo::dataset
