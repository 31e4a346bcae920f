// A join into a folder of parts: the same files whether it was interrupted or not, nothing done
// twice, and refusals that say what differs.
#include "join/write_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "arrow/util/iterator.h"
#include "join/brute_force.h"
#include "join/journal.h"
#include "join/memory_sides.h"
#include "tabular/part_folder.h"
#include "tabular/table_samples.h"

namespace kinjo::join {
namespace {

using base::ErrorCode;
using tabular::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

std::string Slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteTable(const std::string& path, const std::shared_ptr<arrow::RecordBatch>& batch) {
  auto sink = tabular::OpenSink(path, batch->schema()).ValueOrDie();
  ASSERT_TRUE(sink->Write(*batch).ok());
  ASSERT_TRUE(sink->Finish().ok());
}

/// A table that raises the cancel flag when a batch of it is read.
class StoppingTable final : public tabular::TableSource {
 public:
  StoppingTable(std::shared_ptr<tabular::TableSource> table, int64_t stop, base::CancelToken cancel)
      : table_(std::move(table)), stop_(stop), cancel_(std::move(cancel)) {}

  const std::string& uri() const override { return table_->uri(); }
  const std::string& format() const override { return table_->format(); }
  std::shared_ptr<arrow::Schema> schema() const override { return table_->schema(); }
  std::optional<int64_t> num_rows() const override { return table_->num_rows(); }
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    ARROW_ASSIGN_OR_RAISE(auto reader, table_->Read(columns));
    const auto schema = reader->schema();
    auto batches = arrow::MakeFunctionIterator(
        [this, reader,
         count = int64_t{0}]() mutable -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
          if (count++ == stop_) cancel_.Cancel();
          return reader->Next();
        });
    return arrow::RecordBatchReader::MakeFromIterator(std::move(batches), schema);
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals) override {
    return table_->Take(columns, ordinals);
  }
  arrow::Result<std::vector<tabular::Trait>> Identity() const override {
    return table_->Identity();
  }

 private:
  std::shared_ptr<tabular::TableSource> table_;
  const int64_t stop_;
  const base::CancelToken cancel_;
};

/// Both sides as files, and joins of them into folders beside.
class Parts : public ::testing::Test {
 protected:
  static constexpr int64_t kLeftRows = 230;

  void SetUp() override {
    SetLeft(kLeftRows);
    const Vectors right = FloatVectors(300, 4, 2);
    WriteTable(right_, MakeVectorBatch("id", "v", right, arrow::float32(), 4));
    options_.k = 3;
    options_.on = "v";
    options_.threads = 1;
    options_.memory_limit_bytes = int64_t{1} << 28;
    options_.with_query_index = true;
    parts_.part_rows = 50;
  }

  void SetLeft(int64_t rows) {
    Vectors left = FloatVectors(std::max<int64_t>(rows, 1), 4, 1);
    left.resize(static_cast<size_t>(rows));
    for (size_t row = 60; row < std::min<size_t>(left.size(), 120); ++row) left[row] = {};
    WriteTable(left_, MakeVectorBatch("q", "v", left, arrow::float32(), 4));
  }

  arrow::Status Run(const std::string& name, base::ProgressCallback progress = {},
                    const base::CancelToken& cancel = {}) {
    ARROW_ASSIGN_OR_RAISE(const auto left, tabular::OpenTable(left_));
    ARROW_ASSIGN_OR_RAISE(join_, KnnJoin::Make(left, right_, options_));
    return WriteParts(join_.get(), folder_.path() + "/" + name, parts_, cancel, std::move(progress),
                      &outcome_);
  }

  ErrorCode Refused(const std::string& name, const std::string& words) {
    const arrow::Status status = Run(name);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr(words));
    return base::CodeOf(status);
  }

  /// Everything in a folder, by name.
  std::map<std::string, std::string> Files(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_.path() + "/" + name)) {
      files[entry.path().filename().string()] = Slurp(entry.path());
    }
    return files;
  }

  TemporaryFolder folder_;
  const std::string left_ = folder_.Path("left.parquet");
  const std::string right_ = folder_.Path("right.parquet");
  JoinOptions options_;
  PartsOptions parts_;
  std::unique_ptr<KnnJoin> join_;
  PartsOutcome outcome_;
};

