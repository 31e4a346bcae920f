#include "join/neighbor_lists.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace kinjo::join {
namespace {

using Lists = std::vector<std::vector<kernels::Neighbor>>;

Lists RandomLists(int64_t rows, int64_t k, uint32_t seed) {
  std::mt19937 random(seed);
  Lists lists(static_cast<size_t>(rows));
  for (auto& list : lists) {
    std::set<uint64_t> addresses;
    const auto size = static_cast<size_t>(random() % static_cast<uint32_t>(k + 1));
    while (addresses.size() < size) addresses.insert(uint64_t{random() % 5} << 32 | random() % 40);
    for (const uint64_t address : addresses) {
      list.push_back({static_cast<float>(random() % 4), address});
    }
    std::sort(list.begin(), list.end());
  }
  return lists;
}

TEST(NeighborLists, GivesBackWhatWasAppendedWithItsMarks) {
  // More rows than a chunk has, and a row on each side of its border.
  const Lists lists = RandomLists(9000, 7, 11);
  NeighborLists kept;
  for (const auto& list : lists) kept.Append(list);
  ASSERT_EQ(kept.num_rows(), 9000);
  std::map<int64_t, std::set<uint64_t>> marks;
  std::mt19937 random(12);
  for (const int64_t row : {0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 8999}) {
    for (const auto& neighbour : lists[row]) {
      EXPECT_TRUE(kept.Contains(row, neighbour.address));
      if (random() % 2 == 0) continue;
      EXPECT_TRUE(kept.Mark(row, neighbour.address));
      marks[row].insert(neighbour.address);
    }
    EXPECT_FALSE(kept.Contains(row, 41));
    EXPECT_FALSE(kept.Mark(row, 41));
  }
  std::vector<kernels::Neighbor> neighbours(3);
  std::vector<bool> marked(3, true);
  for (int64_t row = 0; row < 9000; ++row) {
    kept.Get(row, &neighbours, &marked);
    const auto& expected = lists[row];
    ASSERT_EQ(neighbours.size(), expected.size());
    ASSERT_EQ(marked.size(), expected.size());
    std::set<uint64_t> visited;
    kept.VisitMarked(row, [&](uint64_t address) { visited.insert(address); });
    EXPECT_EQ(visited, marks[row]);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(neighbours[i].address, expected[i].address);
      EXPECT_EQ(neighbours[i].distance, expected[i].distance);
      EXPECT_EQ(marked[i], marks[row].contains(expected[i].address));
    }
  }
}

TEST(NeighborLists, MarksWhereItIsTold) {
  NeighborLists kept;
  kept.Append(std::vector<kernels::Neighbor>{{1, 7}, {2, 3}, {3, 9}});
  kept.Append({});
  EXPECT_EQ(kept.MarkWhere(0, [](uint64_t address) { return address > 3; }), 2);
  EXPECT_EQ(kept.MarkWhere(1, [](uint64_t) { return true; }), 0);
  std::vector<uint64_t> visited;
  kept.VisitMarked(0, [&](uint64_t address) { visited.push_back(address); });
  EXPECT_EQ(visited, (std::vector<uint64_t>{7, 9}));
}

TEST(NeighborLists, SizeHoldsTheEntriesAndTheSpareOfTheLastChunk) {
  EXPECT_GE(NeighborLists::SizeBytes(1000000, 10), 1000000 * (10 * 16 + 8));
  EXPECT_LE(NeighborLists::SizeBytes(1000000, 10), 1000000 * (10 * 16 + 8) + (1 << 20));
  EXPECT_LE(NeighborLists::SizeBytes(0, 10), 1 << 16);
}

}  // namespace
}  // namespace kinjo::join
