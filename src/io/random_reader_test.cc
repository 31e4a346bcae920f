#include "io/random_reader.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "arrow/filesystem/mockfs.h"
#include "base/assert_result.h"
#include "gtest/gtest.h"
#include "io/coalesce.h"

namespace kinjo::io {
namespace {

std::string Pattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 31 + i / 251) & 0xff);
  return text;
}

std::string Text(const std::shared_ptr<arrow::Buffer>& buffer) { return buffer->ToString(); }

class RandomReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static std::atomic<int> number{0};
    folder_ = std::filesystem::temp_directory_path() /
              base::Concat("kinjo_io_test_", ::getpid(), "_", number++);
    std::filesystem::create_directories(folder_);
    content_ = Pattern(100'000);
    file_ = (folder_ / "bytes").string();
    std::ofstream(file_, std::ios::binary) << content_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::shared_ptr<RandomReader> OpenLocal() {
    return OpenFile(ResolveUri(file_).ValueOrDie(), 0, counters_).ValueOrDie();
  }

  std::shared_ptr<RandomReader> OpenMock() {
    auto mock = std::make_shared<arrow::fs::internal::MockFileSystem>(arrow::fs::TimePoint());
    EXPECT_TRUE(mock->CreateFile("bytes", content_).ok());
    return OpenFile({mock, "bytes", "mock://bytes"}, 0, counters_).ValueOrDie();
  }

  void CheckReads(RandomReader* reader) {
    EXPECT_EQ(reader->size(), content_.size());
    const std::vector<ByteRange> ranges = {{99'990, 10}, {0, 5},   {3, 4},      {50'000, 0},
                                           {100'000, 0}, {64, 64}, {0, 100'000}};
    const auto buffers = reader->ReadRanges(ranges).ValueOrDie();
    ASSERT_EQ(buffers.size(), ranges.size());
    for (size_t i = 0; i < ranges.size(); ++i) {
      EXPECT_EQ(Text(buffers[i]), content_.substr(ranges[i].offset, ranges[i].length)) << i;
    }
    EXPECT_EQ(Text(reader->Read({7, 9}).ValueOrDie()), content_.substr(7, 9));
  }

  void CheckPastTheEnd(RandomReader* reader) {
    for (const ByteRange range : {ByteRange{99'999, 2}, ByteRange{100'001, 0}, ByteRange{5, ~0ull},
                                  ByteRange{~0ull, ~0ull}}) {
      const arrow::Status status = reader->Read(range).status();
      EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCorrupt) << status.ToString();
      EXPECT_NE(status.message().find("100000"), std::string::npos) << status.ToString();
    }
  }

  std::filesystem::path folder_;
  std::string content_;
  std::string file_;
  std::shared_ptr<IoCounters> counters_ = std::make_shared<IoCounters>();
};

TEST_F(RandomReaderTest, LocalReadsGiveTheFilesBytes) { CheckReads(OpenLocal().get()); }

TEST_F(RandomReaderTest, OtherFileSystemsGiveTheSameBytes) { CheckReads(OpenMock().get()); }

TEST_F(RandomReaderTest, MemoryGivesTheSameBytes) {
  CheckReads(OpenBuffer(arrow::Buffer::FromString(content_), "memory").get());
}

TEST_F(RandomReaderTest, ReadingPastTheEndIsCorrupt) {
  CheckPastTheEnd(OpenLocal().get());
  CheckPastTheEnd(OpenMock().get());
  CheckPastTheEnd(OpenBuffer(arrow::Buffer::FromString(content_), "memory").get());
}

