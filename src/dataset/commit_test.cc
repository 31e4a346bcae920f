// Datasets written, changed and read back here; tests/writing does the same with pylance.
#include "dataset/commit.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "base/assert_result.h"
#include "dataset/change_columns.h"
#include "dataset/cleanup.h"
#include "dataset/compact.h"
#include "dataset/dataset.h"
#include "dataset/delete_rows.h"
#include "dataset/restore.h"
#include "dataset/write_dataset.h"
#include "format/table/manifest_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/file_changes.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Rows of one column with the values first, first + 1, ...
std::shared_ptr<arrow::RecordBatchReader> Rows(int64_t first, int64_t count,
                                               const std::string& name = "id") {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < count; ++i) EXPECT_TRUE(builder.Append(first + i).ok());
  const auto schema = arrow::schema({arrow::field(name, arrow::int64())});
  auto batch = arrow::RecordBatch::Make(schema, count, {builder.Finish().ValueOrDie()});
  return arrow::RecordBatchReader::Make({batch}, schema).ValueOrDie();
}

class CommitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static std::atomic<int> number{0};
    path_ = std::filesystem::temp_directory_path() /
            base::Concat("kinjo_commit_test_", ::getpid(), "_", number++);
    root_ = io::ResolveUri(path_.string()).ValueOrDie();
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  arrow::Result<WriteReport> Write(WriteMode mode, int64_t first, int64_t count,
                                   uint64_t max_rows = 1000) {
    WriteOptions options;
    options.mode = mode;
    options.limits.max_rows = max_rows;
    return WriteDataset(path_.string(), Rows(first, count).get(), options);
  }

  std::vector<int64_t> Ids(const OpenOptions& options = {}, const std::string& name = "id") {
    const auto dataset = Dataset::Open(path_.string(), options).ValueOrDie();
    const auto scan = dataset->MakeScan({.columns = {name}}).ValueOrDie();
    std::vector<int64_t> ids;
    while (true) {
      const ScanBatch batch = scan->Next().ValueOrDie();
      if (batch.batch == nullptr) return ids;
      const auto& column = static_cast<const arrow::Int64Array&>(*batch.batch->column(0));
      for (int64_t i = 0; i < column.length(); ++i) {
        ids.push_back(column.IsNull(i) ? -1 : column.Value(i));
      }
    }
  }
  uint64_t Newest() { return ReadTableVersion(root_).ValueOrDie().version(); }
  size_t Files(const std::string& folder) {
    return io::ListFiles(io::Child(root_, folder)).ValueOrDie().size();
  }

  std::filesystem::path path_;
  io::Location root_;
  base::ThreadPool pool_{1};
  base::CancelToken cancel_;
};

