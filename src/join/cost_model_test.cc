#include "join/cost_model.h"

#include <gtest/gtest.h>

namespace kinjo::join {
namespace {

/// A machine whose speeds are round, so that what is cheaper is plain.
CostModel Model(int threads = 2) {
  const MachineSpeed machine{.multiply_ns = 0.05,
                             .code_multiply_ns = 0.02,
                             .group_ns = 1,
                             .unit_ns = 1.5,
                             .canonical_ns = 0.3,
                             .copy_ns = 0.02};
  return {machine, {.request_ns = 2000}, threads};
}

ExactWork Scan(int64_t left_rows, int64_t right_rows, int64_t block_rows) {
  return {.left_rows = left_rows,
          .block_rows = block_rows,
          .right_rows = right_rows,
          .batch_rows = 8192,
          .dim = 128,
          .k = 10};
}

double ExactSeconds(const ExactWork& work, ExactWay way) {
  return Model().Exact(work, way).seconds;
}

TEST(CostModel, FewQueriesAreScoredPairByPair) {
  const ExactWork one = Scan(1, 1'000'000, 16384);
  const ExactWork many = Scan(1000, 1'000'000, 16384);
  EXPECT_LT(ExactSeconds(one, ExactWay::kPairs), ExactSeconds(one, ExactWay::kOwnBlocks));
  EXPECT_GT(ExactSeconds(many, ExactWay::kPairs), ExactSeconds(many, ExactWay::kOwnBlocks));
}

TEST(CostModel, BlocksOfEachThreadNeedEnoughBlocks) {
  const ExactWork large = Scan(50, 1'000'000, 16384);
  EXPECT_LT(ExactSeconds(large, ExactWay::kOwnBlocks),
            ExactSeconds(large, ExactWay::kSharedBlocks));
  const ExactWork one_block = Scan(10'000, 8000, 16384);
  EXPECT_GT(ExactSeconds(one_block, ExactWay::kOwnBlocks),
            ExactSeconds(one_block, ExactWay::kSharedBlocks));
}

TEST(CostModel, AResidentRightSidePaysFromTheSecondQueryBlockOn) {
  const ExactWork one = Scan(1000, 1'000'000, 1000);
  EXPECT_EQ(ExactSeconds(one, ExactWay::kKeptBlocks), ExactSeconds(one, ExactWay::kOwnBlocks));
  const ExactWork ten = Scan(1000, 1'000'000, 100);
  EXPECT_LT(ExactSeconds(ten, ExactWay::kKeptBlocks), ExactSeconds(ten, ExactWay::kOwnBlocks));
  EXPECT_EQ(Model().Exact(ten, ExactWay::kKeptBlocks).bytes_read, 1e6 * 128 * 4);
  EXPECT_EQ(Model().Exact(ten, ExactWay::kOwnBlocks).bytes_read, 10 * 1e6 * 128 * 4);
}

IndexWork Probes(int64_t left_rows, int64_t block_rows, double cached) {
  return {.left_rows = left_rows,
          .block_rows = block_rows,
          .partitions = 1000,
          .rows = 1'000'000,
          .bytes = 32'000'000,
          .cached = cached,
          .probes = 20,
          .dim = 128,
          .candidates = 50,
          .refines = true};
}

TEST(CostModel, PartitionMajorBeatsOneByOne) {
  const double together = Model().Index(Probes(10'000, 10'000, 1)).seconds;
  EXPECT_GT(Model().Index(Probes(10'000, 1, 1)).seconds, 3 * together);
  EXPECT_NEAR(Model().Index(Probes(1, 1, 1)).seconds, Model().Index(Probes(1, 10'000, 1)).seconds,
              1e-9);
}

TEST(CostModel, AStreamedIndexIsReadOnceABlock) {
  const IndexWork streamed = Probes(10'000, 1000, 0);
  const IndexWork resident = Probes(10'000, 1000, 1);
  EXPECT_NEAR(CostModel::PartitionsRead(resident), 1000, 1);
  EXPECT_NEAR(CostModel::PartitionsRead(streamed), 10'000, 10);
  EXPECT_GT(Model().Index(streamed).seconds, Model().Index(resident).seconds);
  EXPECT_NEAR(CostModel::PartitionsTouched(resident, 1), 20, 0.5);
}

TEST(CostModel, AFilterBesidePaysForFewRowsOfALargeSide) {
  FilterWork work{.right_rows = 100'000'000, .row_bytes = 4, .row_ns = 3};
  work.partitions = 20;
  work.rows_met = 20'000;
  EXPECT_LT(Model().Filter(work, FilterWay::kBeside).seconds,
            Model().Filter(work, FilterWay::kFirst).seconds);
  work.partitions = 100'000;
  work.rows_met = 100'000'000;
  EXPECT_GT(Model().Filter(work, FilterWay::kBeside).seconds,
            Model().Filter(work, FilterWay::kFirst).seconds);
}

TEST(CostModel, MeasuresEverySpeed) {
  const MachineSpeed& speed = MeasuredSpeed();
  for (const double ns : {speed.multiply_ns, speed.code_multiply_ns, speed.group_ns, speed.unit_ns,
                          speed.canonical_ns, speed.copy_ns}) {
    EXPECT_GT(ns, 0);
  }
  EXPECT_EQ(&speed, &MeasuredSpeed());
}

TEST(CostModel, AStoreIsAsFarAsItsRequestsTake) {
  EXPECT_EQ(StorageSpeedOf(0, 0).request_ns, StorageSpeed{}.request_ns);
  EXPECT_EQ(StorageSpeedOf(10, 100'000).request_ns, 10'000);
  EXPECT_EQ(StorageSpeedOf(10, 100'000).byte_ns, 0);
  EXPECT_GT(StorageSpeedOf(10, 300'000'000).byte_ns, 0);
}

}  // namespace
}  // namespace kinjo::join
