#include "io/file_changes.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "arrow/filesystem/mockfs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FileChangesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static std::atomic<int> number{0};
    path_ = std::filesystem::temp_directory_path() /
            base::Concat("kinjo_changes_test_", ::getpid(), "_", number++);
    folder_ = ResolveUri(path_.string()).ValueOrDie();
    ASSERT_TRUE(MakeFolder(folder_).ok());
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  std::string Content(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const FoundFile& file : ListFiles(folder_).ValueOrDie()) names.push_back(file.name);
    return names;
  }

  std::filesystem::path path_;
  Location folder_;
};

TEST_F(FileChangesTest, AFileIsWrittenInPieces) {
  const std::string piece(700'000, 'x');
  auto file = CreateFile(Child(folder_, "a")).ValueOrDie();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(file->Write(piece.data(), 700'000).ok());
  ASSERT_TRUE(file->Write("end", 3).ok());
  EXPECT_EQ(*file->Tell(), 2'800'003);
  ASSERT_TRUE(file->Close().ok());
  EXPECT_TRUE(file->closed());
  const std::string content = Content("a");
  EXPECT_EQ(content.size(), 2'800'003u);
  EXPECT_TRUE(content.ends_with("xxend"));
  EXPECT_EQ(base::CodeOf(file->Write("more", 4)), base::ErrorCode::kIo);
}

TEST_F(FileChangesTest, AFileThatIsDroppedIsGone) {
  {
    auto file = CreateFile(Child(folder_, "a")).ValueOrDie();
  }
  auto file = CreateFile(Child(folder_, "b")).ValueOrDie();
  ASSERT_TRUE(file->Write("x", 1).ok());
  ASSERT_TRUE(file->Abort().ok());
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(FileChangesTest, AFileThatIsThereIsNotCreated) {
  ASSERT_TRUE(*PutIfAbsent(Child(folder_, "a"), "first"));
  const auto again = CreateFile(Child(folder_, "a"));
  EXPECT_EQ(base::CodeOf(again.status()), base::ErrorCode::kIo);
  EXPECT_THAT(again.status().message(), HasSubstr("can't write " + folder_.uri + "/a"));
  EXPECT_EQ(Content("a"), "first");
}

TEST_F(FileChangesTest, OfManyWhoPutOneWins) {
  constexpr int kWriters = 8;
  for (int round = 0; round < 20; ++round) {
    const Location place = Child(folder_, base::Concat(round));
    std::atomic<int> winner{-1};
    std::atomic<int> wins{0};
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back([&, i] {
        const auto put = PutIfAbsent(place, std::string(1000, static_cast<char>('a' + i)));
        if (!put.ok() || !*put) return;
        winner = i;
        ++wins;
      });
    }
    for (std::thread& writer : writers) writer.join();
    ASSERT_EQ(wins, 1);
    EXPECT_EQ(Content(base::Concat(round)), std::string(1000, static_cast<char>('a' + winner)));
  }
  EXPECT_EQ(Names().size(), 20u);  // no hidden file is left
}

TEST_F(FileChangesTest, AFileIsReplacedWhole) {
  ASSERT_TRUE(ReplaceFile(Child(folder_, "a"), "first").ok());
  ASSERT_TRUE(ReplaceFile(Child(folder_, "a"), "second").ok());
  EXPECT_EQ(Content("a"), "second");
  EXPECT_THAT(Names(), ElementsAre("a"));
}

TEST_F(FileChangesTest, FoldersAreMadeListedAndRemoved) {
  ASSERT_TRUE(MakeFolder(Child(folder_, "a/b/c")).ok());
  ASSERT_TRUE(MakeFolder(Child(folder_, "a/b/c")).ok());
  ASSERT_TRUE(*PutIfAbsent(Child(folder_, "a/b/c/file"), "12345"));
  ASSERT_TRUE(*PutIfAbsent(Child(folder_, "a/top"), ""));
  const auto files = ListFiles(folder_).ValueOrDie();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "a/b/c/file");
  EXPECT_EQ(files[0].size_bytes, 5u);
  EXPECT_GT(files[0].modified_s, 1'600'000'000);
  ASSERT_TRUE(RemoveEmptyFolder(Child(folder_, "a/b")).ok());  // it isn't empty
  EXPECT_EQ(Names().size(), 2u);
  ASSERT_TRUE(RemoveFile(Child(folder_, "a/b/c/file")).ok());
  ASSERT_TRUE(RemoveFile(Child(folder_, "a/b/c/file")).ok());
  ASSERT_TRUE(RemoveEmptyFolder(Child(folder_, "a/b/c")).ok());
  ASSERT_TRUE(RemoveEmptyFolder(Child(folder_, "a/b/c")).ok());
  EXPECT_FALSE(std::filesystem::exists(path_ / "a/b/c"));
  EXPECT_TRUE(ListFiles(Child(folder_, "nothing")).ValueOrDie().empty());
}

TEST_F(FileChangesTest, AFileInPlaceOfAFolderIsAnError) {
  ASSERT_TRUE(*PutIfAbsent(Child(folder_, "a"), ""));
  const arrow::Status status = MakeFolder(Child(folder_, "a/b"));
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kIo);
  EXPECT_THAT(status.message(), HasSubstr("Not a directory"));
}

TEST_F(FileChangesTest, OtherFileSystemsAreNotWritten) {
  const Location other{
      std::make_shared<arrow::fs::internal::MockFileSystem>(arrow::fs::TimePoint{}), "a",
      "mock://a"};
  EXPECT_EQ(base::CodeOf(PutIfAbsent(other, "").status()), base::ErrorCode::kNotSupported);
  EXPECT_EQ(base::CodeOf(CreateFile(other).status()), base::ErrorCode::kNotSupported);
  EXPECT_EQ(base::CodeOf(MakeFolder(other)), base::ErrorCode::kNotSupported);
  EXPECT_EQ(base::CodeOf(RemoveFile(other)), base::ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace kinjo::io
