#include "format/table/manifest.h"

#include <set>
#include <string>

#include "format/table/synthetic_manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::format {
namespace {

using synthetic::Column;
using synthetic::DataFragment;
using synthetic::File;
using synthetic::ManifestFile;
using synthetic::ManifestOf;
using synthetic::Message;
using synthetic::Section;
using ::testing::HasSubstr;

arrow::Result<Manifest> Read(const std::string& file) {
  return ReadManifest(io::OpenBuffer(arrow::Buffer::FromString(file), "x/7.manifest").get());
}

arrow::Result<Manifest> Read(const Message& manifest) { return Read(ManifestFile(manifest)); }

void ExpectError(const arrow::Status& status, base::ErrorCode code, const std::string& text) {
  EXPECT_EQ(base::CodeOf(status), code) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr(text));
}

TEST(ManifestTest, ReadsTheParts) {
  const Manifest manifest = Read(ManifestOf(7)
                                     .Sub(2, DataFragment(3, 100, "a.lance"))
                                     .Sub(2, DataFragment(1, 50, "b/c.lance").Number(99, 5))
                                     .Sub(7, Message().Number(1, 1234).Number(2, 5)))
                                .ValueOrDie();
  EXPECT_EQ(manifest.version, 7u);
  EXPECT_EQ(manifest.timestamp_s, 1234);
  EXPECT_EQ(manifest.data_format, "2.2");
  ASSERT_EQ(manifest.fragments.size(), 2u);
  EXPECT_EQ(manifest.fragments[0].id, 3u);
  EXPECT_EQ(manifest.fragments[1].physical_rows, 50u);
  EXPECT_EQ(manifest.fragments[1].files[0].path, "b/c.lance");
  EXPECT_EQ(manifest.fragments[0].files[0].columns.at(0), 0u);
  EXPECT_FALSE(manifest.stable_row_ids);
  ASSERT_EQ(manifest.schema.fields.size(), 1u);
  EXPECT_EQ(manifest.schema.fields[0].parent_id, -1);
}

TEST(ManifestTest, ReadsThePublishedSample) {
  // The manifest of a two-column dataset of three rows that pylance 14.0.2 wrote.
  const Message id = Column(0, "id", "int64").Number(7, 1);
  const Message vec = Column(1, "vec", "fixed_size_list:float:2").Number(7, 1);
  const std::string two("\0\1", 2);
  const Message file = Message()
                           .Bytes(1, "f.lance")
                           .Bytes(2, two)
                           .Bytes(3, two)
                           .Number(4, 2)
                           .Number(5, 2)
                           .Number(6, 655);
  const Message manifest = Message()
                               .Sub(1, id)
                               .Sub(1, vec)
                               .Sub(2, Message().Sub(2, file).Number(4, 3))
                               .Number(3, 1)
                               .Sub(15, Message().Bytes(1, "lance").Bytes(2, "2.2"));
  const std::string transaction = Section(std::string(198, 'x'));
  const Manifest read = Read(ManifestFile(manifest, transaction)).ValueOrDie();
  EXPECT_EQ(read.fragments[0].files[0].size_bytes, 655u);
  EXPECT_EQ(read.fragments[0].files[0].columns.at(1), 1u);
  EXPECT_EQ(ToArrowType(read.schema.fields[1]).ValueOrDie()->ToString(),
            "fixed_size_list<item: float>[2]");
}

TEST(ManifestTest, ReadsALargeManifestWhoseSectionsLieBeforeTheTail) {
  const Message index =
      Message().Sub(1, Message().Bytes(1, std::string(16, '\x1f'))).Bytes(3, "vec_idx");
  const std::string before = Section(Message().Sub(1, index).text());
  Message manifest = ManifestOf(1).Number(6, 0);
  for (uint64_t i = 0; i < 5000; ++i) manifest.Sub(2, DataFragment(i, 10, "some-file.lance"));
  const Manifest read = Read(ManifestFile(manifest, before)).ValueOrDie();
  EXPECT_EQ(read.fragments.size(), 5000u);
  ASSERT_EQ(read.indexes.size(), 1u);
  EXPECT_EQ(read.indexes[0].name, "vec_idx");
  EXPECT_EQ(read.indexes[0].uuid, "1f1f1f1f-1f1f-1f1f-1f1f-1f1f1f1f1f1f");
  EXPECT_FALSE(read.indexes[0].fragments.has_value());
}

