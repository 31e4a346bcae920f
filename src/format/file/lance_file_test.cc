#include "format/file/lance_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrow/array/concatenate.h"
#include "arrow/io/file.h"
#include "arrow/ipc/reader.h"
#include "arrow/record_batch.h"
#include "arrow/table.h"
#include "format/file/container.h"

namespace kinjo::format {
namespace {

// A whole file by pylance 14.0.2: id int64 = [1, 2, 3], vec float32[2] = [[1, 2], [3, 4], [5, 6]].
constexpr const char* kGoldenFile =
    "30000000484848484848484848484848484848484848484848484848484848484848484848484848484848484848"
    "484848484848484848484848484848484848000018000000fefe0100000000000000020000000000000003000000"
    "00000000484848484848484848484848484848484848484848484848484848484848484830000000484848484848"
    "48484848484848484848484848484848484848484848484848484848484848484848484848484848484848484848"
    "4848484848484848000018000000fefe0000803f0000004000004040000080400000a0400000c040484848484848"
    "48484848484848484848484848484848484848484848484848480a4d0a1a1202696420ffffffffffffffffff012a"
    "05696e743634300138010a2f1203766563180120ffffffffffffffffff012a1766697865645f73697a655f6c6973"
    "743a666c6f61743a323001380110030a2912270a250a1f2f6c616e63652e656e636f64696e67732e436f6c756d6e"
    "456e636f64696e6712020a0012420a020040120204201803223612340a320a1d2f6c616e63652e656e636f64696e"
    "677332312e506167654c61796f757412110a0f1a040a0208403201013801480350010a2912270a250a1f2f6c616e"
    "63652e656e636f64696e67732e436f6c756d6e456e636f64696e6712020a00124a0a048001c00112020420180322"
    "3c123a0a380a1d2f6c616e63652e656e636f64696e677332312e506167654c61796f757412170a151a0a5a080802"
    "12040a02082032010138014803500151010000000000006f00000000000000c00100000000000077000000000000"
    "00000100000000000051000000000000005101000000000000370200000000000057020000000000000100000002"
    "000000020002004c414e43";

std::vector<uint8_t> FromHex(const std::string& text) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::shared_ptr<io::RandomReader> ReaderOf(const std::vector<uint8_t>& bytes,
                                           std::shared_ptr<io::IoCounters> counters = nullptr) {
  return io::OpenBuffer(arrow::Buffer::FromVector(bytes), "golden.lance", std::move(counters));
}

arrow::Result<std::shared_ptr<arrow::Array>> ReadAll(LanceFile* file, const Field& field) {
  const std::vector<RowRange> ranges{{0, file->num_rows()}};
  return file->ReadRows(field, file->own_columns(), ranges);
}

TEST(LanceFileTest, ReadsTheGoldenFile) {
  const auto bytes = FromHex(kGoldenFile);
  ASSERT_EQ(bytes.size(), 655u);
  auto file = LanceFile::Open(ReaderOf(bytes)).ValueOrDie();
  EXPECT_EQ(file->version().minor, 2);
  EXPECT_EQ(file->num_rows(), 3u);
  EXPECT_EQ(file->num_columns(), 2u);
  EXPECT_EQ(file->num_global_buffers(), 1);
  EXPECT_EQ(file->ReadGlobalBuffer(0).ValueOrDie()->size(), 0x51);
  ASSERT_EQ(file->schema().fields.size(), 2u);
  EXPECT_EQ(ReadAll(file.get(), file->schema().fields[0]).ValueOrDie()->ToString(),
            "[\n  1,\n  2,\n  3\n]");
  const auto vectors = ReadAll(file.get(), file->schema().fields[1]).ValueOrDie();
  ASSERT_TRUE(vectors->ValidateFull().ok());
  EXPECT_EQ(vectors->type()->ToString(), "fixed_size_list<item: float>[2]");
  const auto& items = static_cast<const arrow::FixedSizeListArray&>(*vectors).values();
  EXPECT_EQ(static_cast<const arrow::FloatArray&>(*items).Value(5), 6.0f);
  EXPECT_EQ(file->DescribePages(1).ValueOrDie(),
            std::vector<std::string>{"MiniBlock[FSL2(Flat32)] layers=[1] items=3 rows=3"});
}

TEST(LanceFileTest, ReadsRangesAndMissingFields) {
  auto file = LanceFile::Open(ReaderOf(FromHex(kGoldenFile))).ValueOrDie();
  const Field& id = file->schema().fields[0];
  const std::vector<RowRange> ends{{0, 1}, {1, 1}, {2, 3}};
  EXPECT_EQ(file->ReadRows(id, file->own_columns(), ends).ValueOrDie()->ToString(),
            "[\n  1,\n  3\n]");
  EXPECT_EQ(file->ReadRows(id, file->own_columns(), {}).ValueOrDie()->length(), 0);
  const auto nulls = file->ReadRows(id, ColumnMap{}, ends).ValueOrDie();
  EXPECT_EQ(nulls->null_count(), 2);
  EXPECT_EQ(nulls->type()->ToString(), "int64");
  for (const auto& wrong :
       std::vector<std::vector<RowRange>>{{{0, 4}}, {{2, 3}, {0, 1}}, {{0, 2}, {1, 3}}, {{2, 1}}}) {
    const auto result = file->ReadRows(id, file->own_columns(), wrong);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(base::CodeOf(result.status()), base::ErrorCode::kInvalid);
  }
}

TEST(LanceFileTest, NamesVersionsThatItRefuses) {
  for (const uint8_t minor : {0, 3, 9}) {
    auto bytes = FromHex(kGoldenFile);
    bytes[bytes.size() - 6] = minor;
    const auto file = LanceFile::Open(ReaderOf(bytes));
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(base::CodeOf(file.status()), base::ErrorCode::kNotSupported);
    const std::string message = base::MessageOf(file.status());
    EXPECT_NE(message.find("2." + std::to_string(minor)), std::string::npos);
    EXPECT_NE(message.find("rewrite the dataset"), std::string::npos) << message;
  }
}

// Structs of two numbers in lists of two: column 0 of the golden file has three of them too few.
TEST(LanceFileTest, AFixedSizeListOfStructsOfAnotherLengthIsCorrupt) {
  auto file = LanceFile::Open(ReaderOf(FromHex(kGoldenFile))).ValueOrDie();
  std::vector<Field> flat(3);
  const char* types[] = {"fixed_size_list:struct:2", "struct", "int64"};
  for (int i = 0; i < 3; ++i) {
    flat[i].id = i;
    flat[i].name = "f";
    flat[i].parent_id = i - 1;
    flat[i].logical_type = types[i];
  }
  const Field field = MakeSchema(flat, {}).ValueOrDie().fields[0];
  const std::vector<RowRange> ranges{{0, 3}};
  const auto status = file->ReadRows(field, ColumnMap{{2, 0}}, ranges).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCorrupt) << status;
  Field many = field;
  many.logical_type = "fixed_size_list:struct:2000000000";
  const auto refused = file->ReadRows(many, ColumnMap{{2, 0}}, ranges).status();
  EXPECT_EQ(base::CodeOf(refused), base::ErrorCode::kNotSupported) << refused;
}

void ExpectNoCrash(const std::vector<uint8_t>& bytes) {
  const auto file = LanceFile::Open(ReaderOf(bytes));
  if (!file.ok()) return;
  if ((*file)->num_rows() > 1000) return;  // a flipped row count: asking for them is our doing
  for (const Field& field : (*file)->schema().fields) {
    const auto array = ReadAll(file->get(), field);
    EXPECT_TRUE(!array.ok() || (*array)->Validate().ok());
  }
}

TEST(LanceFileTest, EveryTruncationIsCorrupt) {
  const auto bytes = FromHex(kGoldenFile);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto file = LanceFile::Open(ReaderOf({bytes.begin(), bytes.begin() + size}));
    ASSERT_FALSE(file.ok()) << size;
    EXPECT_EQ(base::CodeOf(file.status()), base::ErrorCode::kCorrupt) << size;
  }
  // Cut in the middle: the end is there but what it points to isn't.
  for (size_t cut = 1; cut < 0x100; ++cut) {
    ExpectNoCrash({bytes.begin() + cut, bytes.end()});
  }
}

