// An open version beside writers, clean-up, lost files and links: it answers for what it was opened
// at, says why it can't, and reads nothing outside of the dataset.
#include "dataset/snapshot.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/filesystem/mockfs.h"
#include "base/thread_pool.h"
#include "dataset/cleanup.h"
#include "dataset/compact.h"
#include "dataset/delete_rows.h"
#include "dataset/history.h"
#include "dataset/restore.h"
#include "dataset/write_dataset.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

/// Rows of one column with the values first, first + 1, ...
std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t first, int64_t count) {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < count; ++i) EXPECT_TRUE(builder.Append(first + i).ok());
  const auto schema = arrow::schema({arrow::field("id", arrow::int64())});
  auto batch = arrow::RecordBatch::Make(schema, count, {builder.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

arrow::Result<std::vector<int64_t>> IdsOf(Dataset* dataset) {
  ARROW_ASSIGN_OR_RAISE(const auto scan, dataset->MakeScan({.columns = {"id"}}));
  std::vector<int64_t> ids;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const ScanBatch batch, scan->Next());
    if (batch.batch == nullptr) return ids;
    const auto& column = static_cast<const arrow::Int64Array&>(*batch.batch->column(0));
    ids.insert(ids.end(), column.raw_values(), column.raw_values() + column.length());
  }
}

class OpenVersionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static std::atomic<int> number{0};
    folder_ =
        fs::temp_directory_path() / base::Concat("kinjo_snapshot_test_", ::getpid(), "_", number++);
    path_ = folder_ / "rows.lance";
    fs::create_directories(folder_);
    Write(WriteMode::kCreate, 0, 20);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// In fragments of ten rows.
  void Write(WriteMode mode, int64_t first, int64_t count) {
    WriteOptions options;
    options.mode = mode;
    options.limits.max_rows = 10;
    ASSERT_TRUE(WriteDataset(path_.string(), Rows(first, count).get(), options).ok());
  }
  void Delete(const std::string& where) {
    ASSERT_TRUE(DeleteRows(path_.string(), where, &pool_, base::CancelToken()).ok());
  }
  void CleanUpAll() {
    CleanupOptions options;
    options.older_than_s = 0;
    options.orphans_older_than_s = 0;
    ASSERT_TRUE(CleanUp(path_.string(), options).ok());
  }
  std::shared_ptr<Dataset> Open(const OpenOptions& options = {}) {
    return Dataset::Open(path_.string(), options).ValueOrDie();
  }
  arrow::Status OpenStatus(const std::string& tag) {
    return Dataset::Open(path_.string(), {.version = {}, .tag = tag}).status();
  }
  /// The only file or folder in a folder of the dataset, or the first.
  fs::path First(const char* folder) { return fs::directory_iterator(path_ / folder)->path(); }
  /// Moves a file of the dataset to `to` and leaves a link to it.
  static void LeaveLink(const fs::path& file, const fs::path& to) {
    fs::create_directories(to.parent_path());
    fs::rename(file, to);
    fs::create_symlink(to, file);
  }

  base::ThreadPool pool_{2};
  fs::path folder_;
  fs::path path_;
};

TEST_F(OpenVersionTest, KeepsAnsweringWhileWritersGoOn) {
  Delete("id = 3");
  const auto before = Open();
  const std::vector<int64_t> ids = IdsOf(before.get()).ValueOrDie();
  ASSERT_EQ(ids.size(), 19u);
  Write(WriteMode::kAppend, 20, 15);
  Delete("id % 2 = 0");
  ASSERT_TRUE(CompactDataset(path_.string(), {}).ok());
  Write(WriteMode::kOverwrite, 500, 5);
  EXPECT_EQ(IdsOf(before.get()).ValueOrDie(), ids);
  EXPECT_EQ(before->version(), 2u);
  EXPECT_EQ(before->num_rows(), 19u);
  const std::vector<RowAddress> taken = {0, 2, uint64_t{1} << 32};
  const auto batch = before->Take({"id"}, taken).ValueOrDie();
  EXPECT_EQ(static_cast<const arrow::Int64Array&>(*batch->column(0)).Value(2), 10);
  EXPECT_EQ(IdsOf(Open().get()).ValueOrDie().size(), 5u);
}