TEST_F(Parts, HoldTheRowsOfTheJoinInOrder) {
  ASSERT_TRUE(Run("out").ok());
  EXPECT_TRUE(outcome_.finished);
  EXPECT_EQ(outcome_.parts, 5);
  EXPECT_EQ(outcome_.parts_before, 0);
  EXPECT_EQ(outcome_.left_rows, kLeftRows);
  EXPECT_EQ(outcome_.rows, (kLeftRows - 60) * 3);
  const auto read = [](const std::string& uri) {
    const auto table = tabular::OpenTable(uri).ValueOrDie();
    const auto rows = table->Read(std::nullopt).ValueOrDie()->ToTable().ValueOrDie();
    return rows->CombineChunks().ValueOrDie();
  };
  const auto rows = read(folder_.path() + "/out");  // the journal is passed over
  const auto left = tabular::OpenTable(left_).ValueOrDie();
  auto whole = KnnJoin::Make(left, right_, options_).ValueOrDie();
  const auto stream = whole->Run({}, {}).ValueOrDie();
  arrow::RecordBatchVector batches;
  while (auto batch = stream->Next().ValueOrDie()) batches.push_back(batch);
  const auto want = arrow::Table::FromRecordBatches(batches).ValueOrDie();
  EXPECT_TRUE(rows->Equals(*want->CombineChunks().ValueOrDie(), /*check_metadata=*/false));
  const auto part = read(folder_.path() + "/out/part-00001.parquet");  // 40 of its rows are null
  EXPECT_EQ(part->num_rows(), 10 * 3);
}

TEST_F(Parts, AFinishedFolderIsLeftAlone) {
  ASSERT_TRUE(Run("out").ok());
  const auto before = Files("out");
  const auto time = fs::last_write_time(folder_.path() + "/out/_kinjo.journal");
  const auto all_done = [](const base::Progress& progress) {
    EXPECT_EQ(progress.done_rows, kLeftRows);
  };
  ASSERT_TRUE(Run("out", all_done).ok());
  EXPECT_TRUE(outcome_.finished);
  EXPECT_EQ(outcome_.parts_before, 5);
  EXPECT_EQ(outcome_.left_rows, kLeftRows);
  EXPECT_EQ(Files("out"), before);
  EXPECT_EQ(fs::last_write_time(folder_.path() + "/out/_kinjo.journal"), time);
  EXPECT_EQ(join_->report().left_rows, 0);
}

TEST_F(Parts, ACancelledRunGoesOnWhereItEnded) {
  for (const std::string format : {"parquet", "arrow", "csv", "jsonl"}) {
    parts_.sink.format = format;
    ASSERT_TRUE(Run("whole-" + format).ok());
    const auto whole = Files("whole-" + format);
    for (int64_t stop = 0; stop < kLeftRows / 10; stop += 5) {
      const std::string name = base::Concat("out-", format, stop);
      const base::CancelToken cancel;
      const auto left = tabular::OpenTable(left_, {.batch_rows = 10}).ValueOrDie();
      auto join =
          KnnJoin::Make(std::make_shared<StoppingTable>(left, stop, cancel), right_, options_)
              .ValueOrDie();
      const auto status =
          WriteParts(join.get(), folder_.path() + "/" + name, parts_, cancel, {}, &outcome_);
      EXPECT_EQ(base::CodeOf(status), ErrorCode::kCancelled) << stop << status;
      EXPECT_LE(outcome_.parts, stop * 10 / 50);
      EXPECT_FALSE(outcome_.finished);
      const auto kept = Files(name);  // whole parts and the journal, nothing half-written
      EXPECT_EQ(static_cast<int64_t>(kept.size()), outcome_.parts + 1);
      for (int64_t part = 0; part < outcome_.parts; ++part) {
        EXPECT_EQ(kept.at(PartName(part, format)), whole.at(PartName(part, format)));
      }
      const int64_t parts = outcome_.parts;
      options_.block_rows = stop % 2 == 0 ? std::optional<int64_t>(7) : std::nullopt;
      ASSERT_TRUE(Run(name).ok());
      EXPECT_EQ(outcome_.parts_before, parts);
      EXPECT_EQ(Files(name), whole) << stop;
      options_.block_rows.reset();
    }
  }
}