TEST(LanceFileTest, NoFlippedBitCrashes) {
  auto bytes = FromHex(kGoldenFile);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
    ExpectNoCrash(bytes);
    bytes[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
  }
}

TEST(LanceFileTest, CorruptionNamesFileOffsetAndColumn) {
  auto bytes = FromHex(kGoldenFile);
  bytes[0x42] = 0xFF;  // the length of the values in column 0's only chunk
  auto file = LanceFile::Open(ReaderOf(bytes)).ValueOrDie();
  const auto array = ReadAll(file.get(), file->schema().fields[0]);
  ASSERT_FALSE(array.ok());
  EXPECT_EQ(base::CodeOf(array.status()), base::ErrorCode::kCorrupt);
  const auto* detail = static_cast<const base::ErrorDetail*>(array.status().detail().get());
  EXPECT_EQ(detail->path(), "golden.lance");
  EXPECT_EQ(detail->offset(), 0x40u);
  const std::string message = base::MessageOf(array.status());
  EXPECT_NE(message.find("field 'id': data file, column 0, page 0"), std::string::npos) << message;
  EXPECT_NE(message.find("(golden.lance, byte 64)"), std::string::npos) << message;
}

TEST(LanceFileTest, NumbersColumnsByVersion) {
  std::vector<Field> flat(5);
  const char* names[] = {"s", "a", "l", "item", "x"};
  const int parents[] = {-1, 0, 0, 2, -1};
  for (int i = 0; i < 5; ++i) {
    flat[i].id = i;
    flat[i].name = names[i];
    flat[i].parent_id = parents[i];
  }
  const Schema schema = MakeSchema(flat, {}).ValueOrDie();
  EXPECT_EQ(file::NumberColumns(schema, {2, 2}), (ColumnMap{{1, 0}, {3, 1}, {4, 2}}));
  EXPECT_EQ(file::NumberColumns(schema, {2, 0}),
            (ColumnMap{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}}));
}

