#include "exec/multivector_estimate.h"

#include <gtest/gtest.h>

namespace kinjo::exec {
namespace {

using kernels::Neighbor;
using Found = std::vector<std::vector<Neighbor>>;

void ExpectRows(const Found& found, const std::vector<Neighbor>& want) {
  RowEstimates estimates;
  for (const auto& vector : found) estimates.Add(vector);
  const auto rows = estimates.Rows();
  ASSERT_EQ(rows.size(), want.size());
  EXPECT_EQ(estimates.num_rows(), static_cast<int64_t>(want.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].address, want[i].address);
    EXPECT_EQ(rows[i].distance, want[i].distance) << "row " << rows[i].address;
  }
}

TEST(MultivectorEstimate, ARowCountsWithItsNearestVectorAndElseWithTheFarthestFound) {
  // Row 7 comes twice for the first vector; row 1 is met by the first only, row 9 by the second.
  const Found found = {{{0.125f, 7}, {0.25f, 1}, {0.5f, 7}}, {{0.25f, 9}, {0.75f, 7}}};
  ExpectRows(found, {{1.0f, 1}, {0.875f, 7}, {0.75f, 9}});
}

TEST(MultivectorEstimate, AVectorThatFoundNothingCountsWithOne) {
  ExpectRows({{}, {{0.25f, 3}}, {}}, {{2.25f, 3}});
  ExpectRows({{}, {}}, {});
}

TEST(MultivectorEstimate, OneVectorGivesItsOwnDistances) {
  ExpectRows({{{0.1f, 5}, {0.2f, 4}, {0.3f, 5}}}, {{0.2f, 4}, {0.1f, 5}});
}

TEST(MultivectorEstimate, AddressZeroIsAnAddress) {
  ExpectRows({{{0.5f, 0}}, {{0.25f, 0}}}, {{0.75f, 0}});
}

}  // namespace
}  // namespace kinjo::exec
