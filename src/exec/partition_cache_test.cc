#include "exec/partition_cache.h"

#include <gtest/gtest.h>

namespace kinjo::exec {
namespace {

std::shared_ptr<LoadedPartition> WithGraphOf(size_t edges) {
  auto loaded = std::make_shared<LoadedPartition>();
  loaded->graph.levels.resize(1);
  loaded->graph.levels[0].neighbors.resize(edges);
  return loaded;
}

TEST(PartitionCache, CountsTheGraph) {
  EXPECT_GE(WithGraphOf(1000)->size_bytes() - WithGraphOf(0)->size_bytes(), 4000);
  PartitionCache cache(3000);
  cache.Keep(0, 1, WithGraphOf(1000));
  EXPECT_EQ(cache.Find(0, 1), nullptr);
  cache.Keep(0, 1, WithGraphOf(100));
  EXPECT_NE(cache.Find(0, 1), nullptr);
  EXPECT_EQ(cache.Find(1, 1), nullptr);
}

}  // namespace
}  // namespace kinjo::exec
