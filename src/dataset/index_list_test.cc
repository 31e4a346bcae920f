// Which index entries are listed, grouped and judged how: golden manifests, changed by hand.
#include "dataset/index_list.h"

#include <functional>
#include <string>

#include "dataset/snapshot.h"
#include "format/table/manifest_names.h"
#include "format/table/synthetic_manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

using format::IndexEntry;
using format::Manifest;
using format::synthetic::Message;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kGolden[] = KINJO_GOLDEN_DIR;

/// The latest version of a golden dataset after `change` has changed what its manifest says.
arrow::Result<std::shared_ptr<Snapshot>> OpenChanged(const std::string& name,
                                                     const std::function<void(Manifest*)>& change) {
  ARROW_ASSIGN_OR_RAISE(io::Location root,
                        io::ResolveUri(std::string(kGolden) + "/" + name + ".lance"));
  ARROW_ASSIGN_OR_RAISE(const auto names, format::ListManifests(root));
  ARROW_ASSIGN_OR_RAISE(const auto reader, io::OpenFile(io::Child(io::Child(root, "_versions"),
                                                                  names.back().FileName())));
  ARROW_ASSIGN_OR_RAISE(Manifest manifest, format::ReadManifest(reader.get()));
  change(&manifest);
  return Snapshot::Make(std::move(root), names.back(), std::move(manifest), {names.back().version},
                        std::make_shared<io::IoCounters>());
}

std::vector<IndexInfo> IndexesOf(const std::string& name,
                                 const std::function<void(Manifest*)>& change) {
  return OpenChanged(name, change).ValueOrDie()->vector_indexes();
}

/// The only index after `change` has changed its first entry.
IndexInfo OnlyIndex(const std::string& name, const std::function<void(IndexEntry*)>& change) {
  const auto indexes =
      IndexesOf(name, [&](Manifest* manifest) { change(&manifest->indexes.front()); });
  EXPECT_EQ(indexes.size(), 1u);
  return indexes.front();
}

std::string Details(uint64_t metric, uint32_t quantizer, bool hnsw = false) {
  Message details;
  details.Number(1, metric).Sub(quantizer, Message());
  if (hnsw) details.Sub(3, Message());
  return details.text();
}

TEST(IndexListTest, DetailsTellTypeAndMetric) {
  const auto told = [](const std::string& details) {
    const IndexInfo index =
        OnlyIndex("pq8_l2", [&](IndexEntry* entry) { entry->details = details; });
    return index.type + " " + index.metric + (index.unusable_reason.empty() ? "" : " unusable");
  };
  EXPECT_EQ(told(Details(0, 4)), "IVF_PQ l2");
  EXPECT_EQ(told(Details(1, 8)), "IVF_FLAT cosine");
  EXPECT_EQ(told(Details(2, 4)), "IVF_PQ dot");
  EXPECT_EQ(told(Details(3, 8)), "IVF_FLAT hamming");
  EXPECT_EQ(told(Details(0, 5)), "IVF_SQ l2");
  EXPECT_EQ(told(Details(0, 6)), "IVF_RQ l2");
  EXPECT_EQ(told(Details(0, 8, true)), "IVF_HNSW_FLAT l2");
  EXPECT_EQ(told(Details(0, 6, true)), "IVF_HNSW_RQ l2 unusable");
}

TEST(IndexListTest, CaseOfTheDetailsTypeDoesNotMatter) {
  const IndexInfo index = OnlyIndex(
      "pq8_cosine", [](IndexEntry* entry) { entry->details_type = "vectorINDEXdetails"; });
  EXPECT_EQ(index.metric, "cosine");
}

TEST(IndexListTest, WithoutDetailsTheFilesTell) {
  for (const char* name : {"pq8_cosine", "flat_l2"}) {
    const IndexInfo expected = OnlyIndex(name, [](IndexEntry*) {});
    for (const bool keep_type : {false, true}) {
      const IndexInfo index = OnlyIndex(name, [&](IndexEntry* entry) {
        if (!keep_type) entry->details_type.reset();
        entry->details.clear();
      });
      EXPECT_EQ(index.type, expected.type);
      EXPECT_EQ(index.metric, expected.metric);
      EXPECT_EQ(index.unusable_reason, "");
    }
  }
}

TEST(IndexListTest, FilesThatCantBeOpenedAreAReasonNotAnError) {
  const IndexInfo index = OnlyIndex("pq8_l2", [](IndexEntry* entry) {
    entry->details_type.reset();
    entry->details.clear();
    entry->uuid = "00000000-0000-0000-0000-000000000000";
  });
  EXPECT_THAT(index.unusable_reason, HasSubstr("00000000-0000-0000-0000-000000000000"));
}

TEST(IndexListTest, OtherIndexesAreNotListed) {
  EXPECT_THAT(IndexesOf("pq8_l2",
                        [](Manifest* manifest) {
                          manifest->indexes.front().details_type = "BTreeIndexDetails";
                        }),
              IsEmpty());
  EXPECT_THAT(IndexesOf("pq8_l2",
                        [](Manifest* manifest) {
                          manifest->indexes.front().details_type.reset();
                          manifest->indexes.front().fields = {0};  // the id column
                        }),
              IsEmpty());
  EXPECT_THAT(
      IndexesOf("pq8_l2",
                [](Manifest* manifest) { manifest->indexes.front().name = "__lance_mem_wal"; }),
      IsEmpty());
}

