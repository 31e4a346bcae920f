#include "join/arrange_queries.h"

#include "gtest/gtest.h"

namespace kinjo::join {
namespace {

exec::QueryRows Queries(const std::vector<double>& values) {
  exec::QueryRows rows;
  rows.dim = 2;
  for (const double value : values) {
    rows.values.insert(rows.values.end(), {value, -value});
    rows.norms.push_back(value);
    ++rows.num_queries;
  }
  return rows;
}

TEST(ArrangeQueriesTest, LeavesDifferentQueriesAsTheyAre) {
  const ArrangedQueries arranged = ArrangeQueries(Queries({3, 1, 2}), {}, false, nullptr);
  EXPECT_EQ(arranged.searched.rows.norms, (std::vector<double>{3, 1, 2}));
  EXPECT_EQ(arranged.number_of, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(arranged.duplicates, 0);
  EXPECT_EQ(arranged.num_queries, 3);
}

TEST(ArrangeQueriesTest, EqualQueriesAreOne) {
  // Bit by bit: 0 and -0 are two.
  const ArrangedQueries arranged =
      ArrangeQueries(Queries({3, 0.0, 3, -0.0, 0.0, 3}), {}, false, nullptr);
  EXPECT_EQ(arranged.searched.rows.num_queries, 3);
  EXPECT_EQ(arranged.searched.rows.values, (std::vector<double>{3, -3, 0, 0, 0, 0}));
  EXPECT_EQ(arranged.number_of, (std::vector<int32_t>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(arranged.duplicates, 3);
}

TEST(ArrangeQueriesTest, WhoMayFindOtherRowsIsAnotherQuery) {
  const ArrangedQueries arranged =
      ArrangeQueries(Queries({3, 3, 3}), {{.self = 1}, {.self = 2}, {.self = 1}}, true, nullptr);
  EXPECT_EQ(arranged.searched.rows.num_queries, 2);
  EXPECT_EQ(arranged.searched.eligibility.self, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(arranged.number_of, (std::vector<int32_t>{0, 1, 0}));
}

TEST(ArrangeQueriesTest, QueriesThatMatchNothingAreOneAtTheEnd) {
  constexpr uint32_t kNone = exec::RowGroups::kNone;
  const ArrangedQueries arranged = ArrangeQueries(
      Queries({5, 6, 7, 8}), {{.group = kNone}, {.group = 4}, {.group = kNone}, {.group = 2}},
      false, nullptr);
  EXPECT_EQ(arranged.searched.rows.norms, (std::vector<double>{8, 6}));
  EXPECT_EQ(arranged.number_of, (std::vector<int32_t>{2, 1, 2, 0}));
  EXPECT_EQ(arranged.num_queries, 3);
  EXPECT_EQ(arranged.duplicates, 0);
}

}  // namespace
}  // namespace kinjo::join