// The golden datasets hold the same rows in each version, in two data files.
class GoldenTypesTest : public ::testing::TestWithParam<const char*> {
 protected:
  static std::shared_ptr<arrow::Table> Expected() {
    const std::string path = std::string(KINJO_GOLDEN_DIR) + "/types.rows.arrow";
    auto source = arrow::io::ReadableFile::Open(path).ValueOrDie();
    auto reader = arrow::ipc::RecordBatchFileReader::Open(source).ValueOrDie();
    return reader->ToTable().ValueOrDie();
  }

  // The data files, largest first (the first fragment is the larger one).
  static std::vector<std::string> DataFiles(const std::string& dataset) {
    std::vector<std::pair<uintmax_t, std::string>> files;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(KINJO_GOLDEN_DIR) +
                                                                 "/" + dataset + ".lance/data")) {
      files.emplace_back(entry.file_size(), entry.path().string());
    }
    std::sort(files.rbegin(), files.rend());
    std::vector<std::string> paths;
    for (const auto& [size, path] : files) paths.push_back(path);
    return paths;
  }
};

TEST_P(GoldenTypesTest, ReadsEveryValue) {
  const auto expected = Expected();
  int64_t row = 0;
  for (const std::string& path : DataFiles(GetParam())) {
    auto reader = io::OpenFile(io::ResolveUri(path).ValueOrDie()).ValueOrDie();
    auto file = LanceFile::Open(std::move(reader)).ValueOrDie();
    const auto rows = static_cast<int64_t>(file->num_rows());
    for (const Field& field : file->schema().fields) {
      const auto array = ReadAll(file.get(), field);
      ASSERT_TRUE(array.ok()) << field.name << ": " << array.status();
      ASSERT_TRUE((*array)->ValidateFull().ok()) << field.name;
      const auto column = expected->GetColumnByName(field.name)->Slice(row, rows);
      const auto wanted = arrow::Concatenate(column->chunks()).ValueOrDie();
      EXPECT_TRUE((*array)->Equals(*wanted, arrow::EqualOptions().nans_equal(true)))
          << field.name << " of " << path;
      const std::vector<RowRange> odd{
          {1, 2}, {static_cast<uint64_t>(rows / 2), static_cast<uint64_t>(rows - 3)}};
      const auto part = file->ReadRows(field, file->own_columns(), odd).ValueOrDie();
      EXPECT_TRUE(part->Slice(1)->Equals(*wanted->Slice(rows / 2, rows - 3 - rows / 2),
                                         arrow::EqualOptions().nans_equal(true)))
          << field.name << " of " << path;
    }
    row += rows;
  }
  EXPECT_EQ(row, expected->num_rows());
}

INSTANTIATE_TEST_SUITE_P(Versions, GoldenTypesTest,
                         ::testing::Values("types_v20", "types_v21", "types_v22"),
                         [](const auto& test) { return std::string(test.param); });