TEST_F(CommitTest, CreateAppendOverwriteRestore) {
  KINJO_ASSERT_RESULT(created, Write(WriteMode::kCreate, 0, 5, 2));
  EXPECT_EQ(created.version, 1u);
  EXPECT_EQ(created.fragments, 3u);
  EXPECT_EQ(created.rows, 5u);
  EXPECT_EQ(Write(WriteMode::kAppend, 5, 2)->version, 2u);
  EXPECT_THAT(Ids(), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(Write(WriteMode::kOverwrite, 50, 1)->version, 3u);
  EXPECT_THAT(Ids(), ElementsAre(50));
  EXPECT_THAT(Ids({.version = 1}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(*RestoreVersion(path_.string(), {.version = 2}, cancel_), 4u);
  EXPECT_THAT(Ids(), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  // The restored version knows of the ids that came after it.
  EXPECT_EQ(Write(WriteMode::kAppend, 7, 1)->version, 5u);
  const TableVersion latest = ReadTableVersion(root_).ValueOrDie();
  EXPECT_EQ(latest.messages.manifest.fragments.back().id, 5u);
}

TEST_F(CommitTest, ADatasetIsMadeOnce) {
  ASSERT_TRUE(Write(WriteMode::kCreate, 0, 5).ok());
  const auto again = Write(WriteMode::kCreate, 0, 5);
  EXPECT_EQ(base::CodeOf(again.status()), base::ErrorCode::kConflict);
  EXPECT_EQ(Files("data"), 1u);
}

// The new fragments of a rewrite have ids that were set aside; an append came in between.
TEST_F(CommitTest, FragmentsStandInTheOrderOfReservedIds) {
  ASSERT_TRUE(Write(WriteMode::kCreate, 0, 4, 2).ok());
  const TableVersion first = ReadTableVersion(root_).ValueOrDie();
  Transaction reserve;
  reserve.read_version = 1;
  reserve.operation = format::proto::ReserveFragmentsOperation{1};
  KINJO_ASSERT_RESULT(reserved, Commit(root_, reserve));
  EXPECT_EQ(reserved, 2u);
  EXPECT_THAT(Ids(), ElementsAre(0, 1, 2, 3));
  ASSERT_TRUE(Write(WriteMode::kAppend, 10, 1).ok());

  const auto& old = first.messages.manifest.fragments;
  format::proto::RewriteOperation::Group group{.old_fragments = {old[0]}, .new_fragments = {}};
  group.new_fragments.push_back(old[0]);
  group.new_fragments[0].id = 2;
  Transaction rewrite;
  rewrite.read_version = 1;
  rewrite.operation = format::proto::RewriteOperation{.groups = {group}, .rewritten_indices = {}};
  ASSERT_TRUE(Commit(root_, rewrite).ok());
  std::vector<uint64_t> ids;
  const TableVersion newest = ReadTableVersion(root_).ValueOrDie();
  for (const auto& fragment : newest.messages.manifest.fragments) ids.push_back(fragment.id);
  EXPECT_THAT(ids, ElementsAre(1, 2, 3));
  EXPECT_THAT(Ids(), ElementsAre(2, 3, 0, 1, 10));
}

TEST_F(CommitTest, FilesThatNoVersionNamesGo) {
  ASSERT_TRUE(Write(WriteMode::kCreate, 0, 5).ok());
  const auto put = [&](const std::string& name) {
    ASSERT_TRUE(io::MakeFolder(io::Child(root_, "_indices/u")).ok());
    ASSERT_TRUE(io::PutIfAbsent(io::Child(root_, name), "x").ok());
  };
  put("data/lost.lance");
  put("_indices/u/index.idx");
  {
    UncommittedFiles files(root_);
    files.Add("data/lost.lance");
    files.AddSegment("u");
    Transaction drop;
    drop.read_version = 1;
    drop.operation = format::proto::CreateIndexOperation{
        .new_indices = {}, .removed_indices = {{.uuid = "not there", .name = "x"}}};
    EXPECT_EQ(base::CodeOf(Commit(root_, drop, {}, &files).status()), base::ErrorCode::kConflict);
  }
  EXPECT_EQ(Files("data"), 1u);
  EXPECT_FALSE(std::filesystem::exists(path_ / "_indices" / "u"));
  put("data/lost.lance");
  {
    UncommittedFiles files(root_);
    files.Add("data/lost.lance");
    Transaction reserve;
    reserve.read_version = 1;
    reserve.operation = format::proto::ReserveFragmentsOperation{1};
    EXPECT_TRUE(Commit(root_, reserve, {}, &files).ok());
  }
  EXPECT_EQ(Files("data"), 2u);
}

TEST_F(CommitTest, WhatFailsLeavesNoFiles) {
  class Broken final : public arrow::RecordBatchReader {
   public:
    std::shared_ptr<arrow::Schema> schema() const override { return Rows(0, 1)->schema(); }
    arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
      if (read_++ > 0) return base::Io("the source broke");
      return Rows(0, 10)->ReadNext(batch);
    }

   private:
    int read_ = 0;
  };
  Broken broken;
  WriteOptions options;
  options.limits.max_rows = 3;
  const auto written = WriteDataset(path_.string(), &broken, options);
  EXPECT_THAT(written.status().message(), HasSubstr("the source broke"));
  EXPECT_EQ(Files("data"), 0u);
  EXPECT_TRUE(Write(WriteMode::kCreate, 0, 5).ok());
}

TEST_F(CommitTest, Cancelled) {
  WriteOptions options;
  options.cancel.Cancel();
  const auto written = WriteDataset(path_.string(), Rows(0, 10).get(), options);
  EXPECT_EQ(base::CodeOf(written.status()), base::ErrorCode::kCancelled);
  EXPECT_EQ(base::CodeOf(Dataset::Open(path_.string()).status()), base::ErrorCode::kNotFound);
}

TEST_F(CommitTest, DeletesAndCompaction) {
  ASSERT_TRUE(Write(WriteMode::kCreate, 0, 10, 4).ok());
  const auto remove = [&](const std::string& where) {
    return DeleteRows(path_.string(), where, &pool_, cancel_).ValueOrDie();
  };
  EXPECT_EQ(remove("id = 1 OR id = 9").rows, 2u);
  EXPECT_EQ(remove("id = 1").rows, 0u);
  EXPECT_EQ(Newest(), 2u);
  EXPECT_EQ(remove("id >= 4 AND id < 8").rows, 4u);  // a whole fragment
  EXPECT_THAT(Ids(), ElementsAre(0, 2, 3, 8));
  EXPECT_EQ(ReadTableVersion(root_)->messages.manifest.fragments.size(), 2u);
  KINJO_ASSERT_RESULT(compacted, CompactDataset(path_.string(), {}));
  EXPECT_EQ(compacted.old_fragments, 2u);
  EXPECT_EQ(compacted.new_fragments, 1u);
  EXPECT_THAT(Ids(), ElementsAre(0, 2, 3, 8));
  EXPECT_EQ(CompactDataset(path_.string(), {})->version, 4u);
}

TEST_F(CommitTest, ColumnsGoToLiveRows) {
  ASSERT_TRUE(Write(WriteMode::kCreate, 0, 10, 4).ok());
  ASSERT_TRUE(DeleteRows(path_.string(), "id % 2 = 0", &pool_, cancel_).ok());
  KINJO_ASSERT_RESULT(added, AddColumns(path_.string(), Rows(100, 5, "more").get(), {}));
  EXPECT_EQ(added.rows, 5u);
  EXPECT_THAT(Ids({}, "more"), ElementsAre(100, 101, 102, 103, 104));
  ASSERT_TRUE(RenameColumn(path_.string(), "more", "less", cancel_).ok());
  ASSERT_TRUE(DropColumns(path_.string(), {"id"}, cancel_).ok());
  EXPECT_THAT(Ids({}, "less"), ElementsAre(100, 101, 102, 103, 104));
  // The dropped column's files are named no more, and its id isn't given again.
  const TableVersion latest = ReadTableVersion(root_).ValueOrDie();
  EXPECT_EQ(latest.messages.manifest.fragments[0].files.size(), 1u);
  ASSERT_TRUE(AddColumns(path_.string(), Rows(0, 5, "again").get(), {}).ok());
  EXPECT_EQ(ReadTableVersion(root_)->schema().FindPath("again")->id, 2);
}

TEST_F(CommitTest, StaleTransactionsAreJudged) {
  ASSERT_TRUE(Write(WriteMode::kCreate, 0, 10).ok());
  const TableVersion first = ReadTableVersion(root_).ValueOrDie();
  ASSERT_TRUE(DeleteRows(path_.string(), "id = 3", &pool_, cancel_).ok());
  Transaction stale;
  stale.read_version = 1;
  stale.operation = proto::DeleteOperation{{}, {0}, "all"};
  const auto refused = Commit(root_, stale);
  EXPECT_EQ(base::CodeOf(refused.status()), base::ErrorCode::kConflict);
  EXPECT_THAT(refused.status().message(), HasSubstr("version 2 changed fragment 0"));
  EXPECT_EQ(Newest(), 2u);
  EXPECT_EQ(Files("_transactions"), 2u);
  // Made again from the newest version it goes through.
  int made = 0;
  const auto again = CommitAgain(root_, [&](const TableVersion& latest) {
    if (made++ == 0) {
      EXPECT_TRUE(DeleteRows(path_.string(), "id = 4", &pool_, cancel_).ok());
    }
    Transaction transaction;
    transaction.operation =
        proto::DeleteOperation{{}, {latest.messages.manifest.fragments[0].id}, "all"};
    return arrow::Result<std::optional<Transaction>>(transaction);
  });
  EXPECT_EQ(*again, 4u);
  EXPECT_EQ(made, 2);
  EXPECT_TRUE(Ids().empty());
}

TEST_F(CommitTest, NobodyLosesARow) {
  ASSERT_TRUE(Write(WriteMode::kCreate, 0, 1).ok());
  constexpr int kWriters = 4;
  constexpr int kRounds = 10;
  std::vector<std::thread> writers;
  std::atomic<int> failures{0};
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kRounds; ++i) {
        if (!Write(WriteMode::kAppend, 1 + writer * kRounds + i, 1).ok()) ++failures;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  const std::vector<int64_t> ids = Ids();
  EXPECT_EQ(ids.size(), 1u + kWriters * kRounds);
  EXPECT_EQ(std::set<int64_t>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_EQ(Newest(), 1u + kWriters * kRounds);
}

TEST_F(CommitTest, CleanupKeepsWhatIsNeeded) {
  ASSERT_TRUE(Write(WriteMode::kCreate, 0, 2).ok());
  ASSERT_TRUE(Write(WriteMode::kOverwrite, 10, 2).ok());
  ASSERT_TRUE(Write(WriteMode::kOverwrite, 20, 2).ok());
  ASSERT_TRUE(CreateTag(path_.string(), "kept", 1).ok());
  EXPECT_EQ(base::CodeOf(CreateTag(path_.string(), "kept", 1)), base::ErrorCode::kConflict);
  EXPECT_EQ(CleanUp(path_.string(), {})->versions, 0u);
  KINJO_ASSERT_RESULT(report, CleanUp(path_.string(), {.older_than_s = 0}));
  EXPECT_EQ(report.versions, 1u);
  EXPECT_EQ(report.files, 3u);  // manifest, data file, transaction
  EXPECT_THAT(Ids({.tag = "kept"}), ElementsAre(0, 1));
  EXPECT_THAT(Ids(), ElementsAre(20, 21));
  std::ofstream(path_ / "data" / "left.lance") << "x";
  ASSERT_TRUE(CleanUp(path_.string(), {.older_than_s = 0}).ok());
  EXPECT_EQ(Files("data"), 3u);
  ASSERT_TRUE(CleanUp(path_.string(), {.older_than_s = 0, .orphans_older_than_s = 0}).ok());
  EXPECT_EQ(Files("data"), 2u);
}

TEST_F(CommitTest, WhatIsNotKnownStays) {
  ASSERT_TRUE(Write(WriteMode::kCreate, 0, 2).ok());
  TableVersion first = ReadTableVersion(root_).ValueOrDie();
  const std::string strange = proto::WireWriter().Number(99, 5).text();
  first.messages.manifest.fragments[0].unread = strange;
  first.messages.manifest.unread = strange;
  const std::string file = format::EncodeManifestFile(
      &first.messages, proto::EncodeTransaction(*first.transaction).text());
  ASSERT_TRUE(io::ReplaceFile(io::Child(root_, "_versions/" + first.name.FileName()), file).ok());
  ASSERT_TRUE(Write(WriteMode::kAppend, 5, 1).ok());
  const TableVersion latest = ReadTableVersion(root_).ValueOrDie();
  EXPECT_EQ(latest.messages.manifest.fragments[0].unread, strange);
  EXPECT_EQ(latest.messages.manifest.unread, strange);
}

}  // namespace
}  // namespace kinjo::dataset
