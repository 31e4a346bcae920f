// Which scalar index entries are listed and judged how: golden manifests, changed by hand.
#include "dataset/scalar_index_list.h"

#include <algorithm>
#include <functional>
#include <string>

#include "dataset/snapshot.h"
#include "format/table/manifest_names.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

using format::IndexEntry;
using format::Manifest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The indexes of the golden dataset after `change` has changed what its manifest says.
std::vector<ScalarIndexInfo> IndexesOf(const std::function<void(Manifest*)>& change) {
  io::Location root = io::ResolveUri(std::string(KINJO_GOLDEN_DIR) + "/filters.lance").ValueOrDie();
  const auto names = format::ListManifests(root).ValueOrDie();
  const auto reader =
      io::OpenFile(io::Child(io::Child(root, "_versions"), names.back().FileName())).ValueOrDie();
  Manifest manifest = format::ReadManifest(reader.get()).ValueOrDie();
  change(&manifest);
  return Snapshot::Make(std::move(root), names.back(), std::move(manifest), {names.back().version},
                        std::make_shared<io::IoCounters>())
      .ValueOrDie()
      ->scalar_indexes();
}

/// The index `name` after `change` has changed its entry.
ScalarIndexInfo Changed(const std::string& name, const std::function<void(IndexEntry*)>& change) {
  const auto indexes = IndexesOf([&](Manifest* manifest) {
    for (IndexEntry& entry : manifest->indexes) {
      if (entry.name == name) change(&entry);
    }
  });
  const auto found = std::find_if(indexes.begin(), indexes.end(),
                                  [&](const ScalarIndexInfo& index) { return index.name == name; });
  return found == indexes.end() ? ScalarIndexInfo{} : *found;
}

TEST(ScalarIndexListTest, ListsBtreesAndBitmaps) {
  const auto indexes = IndexesOf([](Manifest*) {});
  ASSERT_EQ(indexes.size(), 8u);
  for (const ScalarIndexInfo& index : indexes) {
    EXPECT_EQ(index.name, index.column + "_idx");
    EXPECT_EQ(index.unusable_reason, "") << index.name;
    const bool is_bitmap = index.name == "b_idx" || index.name.find("bits") != std::string::npos;
    EXPECT_EQ(index.kind, is_bitmap ? ScalarIndexKind::kBitmap : ScalarIndexKind::kBtree);
    ASSERT_EQ(index.segments.size(), 1u);
    EXPECT_THAT(index.segments[0].fragment_ids, ElementsAre(0, 1));
  }
}

TEST(ScalarIndexListTest, OtherKindsAreLeftOut) {
  EXPECT_EQ(
      Changed("i_idx", [](IndexEntry* entry) { entry->details_type = "ZoneMapIndexDetails"; }).name,
      "");
}

TEST(ScalarIndexListTest, ADeferredRemapMakesAllUnusable) {
  for (const ScalarIndexInfo& index :
       IndexesOf([](Manifest* manifest) { manifest->tagged_fragment_reuse = true; })) {
    EXPECT_THAT(index.unusable_reason, HasSubstr("deferred index remap"));
  }
}

TEST(ScalarIndexListTest, WhatThisBuildDoesNotKnowIsUnusable) {
  const auto reason = [](const std::function<void(IndexEntry*)>& change) {
    return Changed("i_idx", change).unusable_reason;
  };
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->index_version = 2; }),
              HasSubstr("index version is 2"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->has_covering_fields = true; }),
              HasSubstr("covering"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->fields = {1, 2}; }), HasSubstr("one column"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->fields = {99}; }), HasSubstr("was dropped"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->fragments.reset(); }),
              HasSubstr("which fragments"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->files = {"part_0_page_data.lance"}; }),
              HasSubstr("no file page_data.lance"));
}

TEST(ScalarIndexListTest, SegmentsThatContradictEachOtherAreUnusable) {
  const auto same_name = [](const std::string& other) {
    const auto indexes = IndexesOf([&](Manifest* manifest) {
      for (IndexEntry& entry : manifest->indexes) {
        if (entry.name == other) entry.name = "i_idx";
      }
    });
    return indexes.front().unusable_reason;
  };
  EXPECT_THAT(same_name("b_idx"), HasSubstr("differ in column or type"));
  const auto twice =
      IndexesOf([](Manifest* manifest) { manifest->indexes.push_back(manifest->indexes.front()); });
  EXPECT_THAT(twice.front().unusable_reason, HasSubstr("two of its segments cover fragment 0"));
}

}  // namespace
}  // namespace kinjo::dataset