TEST(ManifestTest, RefusesWhatIsNoManifest) {
  ExpectError(Read(std::string("short")).status(), base::ErrorCode::kCorrupt, "only 5 bytes");
  ExpectError(Read(std::string(100, 'x')).status(), base::ErrorCode::kCorrupt, "LANC");
  std::string file(1, 'x');
  file.append(ManifestFile(ManifestOf(1)));
  ExpectError(Read(file).status(), base::ErrorCode::kCorrupt, "");
  file = ManifestFile(ManifestOf(1));
  file[file.size() - 9] = '\x7f';  // the top byte of the offset
  ExpectError(Read(file).status(), base::ErrorCode::kCorrupt, "");
  file = ManifestFile(ManifestOf(1).Number(6, 1'000'000));
  ExpectError(Read(file).status(), base::ErrorCode::kCorrupt, "index section");
}

TEST(ManifestTest, EveryTruncationIsAnError) {
  const std::string file = ManifestFile(ManifestOf(1).Sub(2, DataFragment(0, 10, "a.lance")));
  ASSERT_TRUE(Read(file).ok());
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(Read(file.substr(0, size)).ok()) << size;
    EXPECT_FALSE(Read(file.substr(file.size() - size)).ok()) << size;
  }
}

TEST(ManifestTest, RefusesFeatureFlagsByBit) {
  const std::set<int> known = {0, 2, 3, 4, 5, 7, 8, 10, 14, 15, 17};
  for (int bit = 0; bit < 64; ++bit) {
    if (bit == 1) continue;  // asks for row ids
    const arrow::Status status = Read(ManifestOf(1).Number(9, uint64_t{1} << bit)).status();
    if (known.contains(bit)) {
      EXPECT_TRUE(status.ok()) << bit;
    } else {
      ExpectError(status, base::ErrorCode::kNotSupported, "feature flag bit ");
    }
  }
  ExpectError(Read(ManifestOf(1).Number(9, 1 << 6)).status(), base::ErrorCode::kNotSupported,
              "bit 6 (data overlay files)");
  ExpectError(Read(ManifestOf(1).Number(9, 1 << 12 | 1)).status(), base::ErrorCode::kNotSupported,
              "bit 12 (fragment tree)");
  ExpectError(Read(ManifestOf(1).Number(9, uint64_t{1} << 40)).status(),
              base::ErrorCode::kNotSupported, "bit 40 (unknown)");
  // The writer's word doesn't concern a reader.
  EXPECT_TRUE(Read(ManifestOf(1).Number(10, uint64_t{1} << 40)).ok());
}

TEST(ManifestTest, RefusesOtherFileVersions) {
  for (const char* version : {"2.0", "2.1", "2.2", "0.3"}) {
    EXPECT_TRUE(Read(ManifestOf(1, version)).ok()) << version;
  }
  for (const char* version : {"0.1", "2.3", "3.0", "", "next"}) {
    ExpectError(Read(ManifestOf(1, version)).status(), base::ErrorCode::kNotSupported, version);
  }
  const Message fragment = Message().Sub(2, File("a.lance", 2, 3)).Number(4, 1);
  ExpectError(Read(ManifestOf(1).Sub(2, fragment)).status(), base::ErrorCode::kNotSupported,
              "a.lance has the file version 2.3");
}

TEST(ManifestTest, RefusesNamesThatLeaveTheDataset) {
  for (const char* name : {"../x.lance", "a/../../x", "/etc/passwd", "", "a//b", "./a", "..",
                           "s3://bucket/x", "a\\..\\b"}) {
    ExpectError(Read(ManifestOf(1).Sub(2, DataFragment(0, 1, name))).status(),
                base::ErrorCode::kCorrupt, "names the file");
  }
  for (const char* name : {"a..b.lance", "...", "deep/er/x.lance"}) {
    EXPECT_TRUE(Read(ManifestOf(1).Sub(2, DataFragment(0, 1, name))).ok()) << name;
  }
}

TEST(ManifestTest, RefusesFragmentsThatContradictThemselves) {
  const Message twice =
      ManifestOf(1).Sub(2, DataFragment(4, 1, "a")).Sub(2, DataFragment(4, 1, "b"));
  ExpectError(Read(twice).status(), base::ErrorCode::kCorrupt, "fragment 4 is listed twice");
  ExpectError(Read(ManifestOf(1).Sub(2, DataFragment(0, uint64_t{1} << 40, "a"))).status(),
              base::ErrorCode::kCorrupt, "row address");
  ExpectError(Read(ManifestOf(1).Sub(2, DataFragment(uint64_t{1} << 32, 1, "a"))).status(),
              base::ErrorCode::kCorrupt, "row address");
  const Message file = Message().Bytes(1, "a").Bytes(2, "\1\2").Bytes(3, "\1").Number(4, 2);
  ExpectError(Read(ManifestOf(1).Sub(2, Message().Sub(2, file))).status(),
              base::ErrorCode::kCorrupt, "2 fields but 1 columns");
}