TEST_F(Parts, AJournalCutAnywhereGivesTheSameFiles) {
  ASSERT_TRUE(Run("out").ok());
  const auto whole = Files("out");
  const std::string journal = whole.at("_kinjo.journal");
  const size_t header = journal.find('\n') + 1;
  for (size_t bytes = header; bytes < journal.size(); bytes += 13) {
    // What a crash leaves: the parts that are told of, perhaps one more, and half-written files.
    const Journal told = ReadJournal(journal.substr(0, bytes), "journal").ValueOrDie();
    const auto parts = static_cast<int64_t>(told.parts.size());
    for (int64_t part = parts + static_cast<int64_t>(bytes % 2); part < 5; ++part) {
      fs::remove(folder_.path() + "/out/" + PartName(part, "parquet"));
    }
    folder_.Write("out/_kinjo.journal", journal.substr(0, bytes));
    folder_.Write("out/.kinjo-1-2.part", "half");
    const bool other = bytes % 3 == 0;  // limits and threads may change
    options_.threads = other ? 2 : 1;
    options_.block_rows = other ? std::optional<int64_t>(11) : std::nullopt;
    ASSERT_TRUE(Run("out").ok()) << bytes;
    EXPECT_EQ(outcome_.parts_before, parts);
    EXPECT_EQ(join_->report().resumed_rows, std::min(parts * 50, kLeftRows));
    EXPECT_EQ(join_->report().left_rows, kLeftRows - std::min(parts * 50, kLeftRows));
    EXPECT_EQ(Files("out"), whole) << bytes;
  }
}

TEST_F(Parts, AnyCutOfTheHeaderBeginsAnew) {
  ASSERT_TRUE(Run("whole").ok());
  const auto whole = Files("whole");
  const std::string journal = whole.at("_kinjo.journal");
  for (size_t bytes = 0; bytes <= journal.find('\n'); bytes += 101) {
    fs::remove_all(folder_.path() + "/out");
    folder_.Write("out/_kinjo.journal", journal.substr(0, bytes));
    ASSERT_TRUE(Run("out").ok());
    EXPECT_EQ(Files("out"), whole);
  }
}

TEST_F(Parts, NoRowsAndWholePartsOnly) {
  SetLeft(0);
  ASSERT_TRUE(Run("none").ok());
  EXPECT_EQ(outcome_.parts, 1);  // so that readers find the columns
  EXPECT_EQ(outcome_.left_rows, 0);
  EXPECT_TRUE(outcome_.finished);
  SetLeft(100);
  ASSERT_TRUE(Run("two").ok());
  EXPECT_EQ(outcome_.parts, 2);
  EXPECT_EQ(outcome_.left_rows, 100);
  // Killed before it told that it was finished.
  const auto whole = Files("two");
  std::string journal = whole.at("_kinjo.journal");
  journal.resize(journal.find("{\"finished\""));
  folder_.Write("two/_kinjo.journal", journal);
  ASSERT_TRUE(Run("two").ok());
  EXPECT_EQ(outcome_.parts_before, 2);
  EXPECT_EQ(Files("two"), whole);
}

TEST_F(Parts, AnotherRunIsRefusedWithWhatDiffers) {
  ASSERT_TRUE(Run("out").ok());
  const auto before = Files("out");
  const JoinOptions options = options_;
  const auto expect = [&](const std::string& words) {
    EXPECT_EQ(Refused("out", words), ErrorCode::kInvalid);
    EXPECT_EQ(outcome_.parts, 0);
    options_ = options;
    EXPECT_EQ(Files("out"), before);
  };
  options_.k = 4;
  expect("are of another run: k was 3 and is 4; give what it was begun with");
  options_.where = "id < 9";
  options_.how = How::kLeft;
  expect("how was inner and is left, where was \"\" and is id < 9");
  options_.distance_range = std::pair(0.5F, 2.0F);
  expect("distance_range was not given and is [0.5, 2)");
  parts_.part_rows = 51;
  expect("part_rows was 50 and is 51");
  parts_.part_rows.reset();  // as it was begun
  ASSERT_TRUE(Run("out").ok());
  parts_.sink.format = "csv";
  expect("format was parquet and is csv");
  parts_.sink.format = "";
  options_.threads = 2;  // changes nothing
  options_.block_rows = 9;
  options_.memory_limit_bytes = int64_t{1} << 27;
  ASSERT_TRUE(Run("out").ok());
  SetLeft(kLeftRows + 1);
  expect("left rows was 230 and is 231");
}

TEST_F(Parts, SidesThatChangedAreRefused) {
  ASSERT_TRUE(Run("out").ok());
  fs::last_write_time(left_, fs::last_write_time(left_) + std::chrono::seconds(5));
  EXPECT_EQ(Refused("out", "left modified was 20"), ErrorCode::kInvalid);
  fs::last_write_time(left_, fs::last_write_time(left_) - std::chrono::seconds(5));
  ASSERT_TRUE(Run("out").ok());
  fs::last_write_time(right_, fs::last_write_time(right_) + std::chrono::seconds(5));
  EXPECT_EQ(Refused("out", "right modified was 20"), ErrorCode::kInvalid);
}