// 5,700 rows in mini-block chunks: one row costs one request of about one chunk, and the index of
// the page only once.
TEST(LanceFileTest, ReadsOnlyTheChunksThatHoldTheRows) {
  const std::string folder = std::string(KINJO_GOLDEN_DIR) + "/deletes.lance/data";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    auto counters = std::make_shared<io::IoCounters>();
    const auto location = io::ResolveUri(entry.path().string()).ValueOrDie();
    auto file = LanceFile::Open(io::OpenFile(location, 0, counters).ValueOrDie()).ValueOrDie();
    if (file->num_rows() < 5000) continue;
    ++files;
    for (const Field& field : file->schema().fields) {
      const std::vector<RowRange> one{{2000, 2001}};
      ASSERT_TRUE(file->ReadRows(field, file->own_columns(), one).ok());
      const uint64_t requests = counters->requests;
      const uint64_t bytes = counters->bytes_read;
      const std::vector<RowRange> other{{2001, 2002}};
      ASSERT_TRUE(file->ReadRows(field, file->own_columns(), other).ok());
      EXPECT_EQ(counters->requests - requests, 1u) << field.name;
      EXPECT_LE(counters->bytes_read - bytes, 20000u) << field.name;
    }
  }
  EXPECT_EQ(files, 1);
}

// Of the tail that Open reads, only the columns' metadata stays in memory, and reading them costs
// no further request.
TEST(LanceFileTest, KeepsOnlyTheMetadataOfItsTail) {
  for (const char* name : {"deletes", "types_v20", "types_v22"}) {
    const std::string folder = std::string(KINJO_GOLDEN_DIR) + "/" + name + ".lance/data";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      auto counters = std::make_shared<io::IoCounters>();
      const auto location = io::ResolveUri(entry.path().string()).ValueOrDie();
      auto reader = io::OpenFile(location, 0, counters).ValueOrDie();
      const auto container = file::Container::Open(reader.get()).ValueOrDie();
      const uint64_t requests = counters->requests;
      uint64_t metadata = 0;
      for (const io::ByteRange& column : container.columns) {
        metadata += container.Read(reader.get(), column).ValueOrDie()->size();
      }
      EXPECT_EQ(counters->requests, requests);
      EXPECT_EQ(container.kept_range.length, static_cast<uint64_t>(container.kept->size()));
      EXPECT_LE(container.kept->size(),
                static_cast<int64_t>(metadata + 64 * container.columns.size()));
    }
  }
}

// Indexes, dictionaries and decompressed buffers of a page are made once, whatever is read of it.
TEST(LanceFileTest, PagesKeepTheirStateBetweenReads) {
  for (const char* name : {"types_v20", "types_v21", "types_v22"}) {
    const std::string folder = std::string(KINJO_GOLDEN_DIR) + "/" + name + ".lance/data";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const auto location = io::ResolveUri(entry.path().string()).ValueOrDie();
      const auto cache = std::make_shared<PageCache>();
      auto file = LanceFile::Open(io::OpenFile(location).ValueOrDie(), cache).ValueOrDie();
      for (const Field& field : file->schema().fields) ASSERT_TRUE(ReadAll(file.get(), field).ok());
      const uint64_t made = cache->states_made();
      uint64_t pages = 0;
      for (uint32_t column = 0; column < file->num_columns(); ++column) {
        pages += file->DescribePages(column).ValueOrDie().size();
      }
      EXPECT_LE(made, pages);
      for (const Field& field : file->schema().fields) {
        for (uint64_t row = 0; row + 2 < file->num_rows(); row += 5) {
          const std::vector<RowRange> ranges{{row, row + 1}, {row + 2, row + 3}};
          ASSERT_TRUE(file->ReadRows(field, file->own_columns(), ranges).ok());
        }
      }
      EXPECT_EQ(cache->states_made(), made) << name;
    }
  }
}

TEST(LanceFileTest, ManyThreadsReadOneFile) {
  const auto bytes = FromHex(kGoldenFile);
  auto file = LanceFile::Open(ReaderOf(bytes)).ValueOrDie();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (const Field& field : file->schema().fields) {
        const auto array = ReadAll(file.get(), field);
        if (array.ok() && (*array)->length() == 3) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 16);
}

}  // namespace
}  // namespace kinjo::format