TEST_F(OpenVersionTest, SaysThatItWasCleanedUp) {
  const auto before = Open();
  Write(WriteMode::kOverwrite, 100, 3);
  CleanUpAll();
  const arrow::Status scan = IdsOf(before.get()).status();
  EXPECT_EQ(base::CodeOf(scan), base::ErrorCode::kNotFound);
  EXPECT_THAT(scan.message(), HasSubstr("version 1 of " + path_.string() + " was cleaned up"));
  const std::vector<RowAddress> rows = {1};
  const arrow::Status take = before->Take({"id"}, rows).status();
  EXPECT_THAT(take.message(), HasSubstr("A tag keeps a version from clean-up"));
}

TEST_F(OpenVersionTest, ATagKeepsItFromCleanUp) {
  ASSERT_TRUE(CreateTag(path_.string(), "kept", 1).ok());
  const auto before = Open();
  Write(WriteMode::kOverwrite, 100, 3);
  CleanUpAll();
  EXPECT_EQ(IdsOf(before.get()).ValueOrDie().size(), 20u);
}

TEST_F(OpenVersionTest, TellsALostFileFromCleanUp) {
  fs::remove(First("data"));
  const arrow::Status status = IdsOf(Open().get()).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("names that file: the dataset lost it"));
  EXPECT_THAT(status.message(), Not(HasSubstr("was cleaned up")));
}

TEST_F(OpenVersionTest, NoLinkLeadsOutOfTheDataset) {
  LeaveLink(First("data"), folder_ / "elsewhere" / "file.lance");
  const arrow::Status status = IdsOf(Open().get()).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotSupported);
  EXPECT_THAT(status.message(), HasSubstr("a link leads to"));
  EXPECT_THAT(status.message(), HasSubstr("elsewhere/file.lance, outside of "));
}

TEST_F(OpenVersionTest, NoLinkOfAFolderLeadsOutEither) {
  LeaveLink(path_ / "data", folder_ / "elsewhere" / "data");
  EXPECT_EQ(base::CodeOf(IdsOf(Open().get()).status()), base::ErrorCode::kNotSupported);
}

TEST_F(OpenVersionTest, ANeighbourOfTheSameBeginningIsOutside) {
  LeaveLink(First("data"), folder_ / "rows.lance2" / "file.lance");
  EXPECT_EQ(base::CodeOf(IdsOf(Open().get()).status()), base::ErrorCode::kNotSupported);
}

TEST_F(OpenVersionTest, NoLinkOfADeletionFileLeadsOut) {
  Delete("id = 3");
  LeaveLink(First("_deletions"), folder_ / "elsewhere" / "deletions");
  EXPECT_EQ(base::CodeOf(Dataset::Open(path_.string()).status()), base::ErrorCode::kNotSupported);
}

TEST_F(OpenVersionTest, LinksInsideOfTheDatasetAreFine) {
  LeaveLink(First("data"), path_ / "more" / "file.lance");
  EXPECT_EQ(IdsOf(Open().get()).ValueOrDie().size(), 20u);
}

TEST_F(OpenVersionTest, TheDatasetItselfMayBeALink) {
  fs::rename(path_, folder_ / "moved.lance");
  fs::create_directory_symlink(folder_ / "moved.lance", path_);
  EXPECT_EQ(IdsOf(Open().get()).ValueOrDie().size(), 20u);
}

std::string TimeText(const PastVersion& past) {
  const std::time_t seconds = past.seconds;
  std::tm parts{};
  char text[64];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &parts));
  std::string nanos = std::to_string(past.nanos);
  return std::string(text) + "." + std::string(9 - nanos.size(), '0') + nanos + "Z";
}

