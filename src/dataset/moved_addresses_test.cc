#include "dataset/moved_addresses.h"

#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

using testing::ElementsAre;
using Fragments = std::vector<format::proto::DataFragmentMessage>;

RowAddress At(uint64_t fragment, uint64_t row) { return fragment << 32 | row; }

Fragments Made(const std::vector<std::pair<uint64_t, uint64_t>>& ids_and_rows) {
  Fragments made;
  for (const auto& [id, rows] : ids_and_rows) {
    made.emplace_back();
    made.back().id = id;
    made.back().physical_rows = rows;
  }
  return made;
}

TEST(MovedAddressesTest, RowsOfGroupsFollowEachOther) {
  MovedAddresses moved;
  moved.BeginGroup();
  format::DeadRows dead;
  dead.Add(0);
  dead.Add(2);
  moved.AddOld(3, 4, std::move(dead));
  moved.AddOld(5, 2, {});
  moved.BeginGroup();
  moved.AddOld(4, 2, {});
  moved.SetNew(0, Made({{10, 3}, {11, 1}}));
  moved.SetNew(1, Made({{12, 2}}));
  std::vector<RowAddress> rows = {At(3, 0), At(3, 1), At(3, 2), At(3, 3), At(5, 0),
                                  At(5, 1), At(4, 1), At(9, 1), At(3, 7), ~RowAddress{0}};
  moved.Apply(rows);
  // Deleted rows, rows of other fragments and rows that never were stay.
  EXPECT_THAT(rows, ElementsAre(At(3, 0), At(10, 0), At(3, 2), At(10, 1), At(10, 2), At(11, 0),
                                At(12, 1), At(9, 1), At(3, 7), ~RowAddress{0}));
}

// Against a walk over all rows; blocks of counted rows, words and their ends come into it.
TEST(MovedAddressesTest, ManyDeletedRows) {
  constexpr uint64_t kRows = 70'001;
  std::mt19937_64 random(4);
  for (const uint64_t one_in : {2, 50, 5000}) {
    format::DeadRows dead;
    std::vector<bool> is_dead(kRows);
    for (uint64_t row = 0; row < kRows; ++row) {
      if (random() % one_in != 0) continue;
      dead.Add(row);
      is_dead[row] = true;
    }
    const uint64_t live = kRows - dead.count();
    EXPECT_EQ(dead.CountIn(0, kRows), dead.count());
    MovedAddresses moved;
    moved.BeginGroup();
    moved.AddOld(0, kRows, std::move(dead));
    moved.SetNew(0, Made({{1, live / 3}, {2, live - live / 3}}));
    uint64_t position = 0;
    for (uint64_t row = 0; row < kRows; ++row) {
      RowAddress address = At(0, row);
      moved.Apply({&address, 1});
      if (is_dead[row]) {
        ASSERT_EQ(address, At(0, row));
        continue;
      }
      const RowAddress expected =
          position < live / 3 ? At(1, position) : At(2, position - live / 3);
      ASSERT_EQ(address, expected) << row;
      ++position;
    }
  }
}

}  // namespace
}  // namespace kinjo::dataset
