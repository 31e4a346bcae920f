#include "dataset/row_mask.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

using testing::ElementsAre;

RowAddress At(uint64_t fragment, uint64_t row) { return fragment << 32 | row; }

std::vector<RowAddress> RowsOf(const RowMask& mask) {
  std::vector<RowAddress> rows;
  mask.ForEach([&](RowAddress address) {
    rows.push_back(address);
    return true;
  });
  return rows;
}

TEST(RowMaskTest, HoldsWhatWasAddedAndNothingElse) {
  RowMask mask;
  EXPECT_EQ(mask.count(), 0u);
  EXPECT_FALSE(mask.Contains(0));
  mask.Add(At(7, 3));
  mask.Add(At(0, 0));
  mask.Add(At(0, 0));
  EXPECT_THAT(RowsOf(mask), ElementsAre(At(0, 0), At(7, 3)));
  EXPECT_TRUE(mask.Contains(0));
  EXPECT_FALSE(mask.Contains(At(7, 0)));
  EXPECT_FALSE(mask.Contains(At(3, 3)));
  EXPECT_FALSE(mask.Contains(kDeadRow));
  EXPECT_EQ(mask.count_in(7), 1u);
  EXPECT_EQ(mask.count_in(8), 0u);
}

TEST(RowMaskTest, RangesReachTheEndOfAFragment) {
  RowMask mask;
  mask.AddRange(At(2, 0xfffffffe), At(3, 0));
  mask.AddRange(At(3, 5), At(3, 5));
  EXPECT_THAT(RowsOf(mask), ElementsAre(At(2, 0xfffffffe), At(2, 0xffffffff)));
}

TEST(RowMaskTest, AVisitEndsWhenItIsTold) {
  RowMask mask;
  mask.AddRange(At(1, 0), At(1, 100));
  mask.Add(At(2, 0));
  int visits = 0;
  mask.ForEach([&](RowAddress) { return ++visits < 3; });
  EXPECT_EQ(visits, 3);
}

// Random sets against std::set, dense and sparse.
TEST(RowMaskTest, SetOperationsEqualThoseOfSortedSets) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 40; ++round) {
    const uint64_t rows = round % 2 == 0 ? 300 : 200000;
    std::set<RowAddress> sets[2];
    RowMask masks[2];
    for (int side = 0; side < 2; ++side) {
      std::vector<RowAddress> added;
      for (int i = 0; i < 500; ++i) added.push_back(At(random() % 3 + side, random() % rows));
      sets[side].insert(added.begin(), added.end());
      masks[side].Add(added);
    }
    const auto expect = [&](const RowMask& mask, const std::vector<RowAddress>& rows_in) {
      EXPECT_EQ(RowsOf(mask), rows_in);
      EXPECT_EQ(mask.count(), rows_in.size());
    };
    const auto& [a, b] = sets;
    std::vector<RowAddress> expected;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
    RowMask mask = masks[0].Clone();
    mask.IntersectWith(masks[1]);
    expect(mask, expected);
    expected.clear();
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
    mask = masks[0].Clone();
    mask.UniteWith(masks[1]);
    expect(mask, expected);
    expected.clear();
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
    mask = masks[0].Clone();
    mask.Subtract(masks[1]);
    expect(mask, expected);
    EXPECT_EQ(RowsOf(masks[0]), std::vector<RowAddress>(a.begin(), a.end()));
  }
}

TEST(RowMaskTest, RangesComeInPiecesOfSoManyRows) {
  RowMask mask;
  mask.AddRange(At(4, 10), At(4, 20));
  mask.AddRange(At(4, 100000), At(4, 103000));
  std::vector<format::RowRange> ranges;
  EXPECT_EQ(mask.AppendRanges(4, 0, 12, &ranges), 100002u);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].begin, 10u);
  EXPECT_EQ(ranges[0].end, 20u);
  EXPECT_EQ(ranges[1].begin, 100000u);
  EXPECT_EQ(ranges[1].end, 100002u);
  ranges.clear();
  EXPECT_EQ(mask.AppendRanges(4, 100002, 1u << 20, &ranges), RowMask::kNoMoreRows);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].begin, 100002u);
  EXPECT_EQ(ranges[0].end, 103000u);
  EXPECT_EQ(mask.AppendRanges(5, 0, 10, &ranges), RowMask::kNoMoreRows);
  EXPECT_EQ(mask.AppendRanges(4, uint64_t{1} << 32, 10, &ranges), RowMask::kNoMoreRows);
  EXPECT_EQ(ranges.size(), 1u);
}

TEST(RowMaskTest, KeepsOnlyTheMaskedRowsOfASpan) {
  RowMask mask;
  mask.Add(At(1, 1));
  RowAddress rows[] = {At(1, 0), At(1, 1), kDeadRow, At(2, 1)};
  KeepMaskedRows(mask, rows);
  EXPECT_THAT(rows, ElementsAre(kDeadRow, At(1, 1), kDeadRow, kDeadRow));
}

TEST(RowMaskTest, FragmentsApart) {
  RowMask mask;
  for (uint64_t fragment = 0; fragment < 4; ++fragment) mask.Add(At(fragment, 1));
  const uint64_t wanted[] = {1, 3, 9};
  EXPECT_THAT(RowsOf(mask.InFragments(wanted)), ElementsAre(At(1, 1), At(3, 1)));
}

}  // namespace
}  // namespace kinjo::dataset
