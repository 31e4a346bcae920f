#include "format/file/levels.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kinjo::format::file {
namespace {

using proto::RepDefLayer;

const std::string& Path() {
  static const auto* path = new std::string("test.lance");
  return *path;
}
Where Here() { return Where{.path = &Path()}; }

constexpr auto kItem = LayerKind::kItem;
constexpr auto kList = LayerKind::kList;

// list<list<int>> with every kind of null and empty.
PageLevels NestedLists() {
  return PageLevels::Make({RepDefLayer::kAllValidItem, RepDefLayer::kNullAndEmptyList,
                           RepDefLayer::kNullAndEmptyList},
                          {kItem, kList, kList}, Here())
      .ValueOrDie();
}

TEST(LevelsTest, NumbersAPagesLevelsAsIfEverythingWereNullable) {
  const PageLevels nested = NestedLists();
  EXPECT_EQ(nested.max_rep(), 2);
  EXPECT_EQ(nested.max_def(), 4);
  EXPECT_EQ(nested.max_visible(), 0);
  EXPECT_EQ(nested.Canonical(0), 0);
  EXPECT_EQ(nested.Canonical(1), 2);  // inner null: 1 would be the item's
  EXPECT_EQ(nested.Canonical(4), 5);  // outer empty

  const auto empties = PageLevels::Make({RepDefLayer::kNullableItem, RepDefLayer::kEmptyableList},
                                        {kItem, kList}, Here())
                           .ValueOrDie();
  EXPECT_EQ(empties.max_def(), 2);
  EXPECT_EQ(empties.max_visible(), 1);
  EXPECT_EQ(empties.Canonical(1), 1);
  EXPECT_EQ(empties.Canonical(2), 3);

  const auto structs = PageLevels::Make({RepDefLayer::kAllValidItem, RepDefLayer::kNullableItem},
                                        {kItem, kItem}, Here())
                           .ValueOrDie();
  EXPECT_EQ(structs.max_visible(), 1);
  EXPECT_EQ(structs.Canonical(1), 2);
}

TEST(LevelsTest, RefusesLayersOfAnotherShape) {
  EXPECT_FALSE(PageLevels::Make({RepDefLayer::kNullableItem}, {kItem, kList}, Here()).ok());
  EXPECT_FALSE(PageLevels::Make({RepDefLayer::kNullableList}, {kItem}, Here()).ok());
}

TEST(LevelsTest, FillsInZerosForPagesWithoutLevels) {
  const auto plain = PageLevels::Make({RepDefLayer::kAllValidItem}, {kItem}, Here()).ValueOrDie();
  const auto nulls = PageLevels::Make({RepDefLayer::kNullableItem}, {kItem}, Here()).ValueOrDie();
  Levels levels;
  const std::vector<uint16_t> def{1, 0};
  ASSERT_TRUE(levels.Append(plain, nullptr, nullptr, 2, Here()).ok());
  EXPECT_TRUE(levels.def.empty());
  ASSERT_TRUE(levels.Append(nulls, nullptr, def.data(), 2, Here()).ok());
  ASSERT_TRUE(levels.Append(plain, nullptr, nullptr, 1, Here()).ok());
  EXPECT_EQ(levels.def, (std::vector<uint16_t>{0, 0, 1, 0, 0}));
  EXPECT_EQ(levels.num_entries, 5u);
  const std::vector<uint16_t> wrong{2};
  EXPECT_FALSE(levels.Append(nulls, nullptr, wrong.data(), 1, Here()).ok());
}

struct Taken {
  uint64_t begin, end, first_slot, num_slots;
  bool operator==(const Taken&) const = default;
};

std::vector<Taken> Select(const EntryRun& run, const std::vector<PageRows>& rows) {
  std::vector<Taken> taken;
  const auto take = [&](const EntrySpan& span) {
    taken.push_back({span.begin, span.end, span.first_slot, span.num_slots});
    return arrow::Status::OK();
  };
  EXPECT_TRUE(SelectEntries(run, NestedLists(), rows, take).ok());
  return taken;
}

TEST(LevelsTest, SelectsTheEntriesAndSlotsOfRows) {
  // Row 4 goes on from the run before; row 5 = [[a, b], [c]]; row 6 = null; row 7 = [[], [d]].
  const std::vector<uint16_t> rep{0, 1, 2, 0, 1, 2, 2, 1};
  const std::vector<uint16_t> def{0, 0, 0, 0, 0, 3, 2, 0};
  const EntryRun run{.rep = rep.data(), .def = def.data(), .num_entries = 8, .rows_begun = 5};
  EXPECT_EQ(Select(run, {{4, 8}}), (std::vector<Taken>{{0, 8, 0, 6}}));
  EXPECT_EQ(Select(run, {{5, 6}}), (std::vector<Taken>{{2, 5, 2, 3}}));
  EXPECT_EQ(Select(run, {{2, 5}, {6, 7}}), (std::vector<Taken>{{0, 2, 0, 2}, {5, 6, 5, 0}}));
  EXPECT_EQ(Select(run, {{7, 9}}), (std::vector<Taken>{{6, 8, 5, 1}}));
  EXPECT_EQ(Select(run, {{0, 4}, {8, 9}}), std::vector<Taken>{});
}

}  // namespace
}  // namespace kinjo::format::file