TEST_F(Parts, ARunWithoutAFinishedPartMayBeginAnew) {
  options_.k = 3;
  folder_.Write("out/_kinjo.journal",
                HeaderLine({.part_rows = 1, .format = "csv", .run = {{"k", "99"}}}));
  ASSERT_TRUE(Run("out").ok());
  EXPECT_EQ(outcome_.parts, 5);
}

TEST_F(Parts, AFolderThatIsNotOursIsRefused) {
  folder_.Write("foreign/readme.txt", "");
  EXPECT_EQ(Refused("foreign", "holds readme.txt and no journal"), ErrorCode::kInvalid);
  EXPECT_THAT(TemporaryFolder().Names(), ElementsAre());
  folder_.Write("file", "");
  EXPECT_EQ(Refused("file", "it is a file; name a folder"), ErrorCode::kInvalid);
  EXPECT_EQ(Refused("absent/out", "there is no folder"), ErrorCode::kIo);
  ASSERT_TRUE(Run("out").ok());
  folder_.Write("out/more.parquet", "");
  EXPECT_EQ(Refused("out", "holds more.parquet, which its journal doesn't tell of"),
            ErrorCode::kInvalid);
  fs::remove(folder_.path() + "/out/more.parquet");
  folder_.Write("out/part-00002.parquet", "shorter");
  EXPECT_EQ(Refused("out", "part-00002.parquet in "), ErrorCode::kInvalid);
  fs::remove(folder_.path() + "/out/part-00002.parquet");
  EXPECT_EQ(Refused("out", "has no part-00002.parquet any more"), ErrorCode::kInvalid);
}

TEST_F(Parts, OneProcessAtATime) {
  const auto held = tabular::PartFolder::Open(folder_.path() + "/out").ValueOrDie();
  EXPECT_EQ(Refused("out", "another process is writing parts"), ErrorCode::kConflict);
}

TEST_F(Parts, ALeftSideThatIsReadOnceIsRefusedBeforeAFolderIsMade) {
  const auto batch = MakeVectorBatch("q", "v", FloatVectors(5, 4, 1), arrow::float32(), 4);
  const auto reader = arrow::RecordBatchReader::Make({batch}, batch->schema()).ValueOrDie();
  auto join = KnnJoin::Make(tabular::MakeStreamSource(reader, "a DataFrame"), right_, options_)
                  .ValueOrDie();
  const std::string path = folder_.path() + "/out";
  const auto status = WriteParts(join.get(), path, parts_, {}, {}, &outcome_);
  EXPECT_EQ(base::CodeOf(status), ErrorCode::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("a DataFrame is a stream"));
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Parts, OptionsAreJudged) {
  const auto expect = [&](const std::string& folder, const PartsOptions& options,
                          const std::string& words) {
    const auto status = CheckPartsOptions(folder, options);
    EXPECT_EQ(base::CodeOf(status), ErrorCode::kInvalid) << status;
    EXPECT_THAT(status.message(), HasSubstr(words));
  };
  expect("-", {}, "standard output");
  expect("", {}, "not given");
  expect("out", {.part_rows = 0}, "part_rows must be from 1 to 2147483647, but is 0");
  expect("out", {.sink = {.format = "table"}}, "format is \"table\"");
  expect("out", {.sink = {.compression = "zip"}}, "compression is \"zip\"");
  EXPECT_TRUE(CheckPartsOptions("out.parquet", {}).ok());
}

TEST_F(Parts, ProgressBeginsAndEndsAndCountsEarlierRuns) {
  ASSERT_TRUE(Run("out").ok());
  std::string journal = Files("out").at("_kinjo.journal");
  journal.resize(journal.find("{\"part\":3"));
  folder_.Write("out/_kinjo.journal", journal);
  fs::remove(folder_.path() + "/out/part-00004.parquet");
  std::vector<base::Progress> told;
  ASSERT_TRUE(Run("out", [&](const base::Progress& progress) { told.push_back(progress); }).ok());
  ASSERT_GE(told.size(), 2u);
  EXPECT_EQ(told.front().done_rows, 150);
  EXPECT_EQ(told.front().total_rows, kLeftRows);
  EXPECT_EQ(told.front().remaining_s, -1);
  EXPECT_EQ(told.back().done_rows, kLeftRows);
  EXPECT_EQ(told.back().remaining_s, 0);
  // The rate is this run's: 80 rows, not 230.
  EXPECT_NEAR(told.back().rows_per_s * told.back().elapsed_s, 80, 1e-6);
}

}  // namespace
}  // namespace kinjo::join
