// What is written is what was read: the golden manifests of pylance go through the structs and come
// out with nothing lost.
#include "format/table/manifest_writer.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "base/assert_result.h"
#include "format/proto/table_encoding.h"
#include "format/proto/wire.h"
#include "format/table/dead_rows.h"
#include "format/table/deletion_writer.h"
#include "format/table/feature_flags.h"
#include "format/table/manifest_names.h"
#include "format/table/roaring_bitmap.h"
#include "format/table/row_id_sequence.h"
#include "format/table/uuid.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::format {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<io::RandomReader> Wrap(std::string file) {
  return io::OpenBuffer(arrow::Buffer::FromString(std::move(file)), "x.manifest");
}

/// The fields of a message as "number: bytes", sorted: order between fields means nothing.
std::vector<std::string> Fields(std::string_view message) {
  std::vector<std::string> fields;
  proto::WireReader reader(message);
  while (reader.Next()) fields.emplace_back(reader.encoded());
  EXPECT_TRUE(reader.ok());
  std::sort(fields.begin(), fields.end());
  return fields;
}

std::string MessageOf(const std::string& file, const ManifestMessages& messages) {
  const uint64_t begin = messages.message_offset + 4;
  return file.substr(begin, file.size() - 16 - begin);
}

TEST(ManifestWriterTest, PylancesManifestsComeOutAsTheyWentIn) {
  int manifests = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(KINJO_GOLDEN_DIR)) {
    if (entry.path().extension() != ".manifest") continue;
    if (entry.path().string().find("legacy.lance") != std::string::npos) continue;
    SCOPED_TRACE(entry.path().string());
    const auto location = io::ResolveUri(entry.path().string()).ValueOrDie();
    const auto reader = io::OpenFile(location).ValueOrDie();
    const std::string original = (*reader->Read({0, reader->size()}))->ToString();
    KINJO_ASSERT_RESULT(messages, ReadManifestMessages(reader.get()));
    const auto transaction = ReadInlineTransaction(reader.get(), messages);
    if (!transaction.has_value()) {
      // Older releases left it in its file alone.
      EXPECT_NE(entry.path().string().find("releases"), std::string::npos);
      continue;
    }
    // The transaction stands between the index section and the message.
    const auto& manifest = messages.manifest;
    const uint64_t begin = manifest.transaction_section.has_value()
                               ? *manifest.transaction_section
                               : manifest.old_transaction_section.value();
    const std::string bytes = original.substr(begin + 4, messages.message_offset - begin - 4);
    const ManifestMessages before = messages;
    const std::string written = EncodeManifestFile(&messages, bytes);
    EXPECT_EQ(Fields(MessageOf(written, messages)).size(),
              Fields(MessageOf(original, before)).size());
    KINJO_ASSERT_RESULT(again, ReadManifestMessages(Wrap(written).get()));
    EXPECT_EQ(proto::EncodeManifest(again.manifest).text(),
              proto::EncodeManifest(messages.manifest).text());
    EXPECT_EQ(proto::EncodeIndexSection(again.indexes).text(),
              proto::EncodeIndexSection(before.indexes).text());
    EXPECT_EQ(again.manifest.fragments.size(), before.manifest.fragments.size());
    ++manifests;
  }
  EXPECT_GT(manifests, 50);
}

TEST(ManifestWriterTest, WhatIsNotKnownIsKept) {
  const std::string strange = proto::WireWriter().Number(77, 5).Bytes(78, "abc").text();
  ManifestMessages messages;
  proto::DataFragmentMessage fragment{.id = 3, .physical_rows = 10, .unread = strange};
  fragment.files.push_back({.path = "a", .fields = {0}, .column_indices = {0}, .unread = strange});
  fragment.deletion_file = {.read_version = 1, .id = 2, .num_deleted_rows = 3, .unread = strange};
  messages.manifest.fragments = {fragment};
  messages.manifest.fields = {{.id = 0, .parent_id = -1, .name = "a", .unread = strange}};
  messages.manifest.base_paths = {{.id = 0, .path = "/x", .unread = strange}};
  messages.manifest.unread = strange;
  messages.indexes = {{.uuid = NewUuid(), .name = "i", .unread = strange}};
  const std::string file = EncodeManifestFile(&messages, "");
  KINJO_ASSERT_RESULT(read, ReadManifestMessages(Wrap(file).get()));
  EXPECT_EQ(read.manifest.unread, strange);
  EXPECT_EQ(read.manifest.fields[0].unread, strange);
  EXPECT_EQ(read.manifest.base_paths[0].unread, strange);
  EXPECT_EQ(read.manifest.fragments[0].unread, strange);
  EXPECT_EQ(read.manifest.fragments[0].files[0].unread, strange);
  EXPECT_EQ(read.manifest.fragments[0].deletion_file->unread, strange);
  EXPECT_EQ(read.indexes[0].unread, strange);
  EXPECT_FALSE(ReadInlineTransaction(Wrap(file).get(), read).has_value());
}

