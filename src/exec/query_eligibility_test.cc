#include "exec/query_eligibility.h"

#include "exec/neighbor_heaps.h"
#include "gtest/gtest.h"

namespace kinjo::exec {
namespace {

constexpr uint64_t kFragment = uint64_t{1} << 32;

TEST(RowGroupsTest, KnowsTheRowsOfEachGroup) {
  RowGroups groups;
  groups.Set(3 * kFragment + 5, 1);
  groups.Set(3 * kFragment + 2, 0);
  groups.Set(7, 1);
  groups.Set(kFragment + 1, 4);
  const std::vector<uint64_t> asked = {7,
                                       8,
                                       3 * kFragment + 5,
                                       3 * kFragment + 2,
                                       3 * kFragment + 3,
                                       2 * kFragment,
                                       dataset::kDeadRow};
  std::vector<uint32_t> found(asked.size());
  groups.Of(asked, found);
  constexpr uint32_t kNone = RowGroups::kNone;
  EXPECT_EQ(found, (std::vector<uint32_t>{1, kNone, 1, 0, kNone, kNone, kNone}));
  EXPECT_EQ(groups.num_groups(), 5u);
  EXPECT_EQ(groups.rows(1), 2);
  EXPECT_EQ(groups.rows(3), 0);
  EXPECT_EQ(groups.rows(kNone), 0);
  std::vector<uint64_t> visited;
  groups.ForEach([&](uint64_t address, uint32_t) { visited.push_back(address); });
  EXPECT_EQ(visited,
            (std::vector<uint64_t>{7, kFragment + 1, 3 * kFragment + 2, 3 * kFragment + 5}));
}

TEST(QueryEligibilityTest, ExcludesByAddress) {
  QueryEligibility eligibility;
  eligibility.excludes = true;
  eligibility.self = {40, QueryEligibility::kNobody, 20};
  eligibility.Finish();
  EXPECT_TRUE(eligibility.Excludes(0, 40));
  EXPECT_FALSE(eligibility.Excludes(1, 40));
  EXPECT_EQ(eligibility.excluded_rows(1), 0);
  EXPECT_EQ(eligibility.excluded_rows(2), 1);
  const auto found = eligibility.FindExcluded(std::vector<uint64_t>{10, 20, 30, 40, 50});
  ASSERT_EQ(found.size(), 2u);
  ASSERT_EQ(eligibility.ExcludedFor(2, found).size(), 1u);
  EXPECT_EQ(eligibility.ExcludedFor(2, found)[0].position, 1u);
  EXPECT_TRUE(eligibility.ExcludedFor(1, found).empty());
}

TEST(QueryEligibilityTest, ExcludesAllRowsOfAKey) {
  RowGroups selves;
  for (const uint64_t address : {3, 5, 8}) selves.Set(address, 1);
  selves.Set(4, 0);
  QueryEligibility eligibility;
  eligibility.excludes = true;
  eligibility.selves = &selves;
  eligibility.self = {1, 0};
  eligibility.Finish();
  EXPECT_EQ(eligibility.excluded_rows(0), 3);
  EXPECT_TRUE(eligibility.Excludes(0, 8));
  EXPECT_FALSE(eligibility.Excludes(0, 4));
  EXPECT_FALSE(eligibility.Excludes(0, 100));
  const auto found = eligibility.FindExcluded(std::vector<uint64_t>{8, 100, 4, 3});
  EXPECT_EQ(eligibility.ExcludedFor(0, found).size(), 2u);
  EXPECT_EQ(eligibility.ExcludedFor(1, found).size(), 1u);
}

TEST(QueryEligibilityTest, AHeapPassesOverWhatItsQueryExcludes) {
  QueryEligibility eligibility;
  eligibility.excludes = true;
  eligibility.self = {1, 2};
  eligibility.Finish();
  NeighborHeaps heaps;
  heaps.Reset(2, 2, {.lower = 0.5f}, &eligibility);
  for (const int64_t query : {0, 1}) {
    for (uint64_t address = 0; address < 4; ++address) {
      heaps.Push(query, {static_cast<float>(address), address});
    }
  }
  EXPECT_EQ(heaps.nearer_than_range(0), 1);  // row 0
  const auto first = heaps.TakeSorted(0);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].address, 2u);
  EXPECT_EQ(first[1].address, 3u);
  EXPECT_EQ(heaps.TakeSorted(1)[0].address, 1u);
}

}  // namespace
}  // namespace kinjo::exec
