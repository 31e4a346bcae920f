#include "join/pair_selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace kinjo::join {
namespace {

using Lists = std::vector<std::vector<uint32_t>>;
using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

Lists RandomLists(uint32_t rows, uint32_t k, uint32_t seed) {
  std::mt19937 random(seed);
  Lists lists(rows);
  for (uint32_t row = 0; row < rows; ++row) {
    std::set<uint32_t> others;
    const uint32_t size = std::min<uint32_t>(random() % (k + 1), rows - 1);
    while (others.size() < size) {
      const auto other = static_cast<uint32_t>(random() % rows);
      if (other != row) others.insert(other);
    }
    lists[row].assign(others.begin(), others.end());
    std::shuffle(lists[row].begin(), lists[row].end(), random);
  }
  return lists;
}

/// By the definition, with all lists at hand.
Pairs Expected(const Lists& lists) {
  const auto has = [&](uint32_t row, uint32_t other) {
    return std::count(lists[row].begin(), lists[row].end(), other) > 0;
  };
  Pairs pairs;
  for (uint32_t row = 0; row < lists.size(); ++row) {
    for (const uint32_t other : lists[row]) {
      if (row < other || !has(other, row)) pairs.emplace_back(row, other);
    }
  }
  return pairs;
}

TEST(PairSelection, GivesEachPairOnceAtTheEarlierRowThatHasIt) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const uint32_t rows = 1 + seed % 40;
    const Lists lists = RandomLists(rows, seed % 9, seed);
    PairSelection selection;
    Pairs pairs;
    std::vector<bool> keep(5, true);
    for (uint32_t row = 0; row < rows; ++row) {
      const int64_t kept = selection.Next(lists[row], &keep);
      ASSERT_EQ(keep.size(), lists[row].size());
      EXPECT_EQ(kept, std::count(keep.begin(), keep.end(), true));
      for (size_t i = 0; i < keep.size(); ++i) {
        if (keep[i]) pairs.emplace_back(row, lists[row][i]);
      }
    }
    EXPECT_EQ(pairs, Expected(lists)) << "seed " << seed;
    std::set<std::pair<uint32_t, uint32_t>> once;
    for (const auto& [a, b] : pairs) {
      EXPECT_TRUE(once.insert(std::minmax(a, b)).second) << "seed " << seed;
    }
    for (uint32_t row = 0; row < rows; ++row) {
      for (const uint32_t other : lists[row]) EXPECT_TRUE(once.contains(std::minmax(row, other)));
    }
  }
}

TEST(PairSelection, SizeGrowsWithRowsAndNeighbours) {
  EXPECT_GE(PairSelection::SizeBytes(1000, 10), 1000 * 48);
  EXPECT_LE(PairSelection::SizeBytes(1000, 10), 1000 * 60);
}

}  // namespace
}  // namespace kinjo::join