TEST_F(RandomReaderTest, NeighboursShareARequestAndGapsAreCounted) {
  const auto reader = OpenLocal();
  const std::vector<ByteRange> ranges = {{40'000, 100}, {0, 100}, {8'000, 100}, {8'050, 10}};
  ASSERT_TRUE(reader->ReadRanges(ranges).ok());
  EXPECT_EQ(counters_->requests.load(), 2u);
  EXPECT_EQ(counters_->bytes_read.load(), 8'100u + 100u);
}

TEST_F(RandomReaderTest, RangesOfOneRequestKeepTheFilesAlignment) {
  const auto reader = OpenLocal();
  const std::vector<ByteRange> ranges = {{100, 20}, {128, 64}, {4'096, 10}};
  const auto buffers = reader->ReadRanges(ranges).ValueOrDie();
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffers[i]->data()) % 64, ranges[i].offset % 64) << i;
  }
}

TEST_F(RandomReaderTest, MissingFilesAreNotFound) {
  const Location location = ResolveUri((folder_ / "absent").string()).ValueOrDie();
  EXPECT_EQ(base::CodeOf(OpenFile(location).status()), base::ErrorCode::kNotFound);
  const Location below_a_file = Child(ResolveUri(file_).ValueOrDie(), "x");
  EXPECT_EQ(base::CodeOf(OpenFile(below_a_file).status()), base::ErrorCode::kNotFound);
  auto mock = std::make_shared<arrow::fs::internal::MockFileSystem>(arrow::fs::TimePoint());
  EXPECT_EQ(base::CodeOf(OpenFile({mock, "absent", "mock://absent"}).status()),
            base::ErrorCode::kNotFound);
}

TEST_F(RandomReaderTest, AFolderIsNotAFile) {
  const Location location = ResolveUri(folder_.string()).ValueOrDie();
  EXPECT_EQ(base::CodeOf(OpenFile(location).status()), base::ErrorCode::kIo);
}

TEST_F(RandomReaderTest, ASizeThatDisagreesIsCorrupt) {
  const Location location = ResolveUri(file_).ValueOrDie();
  EXPECT_TRUE(OpenFile(location, 100'000).ok());
  EXPECT_EQ(base::CodeOf(OpenFile(location, 100'001).status()), base::ErrorCode::kCorrupt);
}

TEST_F(RandomReaderTest, AFileThatShrinksIsCorruptNotGarbage) {
  const auto reader = OpenLocal();
  std::filesystem::resize_file(file_, 10);
  EXPECT_EQ(base::CodeOf(reader->Read({0, 100}).status()), base::ErrorCode::kCorrupt);
}

// A dataset may have more files than a process may hold open.
TEST_F(RandomReaderTest, MoreFilesThanDescriptorsAreRead) {
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  struct rlimit few = before;
  few.rlim_cur = std::min<rlim_t>(before.rlim_cur, 320);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  constexpr int kFiles = 400;
  std::vector<std::shared_ptr<RandomReader>> readers;
  arrow::Status status;
  for (int i = 0; i < kFiles && status.ok(); ++i) {
    const std::string name = (folder_ / std::to_string(i)).string();
    std::ofstream(name) << "file " << i;
    auto opened = OpenFile(ResolveUri(name).ValueOrDie(), 0, counters_);
    status = opened.status();
    if (opened.ok()) readers.push_back(std::move(*opened));
  }
  for (int again = 0; again < 2 && status.ok(); ++again) {
    for (size_t i = 0; i < readers.size() && status.ok(); ++i) {
      const auto read = readers[i]->Read({0, readers[i]->size()});
      status = read.status();
      if (read.ok()) {
        EXPECT_EQ(Text(*read), base::Concat("file ", i));
      }
    }
  }
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(status.ok()) << status.ToString();
  std::ofstream((folder_ / "0").string()) << "a longer file";
  EXPECT_EQ(base::CodeOf(readers[0]->Read({0, 4}).status()), base::ErrorCode::kCorrupt);
}

TEST_F(RandomReaderTest, ThreadsReadAtTheSameTime) {
  const auto reader = OpenLocal();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 500; ++i) {
        const uint64_t offset = random() % 90'000;
        const uint64_t length = random() % 10'000;
        if (Text(reader->Read({offset, length}).ValueOrDie()) != content_.substr(offset, length)) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ResolveUriTest, PlainPathsAndFileAddresses) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(ResolveUri("a/b/").ValueOrDie().path, here + "/a/b");
  EXPECT_EQ(ResolveUri("a/b/").ValueOrDie().uri, "a/b");
  EXPECT_EQ(ResolveUri("/x/./y/../z").ValueOrDie().path, "/x/z");
  EXPECT_EQ(ResolveUri("file:///x/y").ValueOrDie().path, "/x/y");
  EXPECT_EQ(ResolveUri("/x/50%25 off: yes").ValueOrDie().path, "/x/50%25 off: yes");
  EXPECT_EQ(ResolveUri("/").ValueOrDie().path, "/");
  EXPECT_EQ(Child(ResolveUri("/").ValueOrDie(), "a").path, "/a");
}

TEST(ResolveUriTest, RefusesWhatItCantUnderstand) {
  EXPECT_EQ(base::CodeOf(ResolveUri("").status()), base::ErrorCode::kInvalid);
  for (const char* uri : {"gopher://x/y", "hdfs://host/x"}) {
    EXPECT_EQ(base::CodeOf(ResolveUri(uri).status()), base::ErrorCode::kNotSupported) << uri;
  }
  for (const char* uri : {"s3://", "s3:///", "s3:///key", "gs://", "gs:///key", "az://"}) {
    EXPECT_EQ(base::CodeOf(ResolveUri(uri).status()), base::ErrorCode::kInvalid) << uri;
  }
  EXPECT_EQ(base::CodeOf(ResolveUri(std::string("a\0b", 3)).status()), base::ErrorCode::kInvalid);
}

TEST(ResolveUriTest, Buckets) {
  KINJO_ASSERT_RESULT(object, ResolveUri("s3://bucket/a b/c.parquet"));
  EXPECT_EQ(object.file_system->type_name(), "s3");
  EXPECT_EQ(object.path, "bucket/a b/c.parquet");
  EXPECT_EQ(object.uri, "s3://bucket/a b/c.parquet");
  KINJO_ASSERT_RESULT(folder, ResolveUri("s3://bucket/items.lance/"));
  EXPECT_EQ(Child(folder, "_versions").uri, "s3://bucket/items.lance/_versions");
  // Connections and keys are shared.
  EXPECT_EQ(object.file_system, folder.file_system);
}

TEST(CoalesceTest, EveryRangeLiesInsideItsRequest) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<ByteRange> ranges(random() % 20);
    for (ByteRange& range : ranges) range = {random() % 2'000, random() % 50};
    const uint64_t gap = random() % 100;
    const auto requests = Coalesce(ranges, gap);
    size_t members = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      const ByteRange& whole = requests[i].range;
      if (i > 0) {
        const ByteRange& before = requests[i - 1].range;
        EXPECT_GT(whole.offset, before.offset + before.length + gap);
      }
      for (const size_t member : requests[i].members) {
        EXPECT_GE(ranges[member].offset, whole.offset);
        EXPECT_LE(ranges[member].offset + ranges[member].length, whole.offset + whole.length);
      }
      members += requests[i].members.size();
    }
    const auto empty = std::count_if(ranges.begin(), ranges.end(),
                                     [](const ByteRange& range) { return range.length == 0; });
    EXPECT_EQ(members + static_cast<size_t>(empty), ranges.size());
  }
}

}  // namespace
}  // namespace kinjo::io