TEST(ManifestTest, ReadsDeletionFiles) {
  const Message bitmap = Message().Number(1, 1).Number(2, 4).Number(3, 77).Number(4, 9);
  Message fragment = DataFragment(5, 10, "a").Sub(3, bitmap);
  const Manifest manifest = Read(ManifestOf(1).Sub(2, fragment)).ValueOrDie();
  ASSERT_TRUE(manifest.fragments[0].deletion_file.has_value());
  EXPECT_EQ(manifest.fragments[0].deletion_file->path, "5-4-77.bin");
  EXPECT_EQ(manifest.fragments[0].deletion_file->num_deleted_rows, 9u);
  fragment = DataFragment(5, 10, "a").Sub(3, Message().Number(4, 11));
  ExpectError(Read(ManifestOf(1).Sub(2, fragment)).status(), base::ErrorCode::kCorrupt,
              "10 rows but 11 deleted");
  fragment = DataFragment(5, 10, "a").Sub(3, Message().Number(1, 2));
  ExpectError(Read(ManifestOf(1).Sub(2, fragment)).status(), base::ErrorCode::kNotSupported,
              "unknown type 2");
}

TEST(ManifestTest, StableRowIdsMustBeThere) {
  const Message range = Message().Sub(1, Message().Sub(1, Message().Number(1, 20).Number(2, 30)));
  Message fragment = DataFragment(0, 10, "a").Sub(5, range);
  const Manifest manifest = Read(ManifestOf(1).Number(9, 2).Sub(2, fragment)).ValueOrDie();
  EXPECT_TRUE(manifest.stable_row_ids);
  EXPECT_EQ(manifest.fragments[0].row_ids->Get(9), 29u);
  ExpectError(Read(ManifestOf(1).Number(9, 2).Sub(2, DataFragment(0, 10, "a"))).status(),
              base::ErrorCode::kCorrupt, "has no row ids");
  ExpectError(
      Read(ManifestOf(1).Number(9, 2).Sub(2, DataFragment(0, 11, "a").Sub(5, range))).status(),
      base::ErrorCode::kCorrupt, "fewer ids");
  fragment = DataFragment(0, 10, "a").Sub(12, Message());
  ExpectError(Read(ManifestOf(1).Number(9, 2).Sub(2, fragment)).status(),
              base::ErrorCode::kNotSupported, "hidden column");
}

TEST(ManifestTest, ReadsBasePathsByPresenceOfTheirId) {
  const Message base = Message().Number(3, 1).Bytes(4, "/elsewhere");  // id 0
  const Message file = File("a.lance").Number(7, 0);
  const Manifest manifest =
      Read(ManifestOf(1).Sub(18, base).Sub(2, Message().Sub(2, file).Number(4, 1))).ValueOrDie();
  EXPECT_EQ(manifest.base_paths.at(0).path, "/elsewhere");
  EXPECT_TRUE(manifest.base_paths.at(0).is_dataset_root);
  EXPECT_EQ(manifest.fragments[0].files[0].base_id, std::optional<uint32_t>(0));
}

TEST(ManifestTest, ReadsIndexEntries) {
  const std::string bitmap("\x3a\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\1\0", 18);  // {1}
  const Message index = Message()
                            .Sub(1, Message().Bytes(1, std::string(16, '\0')))
                            .Number(2, 4)
                            .Bytes(3, "i")
                            .Number(4, 12)
                            .Bytes(5, bitmap)
                            .Sub(6, Message().Bytes(1, "/lance.index.pb.VectorIndexDetails"))
                            .Number(7, 1)
                            .Sub(10, Message().Bytes(1, "auxiliary.idx").Number(2, 5));
  const std::string section = Section(Message().Sub(1, index).text());
  const Manifest manifest = Read(ManifestFile(ManifestOf(1).Number(6, 0), section)).ValueOrDie();
  ASSERT_EQ(manifest.indexes.size(), 1u);
  const IndexEntry& entry = manifest.indexes[0];
  EXPECT_EQ(entry.fields, std::vector<int32_t>{4});
  EXPECT_EQ(entry.details_type, std::optional<std::string>("VectorIndexDetails"));
  ASSERT_TRUE(entry.fragments.has_value());
  EXPECT_TRUE(entry.fragments->Contains(1));
  EXPECT_FALSE(entry.fragments->Contains(0));
  EXPECT_EQ(entry.files, std::vector<std::string>{"auxiliary.idx"});
  const Message bad = Message().Sub(1, Message().Bytes(1, "short"));
  ExpectError(Read(ManifestFile(ManifestOf(1).Number(6, 0), Section(Message().Sub(1, bad).text())))
                  .status(),
              base::ErrorCode::kCorrupt, "UUID of 5 bytes");
}

}  // namespace
}  // namespace kinjo::format