TEST(IndexListTest, SaysWhyAnIndexCantBeUsed) {
  const auto reason = [](const std::function<void(IndexEntry*)>& change) {
    return OnlyIndex("pq8_l2", change).unusable_reason;
  };
  EXPECT_EQ(reason([](IndexEntry* entry) { entry->index_version = 2; }), "");
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->index_version = 3; }),
              HasSubstr("index version is 3"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->has_covering_fields = true; }),
              HasSubstr("covering columns"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->fragments.reset(); }),
              HasSubstr("which fragments"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->files = {"index.idx"}; }),
              HasSubstr("legacy index files"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->fields = {77}; }),
              HasSubstr("field id 77) was dropped"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->fields = {1}; }), HasSubstr("string"));
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->base_id = 5; }), HasSubstr("base path 5"));
}

TEST(IndexListTest, AnIndexOfADroppedColumnHasNoColumn) {
  const IndexInfo index = OnlyIndex("pq8_l2", [](IndexEntry* entry) { entry->fields = {77}; });
  EXPECT_EQ(index.column, "");
  EXPECT_EQ(index.name, "vec_idx");
}

TEST(IndexListTest, SegmentsMustAgree) {
  const auto reason = [](const std::function<void(IndexEntry*)>& change) {
    const auto indexes =
        IndexesOf("deltas", [&](Manifest* manifest) { change(&manifest->indexes.back()); });
    EXPECT_EQ(indexes.size(), 1u);
    EXPECT_EQ(indexes.front().segments.size(), 2u);
    return indexes.front().unusable_reason;
  };
  EXPECT_EQ(reason([](IndexEntry*) {}), "");
  EXPECT_THAT(reason([](IndexEntry* entry) { entry->details = Details(1, 4); }),
              HasSubstr("segments differ"));
  const std::string zero("\x3a\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\0\0", 18);
  EXPECT_THAT(
      reason([&](IndexEntry* entry) { entry->fragments = format::RoaringBitmap::Parse(zero); }),
      HasSubstr("two of its segments cover fragment 0"));
}

TEST(IndexListTest, NamesKeepIndexesApart) {
  const auto indexes =
      IndexesOf("deltas", [](Manifest* manifest) { manifest->indexes.back().name = "another"; });
  ASSERT_EQ(indexes.size(), 2u);
  EXPECT_EQ(indexes[0].name, "vec_idx");
  EXPECT_EQ(indexes[1].name, "another");
  EXPECT_THAT(indexes[1].segments[0].fragment_ids, ElementsAre(2));
}

TEST(IndexListTest, FragmentsThatAreGoneAreNotCovered) {
  const auto indexes = IndexesOf(
      "deltas", [](Manifest* manifest) { manifest->fragments.erase(manifest->fragments.begin()); });
  EXPECT_THAT(indexes[0].segments[0].fragment_ids, ElementsAre(1));
}

TEST(IndexListTest, AnIndexThatCoversNoFragmentIsNotUsable) {
  const auto another_fragment = [](Manifest* manifest) { manifest->fragments[0].id = 9; };
  EXPECT_EQ(IndexesOf("pq8_l2", another_fragment)[0].unusable_reason,
            "it covers no fragment of this version");
  // Without rows there is nothing that it leaves out.
  const auto no_fragment = [](Manifest* manifest) { manifest->fragments.clear(); };
  EXPECT_EQ(IndexesOf("pq8_l2", no_fragment)[0].unusable_reason, "");
}

TEST(IndexListTest, ATaggedFragmentReuseMakesIndexesUnusable) {
  const auto indexes =
      IndexesOf("pq8_l2", [](Manifest* manifest) { manifest->tagged_fragment_reuse = true; });
  EXPECT_THAT(indexes[0].unusable_reason, HasSubstr("deferred index remap"));
}

TEST(SnapshotTest, FilesThatContradictTheManifestAreCorrupt) {
  const auto code = [](const std::string& name, const std::function<void(Manifest*)>& change) {
    auto dataset = OpenChanged(name, change);
    if (!dataset.ok()) return base::CodeOf(dataset.status());
    const RowAddress first = 0;
    return base::CodeOf((*dataset)->Take({"id"}, std::span(&first, 1)).status());
  };
  EXPECT_EQ(code("pq8_l2", [](Manifest* m) { m->fragments[0].physical_rows = 701; }),
            base::ErrorCode::kCorrupt);
  EXPECT_EQ(code("pq8_l2", [](Manifest* m) { m->fragments[0].files[0].size_bytes += 1; }),
            base::ErrorCode::kCorrupt);
  EXPECT_EQ(code("pq8_l2", [](Manifest* m) { m->fragments[0].files[0].path = "absent"; }),
            base::ErrorCode::kNotFound);
  EXPECT_EQ(code("pq8_l2", [](Manifest* m) { m->fragments[0].files[0].base_id = 3; }),
            base::ErrorCode::kCorrupt);
  EXPECT_EQ(
      code("deletes", [](Manifest* m) { m->fragments[0].deletion_file->num_deleted_rows -= 1; }),
      base::ErrorCode::kCorrupt);
  EXPECT_EQ(code("deletes", [](Manifest* m) { m->fragments[0].deletion_file->path = "absent"; }),
            base::ErrorCode::kNotFound);
  EXPECT_EQ(code("deletes", [](Manifest* m) { m->base_paths[0].path = "not/absolute"; }),
            base::ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace kinjo::dataset