TEST(ManifestWriterTest, FlagsFollowWhatIsThere) {
  proto::ManifestMessage manifest;
  manifest.reader_feature_flags = kVersion2FilesFlag | kDeletionFilesFlag | kStableRowIdsFlag;
  manifest.writer_feature_flags = kNoTransactionFilesFlag | kTableConfigFlag;
  SetFeatureFlags(&manifest);
  EXPECT_EQ(manifest.reader_feature_flags, kStableRowIdsFlag);
  EXPECT_EQ(manifest.writer_feature_flags, kNoTransactionFilesFlag);
  manifest.config.emplace("a", "b");
  manifest.base_paths.emplace_back();
  manifest.fragments.emplace_back();
  manifest.fragments[0].deletion_file.emplace();
  SetFeatureFlags(&manifest);
  EXPECT_EQ(manifest.reader_feature_flags, kStableRowIdsFlag | kDeletionFilesFlag | kBasePathsFlag);
  EXPECT_EQ(manifest.writer_feature_flags,
            kNoTransactionFilesFlag | kDeletionFilesFlag | kBasePathsFlag | kTableConfigFlag);
}

TEST(ManifestWriterTest, WritersRefuseWhatTheyDoNotKeepUp) {
  EXPECT_TRUE(CheckWriterFlags(0b100111111, "x").ok());
  for (const int bit : {6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 63}) {
    const arrow::Status status = CheckWriterFlags(uint64_t{1} << bit, "x");
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotSupported) << bit;
  }
}

TEST(DeletionWriterTest, FewAreListedAndManyAreABitmap) {
  for (const uint64_t count : {1, 2, 4999, 5000, 70000}) {
    const uint64_t rows = 3 * count + 1;
    DeadRows dead;
    for (uint64_t i = 0; i < count; ++i) dead.Add(3 * i + 1);
    KINJO_ASSERT_RESULT(encoded, EncodeDeletions(dead, rows));
    EXPECT_EQ(encoded.type == DeletionFileType::kBitmap, count >= 5000);
    const auto reader = io::OpenBuffer(encoded.bytes, "deletions");
    KINJO_ASSERT_RESULT(read, ReadDeletionFile(reader.get(), encoded.type, rows));
    EXPECT_EQ(read.count(), count);
    for (uint64_t row = 0; row < rows; ++row) ASSERT_EQ(read.Contains(row), row % 3 == 1) << row;
  }
}

TEST(RowIdsTest, AnyOrderComesBack) {
  const std::vector<std::vector<uint64_t>> cases = {
      {}, {7}, {0, 1, 2, 3, 4}, {5, 6, 9, 10, 11, 12, 13, 2, 1, 100}, {9, 8, 7}, {3, 4, 1, 2}};
  for (const std::vector<uint64_t>& ids : cases) {
    const std::string bytes = proto::EncodeRowIds(ids).text();
    KINJO_ASSERT_RESULT(sequence, RowIdSequence::Parse(bytes, ids.size(), "x"));
    for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(sequence.Get(i), ids[i]);
  }
  EXPECT_LT(proto::EncodeRowIdRange(1'000'000, 1'000'000).text().size(), 20u);
}

TEST(RowVersionsTest, RunsComeBack) {
  const std::vector<proto::VersionRun> runs = {{5, 1}, {1, 9}, {100, 3}};
  std::vector<proto::VersionRun> read;
  ASSERT_TRUE(proto::ParseRowVersions(proto::EncodeRowVersions(runs).text(), &read));
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[2].rows, 100u);
  EXPECT_EQ(read[2].version, 3u);
}

TEST(RoaringWriterTest, IsWhatLanceWrites) {
  const std::vector<uint32_t> zero = {0};
  const std::string bytes("\x3a\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\0\0", 18);
  EXPECT_EQ(EncodeRoaring(zero), bytes);
}

TEST(UuidTest, TextAndNames) {
  std::string bytes(16, '\0');
  std::iota(bytes.begin(), bytes.end(), '\x01');
  EXPECT_EQ(UuidText(bytes), "01020304-0506-0708-090a-0b0c0d0e0f10");
  EXPECT_EQ(UuidText("short"), std::nullopt);
  EXPECT_EQ(ParseUuid("01020304-0506-0708-090a-0b0c0d0e0f10"), bytes);
  EXPECT_EQ(ParseUuid("01020304-0506-0708-090a-0b0c0d0e0f1"), std::nullopt);
  EXPECT_EQ(ParseUuid("01020304x0506-0708-090a-0b0c0d0e0f10"), std::nullopt);
  EXPECT_EQ(ParseUuid("01020304-0506-0708-090a-0b0c0d0e0fXY"), std::nullopt);
  EXPECT_NE(NewUuid(), NewUuid());
  const std::string name = NewDataFileName();
  EXPECT_EQ(name.size(), 56u);
  EXPECT_THAT(name, ::testing::MatchesRegex("[01]{24}[0-9a-f]{26}\\.lance"));
}

}  // namespace
}  // namespace kinjo::format
