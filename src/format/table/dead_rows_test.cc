#include "format/table/dead_rows.h"

#include <roaring/roaring.h>

#include <random>
#include <set>
#include <string>

#include "arrow/array/builder_primitive.h"
#include "arrow/buffer.h"
#include "arrow/io/memory.h"
#include "arrow/ipc/writer.h"
#include "arrow/record_batch.h"
#include "arrow/util/compression.h"
#include "format/table/roaring_bitmap.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::format {
namespace {

using ::testing::HasSubstr;

std::string Roaring(const std::set<uint32_t>& rows, bool runs = false) {
  roaring_bitmap_t* bitmap = roaring_bitmap_create();
  for (const uint32_t row : rows) roaring_bitmap_add(bitmap, row);
  if (runs) roaring_bitmap_run_optimize(bitmap);
  std::string bytes(roaring_bitmap_portable_size_in_bytes(bitmap), '\0');
  roaring_bitmap_portable_serialize(bitmap, bytes.data());
  roaring_bitmap_free(bitmap);
  return bytes;
}

template <typename Builder = arrow::UInt32Builder>
std::string ArrowFile(const std::vector<uint32_t>& rows, bool compress) {
  Builder builder;
  for (const uint32_t row : rows) EXPECT_TRUE(builder.Append(row).ok());
  const auto array = builder.Finish().ValueOrDie();
  const auto schema = arrow::schema({arrow::field("row_id", array->type(), false)});
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  if (compress) options.codec = arrow::util::Codec::Create(arrow::Compression::ZSTD).ValueOrDie();
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto writer = arrow::ipc::MakeFileWriter(sink, schema, options).ValueOrDie();
  EXPECT_TRUE(
      writer->WriteRecordBatch(*arrow::RecordBatch::Make(schema, array->length(), {array})).ok());
  EXPECT_TRUE(writer->Close().ok());
  return sink->Finish().ValueOrDie()->ToString();
}

arrow::Result<DeadRows> Read(const std::string& bytes, DeletionFileType type, uint64_t rows) {
  const auto reader = io::OpenBuffer(arrow::Buffer::FromString(bytes), "0-1-2.bin");
  return ReadDeletionFile(reader.get(), type, rows);
}

std::set<uint32_t> SomeRows(uint32_t limit, double share, unsigned seed) {
  std::mt19937 random(seed);
  std::set<uint32_t> rows;
  for (uint32_t row = 0; row < limit; ++row) {
    if (static_cast<double>(random()) < share * 4294967296.0) rows.insert(row);
  }
  return rows;
}

void ExpectRows(const DeadRows& dead, const std::set<uint32_t>& rows, uint64_t limit) {
  EXPECT_EQ(dead.count(), rows.size());
  EXPECT_EQ(dead.empty(), rows.empty());
  for (uint64_t row = 0; row < limit; ++row) {
    ASSERT_EQ(dead.Contains(row), rows.contains(static_cast<uint32_t>(row))) << row;
  }
}

TEST(DeadRowsTest, LiveRangesAreWhatIsNotDead) {
  std::mt19937 random(3);
  for (const double share : {0.0, 0.001, 0.3, 0.98, 1.0}) {
    const std::set<uint32_t> rows = SomeRows(200'000, share, 9);
    DeadRows dead;
    for (const uint32_t row : rows) dead.Add(row);
    for (int round = 0; round < 20; ++round) {
      const uint64_t begin = random() % 200'000;
      const uint64_t end = std::min<uint64_t>(begin + random() % 70'000, 200'000);
      std::vector<RowRange> ranges;
      const uint64_t total = dead.AppendLiveRanges(begin, end, &ranges);
      std::vector<uint64_t> live;
      uint64_t last_end = 0;
      for (const RowRange& range : ranges) {
        EXPECT_LT(range.begin, range.end);
        EXPECT_TRUE(live.empty() || range.begin > last_end) << "ranges that touch are one";
        last_end = range.end;
        for (uint64_t row = range.begin; row < range.end; ++row) live.push_back(row);
      }
      std::vector<uint64_t> expected;
      for (uint64_t row = begin; row < end; ++row) {
        if (!rows.contains(static_cast<uint32_t>(row))) expected.push_back(row);
      }
      EXPECT_EQ(live, expected);
      EXPECT_EQ(total, expected.size());
    }
  }
}

TEST(DeadRowsTest, AddingTwiceCountsOnce) {
  DeadRows dead;
  dead.Add(70'000);
  dead.Add(70'000);
  EXPECT_EQ(dead.count(), 1u);
  EXPECT_FALSE(dead.Contains(uint64_t{1} << 40));
}

TEST(DeadRowsTest, ReadsBothKindsOfFile) {
  for (const double share : {0.0, 0.01, 0.5, 1.0}) {
    const std::set<uint32_t> rows = SomeRows(150'000, share, 4);
    for (const bool runs : {false, true}) {
      ExpectRows(Read(Roaring(rows, runs), DeletionFileType::kBitmap, 150'000).ValueOrDie(), rows,
                 150'000);
    }
    std::vector<uint32_t> shuffled(rows.begin(), rows.end());
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(5));
    for (const bool compress : {false, true}) {
      ExpectRows(
          Read(ArrowFile(shuffled, compress), DeletionFileType::kArrowArray, 150'000).ValueOrDie(),
          rows, 150'000);
    }
  }
}

TEST(DeadRowsTest, ReadsItsFileWhateverElseIsAllocated) {
  const auto others = arrow::AllocateBuffer(8 << 20).ValueOrDie();
  EXPECT_TRUE(Read(ArrowFile({1, 2}, true), DeletionFileType::kArrowArray, 10).ok());
}

TEST(DeadRowsTest, RefusesRowsBeyondTheFragment) {
  const arrow::Status bitmap = Read(Roaring({3, 100}), DeletionFileType::kBitmap, 100).status();
  EXPECT_EQ(base::CodeOf(bitmap), base::ErrorCode::kCorrupt);
  EXPECT_THAT(bitmap.message(), HasSubstr("row 100 of a fragment of 100 rows"));
  const arrow::Status array =
      Read(ArrowFile({3, 100}, true), DeletionFileType::kArrowArray, 100).status();
  EXPECT_EQ(base::CodeOf(array), base::ErrorCode::kCorrupt);
  EXPECT_THAT(array.message(), HasSubstr("row 100 of a fragment of 100 rows"));
}

TEST(DeadRowsTest, RefusesOtherFiles) {
  for (const std::string& bytes : {std::string(), std::string("x"), std::string(1000, 'x')}) {
    EXPECT_EQ(base::CodeOf(Read(bytes, DeletionFileType::kBitmap, 10).status()),
              base::ErrorCode::kCorrupt);
    EXPECT_EQ(base::CodeOf(Read(bytes, DeletionFileType::kArrowArray, 10).status()),
              base::ErrorCode::kCorrupt);
  }
  EXPECT_EQ(base::CodeOf(
                Read(ArrowFile<arrow::Int64Builder>({1}, false), DeletionFileType::kArrowArray, 10)
                    .status()),
            base::ErrorCode::kCorrupt);
  EXPECT_FALSE(Read(Roaring({1, 2}) + "x", DeletionFileType::kBitmap, 10).ok());
}

TEST(DeadRowsTest, NoTruncationIsReadAsLess) {
  const std::string bitmap = Roaring(SomeRows(70'000, 0.2, 1));
  for (size_t size = 0; size < bitmap.size(); size += 7) {
    EXPECT_FALSE(Read(bitmap.substr(0, size), DeletionFileType::kBitmap, 70'000).ok()) << size;
  }
  const std::string array = ArrowFile({5, 1, 9}, true);
  for (size_t size = 0; size < array.size(); ++size) {
    EXPECT_FALSE(Read(array.substr(0, size), DeletionFileType::kArrowArray, 10).ok()) << size;
  }
}

TEST(RoaringBitmapTest, ReadsThePublishedBytes) {
  const std::string zero("\x3a\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\0\0", 18);
  const auto bitmap = RoaringBitmap::Parse(zero);
  ASSERT_TRUE(bitmap.has_value());
  EXPECT_TRUE(bitmap->Contains(0));
  EXPECT_FALSE(bitmap->Contains(1));
  EXPECT_FALSE(RoaringBitmap::Parse("").has_value());
}

}  // namespace
}  // namespace kinjo::format