TEST_F(OpenVersionTest, ATimeNamesTheNewestVersionMadeByThen) {
  for (int64_t first = 20; first < 50; first += 10) Write(WriteMode::kAppend, first, 10);
  Delete("id = 1");
  const auto history = ListHistory(path_.string()).ValueOrDie();
  ASSERT_EQ(history.size(), 5u);
  EXPECT_EQ(history[0].operation, "Overwrite");
  EXPECT_EQ(history[1].operation, "Append");
  EXPECT_EQ(history[4].operation, "Delete");
  EXPECT_EQ(history[3].num_rows, 50u);
  EXPECT_EQ(history[4].num_rows, 49u);
  EXPECT_EQ(history[3].num_fragments, 5u);
  EXPECT_THAT(history[0].writer, HasSubstr("kinjo"));
  for (const PastVersion& past : history) {
    EXPECT_EQ(Open({.version = {}, .tag = TimeText(past)})->version(), past.version);
  }
  EXPECT_EQ(Open({.version = {}, .tag = "2999-01-01 00:00"})->version(), 5u);
  PastVersion earlier = history[0];
  --earlier.seconds;
  const arrow::Status none = OpenStatus(TimeText(earlier));
  EXPECT_EQ(base::CodeOf(none), base::ErrorCode::kNotFound);
  EXPECT_THAT(none.message(), HasSubstr("has no version made by "));
  EXPECT_EQ(base::CodeOf(OpenStatus("noon: today")), base::ErrorCode::kInvalid);
}

TEST_F(OpenVersionTest, RefusesDetachedVersionsByName) {
  const arrow::Status status = OpenStatus("11314535787433333607");
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotSupported);
  EXPECT_THAT(status.message(), HasSubstr("is detached"));
  EXPECT_EQ(base::CodeOf(OpenStatus("9223372036854775807")), base::ErrorCode::kNotFound);
}

TEST_F(OpenVersionTest, ATagOfABranchStaysBelowTree) {
  ASSERT_TRUE(CreateTag(path_.string(), "odd", 1).ok());
  const fs::path file = path_ / "_refs" / "tags" / "odd.json";
  fs::create_directory(path_ / "tree");
  const auto status_of = [&](const std::string& branch) {
    std::ofstream(file) << R"({"version": 1, "branch": ")" << branch << "\"}";
    return OpenStatus("odd");
  };
  for (const char* branch : {"..", "../..", "a/../../..", "/", "/etc", "a//b", "."}) {
    EXPECT_EQ(base::CodeOf(status_of(branch)), base::ErrorCode::kCorrupt) << branch;
  }
  EXPECT_EQ(base::CodeOf(status_of("a/b")), base::ErrorCode::kNotFound);
}

arrow::Status BaseStatus(const io::Location& root, const std::string& path) {
  return BaseLocations::Make(root, {}, {{3, format::BasePath{path, true}}}).status();
}

TEST(BaseLocationsTest, RefusesWhatIsNoPlaceOfItsOwn) {
  const io::Location local = io::ResolveUri("/somewhere").ValueOrDie();
  EXPECT_TRUE(BaseStatus(local, "/elsewhere").ok());
  EXPECT_TRUE(BaseStatus(local, "file:///elsewhere").ok());
  for (const char* path : {"", "../x", "x", "./x", "http://x/y", "gopher://x"}) {
    EXPECT_EQ(base::CodeOf(BaseStatus(local, path)), base::ErrorCode::kNotSupported) << path;
  }
  // What somebody put into a bucket must not have the files of this machine read.
  const io::Location store{
      std::make_shared<arrow::fs::internal::MockFileSystem>(arrow::fs::TimePoint()), "bucket/x",
      "mock://bucket/x"};
  for (const char* path : {"/etc", "file:///etc"}) {
    const arrow::Status status = BaseStatus(store, path);
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotSupported) << path;
    EXPECT_THAT(status.message(), HasSubstr("on this machine"));
  }
}

TEST(BaseLocationsTest, FilesOfABaseThatIsntNamedAreCorrupt) {
  const auto locations =
      BaseLocations::Make(io::ResolveUri("/somewhere").ValueOrDie(), {}, {}).ValueOrDie();
  format::DataFile file;
  file.path = "x.lance";
  file.base_id = 0;
  EXPECT_EQ(base::CodeOf(locations.DataFile(file).status()), base::ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace kinjo::dataset
