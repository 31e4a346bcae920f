#include "tabular/table_sink.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arrow/array.h"
#include "arrow/array/builder_primitive.h"
#include "arrow/io/file.h"
#include "arrow/io/memory.h"
#include "arrow/ipc/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

using base::CodeOf;
using base::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

const std::vector<std::string> kEndings = {"parquet", "arrow", "csv", "jsonl", "table"};

// Rows that no compression makes small.
std::shared_ptr<arrow::RecordBatch> NoisyRows(int64_t rows) {
  arrow::FloatBuilder builder;
  uint32_t state = 1;
  for (int64_t i = 0; i < rows; ++i) {
    state = state * 1664525 + 1013904223;
    EXPECT_TRUE(builder.Append(static_cast<float>(state)).ok());
  }
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("x", arrow::float32())}), rows,
                                  {builder.Finish().ValueOrDie()});
}

SinkOptions FormatOf(const std::string& ending) { return {.format = ending}; }

TEST(TableSink, NothingIsAtThePathBeforeFinish) {
  TemporaryFolder folder;
  const auto batch = VectorRows(0, 10);
  for (const std::string& ending : kEndings) {
    const std::string path = folder.Path("out." + ending);
    auto sink = OpenSink(path, batch->schema(), FormatOf(ending)).ValueOrDie();
    ASSERT_TRUE(sink->Write(*batch).ok());
    EXPECT_FALSE(fs::exists(path));
    EXPECT_EQ(folder.Names().size(), 1u);  // the hidden part, in the same folder
    EXPECT_EQ(folder.Names()[0][0], '.');
    ASSERT_TRUE(sink->Finish().ok());
    EXPECT_EQ(sink->rows_written(), 10);
    EXPECT_THAT(folder.Names(), ElementsAre("out." + ending));
    fs::remove(path);
  }
}

TEST(TableSink, AbortAndDestructorRemoveEverything) {
  TemporaryFolder folder;
  const auto batch = VectorRows(0, 10);
  for (const std::string& ending : kEndings) {
    for (const bool aborts : {true, false}) {
      auto sink = OpenSink(folder.Path("out." + ending), batch->schema(), FormatOf(ending));
      ASSERT_TRUE((*sink)->Write(*batch).ok());
      if (aborts) {
        (*sink)->Abort();
        (*sink)->Abort();
        EXPECT_EQ(CodeOf((*sink)->Write(*batch)), ErrorCode::kState);
        EXPECT_EQ(CodeOf((*sink)->Finish()), ErrorCode::kState);
      }
      sink->reset();
      EXPECT_THAT(folder.Names(), IsEmpty()) << ending;
    }
  }
}

TEST(TableSink, AbortKeepsWhatWasThereBefore) {
  TemporaryFolder folder;
  const std::string path = folder.Write("out.csv", "old");
  const auto batch = VectorRows(0, 10);
  auto sink = OpenSink(path, batch->schema()).ValueOrDie();
  ASSERT_TRUE(sink->Write(*batch).ok());
  sink->Abort();
  EXPECT_EQ(Slurp(path), "old");
  EXPECT_THAT(folder.Names(), ElementsAre("out.csv"));
}

TEST(TableSink, OverwriteOffRefuses) {
  TemporaryFolder folder;
  const std::string path = folder.Write("out.csv", "old");
  const auto schema = VectorRows(0, 1)->schema();
  const auto status = OpenSink(path, schema, {.overwrite = false}).status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("out.csv"));
  // Also when the file only came up meanwhile.
  auto sink = OpenSink(folder.Path("new.csv"), schema, {.overwrite = false}).ValueOrDie();
  folder.Write("new.csv", "somebody else's");
  EXPECT_EQ(CodeOf(sink->Finish()), ErrorCode::kIo);
  EXPECT_EQ(Slurp(folder.Path("new.csv")), "somebody else's");
  EXPECT_THAT(folder.Names(), ElementsAre("new.csv", "out.csv"));
}

TEST(TableSink, KeepsModeAndFollowsLinks) {
  TemporaryFolder folder;
  const auto batch = VectorRows(0, 3);
  const std::string path = folder.Write("real.csv", "old");
  chmod(path.c_str(), 0640);
  fs::create_symlink("real.csv", folder.Path("link.csv"));
  ASSERT_TRUE(WriteAll(folder.Path("link.csv"), {batch}).ok());
  EXPECT_TRUE(fs::is_symlink(folder.Path("link.csv")));
  EXPECT_THAT(Slurp(path), HasSubstr("id,name"));
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_THAT(folder.Names(), ElementsAre("link.csv", "real.csv"));
}

TEST(TableSink, PathsThatCantBeWrittenAreRefusedAtOnce) {
  TemporaryFolder folder;
  const auto schema = VectorRows(0, 1)->schema();
  fs::create_directory(folder.Path("dir.csv"));
  folder.Write("file", "");
  const auto expect = [&](const std::string& name, ErrorCode code, const std::string& word) {
    const auto status = OpenSink(folder.path() + "/" + name, schema, {.format = "csv"}).status();
    EXPECT_EQ(CodeOf(status), code) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(name));
    EXPECT_THAT(status.message(), HasSubstr(word));
    EXPECT_EQ(CheckSinkPlace(folder.path() + "/" + name, {.format = "csv"}), status);
  };
  EXPECT_TRUE(CheckSinkPlace(folder.Path("new.csv"), {}).ok());
  EXPECT_TRUE(CheckSinkPlace(folder.Path("file"), {.format = "csv"}).ok());
  expect("dir.csv", ErrorCode::kInvalid, "is a folder");
  expect("new/", ErrorCode::kInvalid, "names a folder");
  expect("absent/out.csv", ErrorCode::kIo, "there is no folder " + folder.path() + "/absent");
  expect("file/out.csv", ErrorCode::kIo, "file is not a folder");
  EXPECT_THAT(folder.Names(), ElementsAre("dir.csv", "file"));
  EXPECT_EQ(CodeOf(OpenSink("", schema, {.format = "csv"}).status()), ErrorCode::kInvalid);
  // /proc lets nobody make files, root neither.
  const auto closed = OpenSink("/proc/out.csv", schema).status();
  EXPECT_EQ(CodeOf(closed), ErrorCode::kIo);
  EXPECT_THAT(closed.message(), HasSubstr("can't write /proc/out.csv"));
}

TEST(TableSink, OptionsAreChecked) {
  TemporaryFolder folder;
  const auto schema = VectorRows(0, 1)->schema();
  const auto expect = [&](const std::string& name, const SinkOptions& options, ErrorCode code,
                          const std::string& word) {
    const auto status = OpenSink(name == "-" ? name : folder.Path(name), schema, options).status();
    EXPECT_EQ(CodeOf(status), code) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(word));
  };
  expect("a.parquet", {.compression = "zip"}, ErrorCode::kInvalid, "compression is \"zip\"");
  expect("a.arrow", {.compression = "snappy"}, ErrorCode::kInvalid, "none, zstd and lz4");
  expect("a.csv", {.compression = "zstd"}, ErrorCode::kInvalid, "compression is \"zstd\"");
  expect("a.parquet", {.row_group_rows = 0}, ErrorCode::kInvalid, "row_group_rows is 0");
  expect("a.csv", {.format = "excel"}, ErrorCode::kInvalid, "format is \"excel\"");
  expect("a.xyz", {}, ErrorCode::kInvalid, "can't tell the format");
  expect("a.npy", {}, ErrorCode::kNotSupported, "npy");
  expect("a.lance", {.compression = "zstd"}, ErrorCode::kInvalid, "compression is \"zstd\"");
  expect("-", {.format = "lance"}, ErrorCode::kInvalid, "name a folder");
  expect("-", {.format = "parquet"}, ErrorCode::kInvalid, "standard output");
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(TableSink, ColumnsThatAFormatCantHoldAreRefusedAtOnce) {
  TemporaryFolder folder;
  const auto schema = arrow::schema({arrow::field("wait", arrow::month_interval())});
  for (const std::string ending : {"parquet", "csv", "jsonl", "table"}) {
    const auto status = OpenSink(folder.Path("a." + ending), schema, FormatOf(ending)).status();
    EXPECT_EQ(CodeOf(status), ErrorCode::kNotSupported) << status.ToString();
  }
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(TableSink, ABatchOfAnotherSchemaIsOurBug) {
  TemporaryFolder folder;
  auto sink = OpenSink(folder.Path("a.csv"), VectorRows(0, 1)->schema()).ValueOrDie();
  EXPECT_EQ(CodeOf(sink->Write(*NoisyRows(1))), ErrorCode::kInternal);
}

// What a file-size limit does is what a full disk does: write() fails in mid-file.
TEST(TableSink, AFullDiskLeavesNothingAndNamesThePath) {
  TemporaryFolder folder;
  const auto batch = NoisyRows(200000);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const std::string& ending : kEndings) {
    const std::string path = folder.Write("out." + ending, "old");
    for (const rlim_t limit : {rlim_t{0}, rlim_t{5000}, rlim_t{300000}}) {
      auto sink = OpenSink(path, batch->schema(), FormatOf(ending)).ValueOrDie();
      rlimit small = before;
      small.rlim_cur = limit;
      ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
      arrow::Status status = sink->Write(*batch);
      if (status.ok()) status = sink->Finish();
      setrlimit(RLIMIT_FSIZE, &before);
      EXPECT_EQ(CodeOf(status), ErrorCode::kIo) << ending << " " << status.ToString();
      EXPECT_THAT(status.message(), HasSubstr("can't write " + path + ": File too large"));
      EXPECT_EQ(CodeOf(sink->Finish()), ErrorCode::kState);
      EXPECT_THAT(folder.Names(), ElementsAre("out." + ending));
      EXPECT_EQ(Slurp(path), "old");
    }
    fs::remove(path);
  }
  std::signal(SIGXFSZ, old_handler);
}

TEST(TableSink, DevicesAreWrittenAsTheyAre) {
  const auto batch = NoisyRows(200000);
  EXPECT_TRUE(WriteAll("/dev/null", {batch}, {.format = "csv"}).ok());
  const auto status = WriteAll("/dev/full", {batch}, {.format = "csv"});
  EXPECT_EQ(CodeOf(status), ErrorCode::kIo);
  EXPECT_THAT(status.message(), HasSubstr("can't write /dev/full: No space left on device"));
  const auto at_finish = WriteAll("/dev/full", {NoisyRows(1)}, {.format = "csv"});
  EXPECT_EQ(CodeOf(at_finish), ErrorCode::kIo);
  struct stat info{};
  ASSERT_EQ(stat("/dev/full", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

// Runs `write` with standard output going to a file, and gives that file's bytes.
template <typename Write>
std::string CaptureOutput(const Write& write) {
  TemporaryFolder folder;
  const std::string path = folder.Path("captured");
  fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(file, STDOUT_FILENO);
  close(file);
  const arrow::Status status = write();
  dup2(saved, STDOUT_FILENO);
  close(saved);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return Slurp(path);
}

TEST(TableSink, StandardOutput) {
  const auto batch = VectorRows(1, 2);
  const auto write = [&](const std::string& format) {
    return CaptureOutput([&] { return WriteAll("-", {batch}, {.format = format}); });
  };
  EXPECT_EQ(write("csv"),
            "id,name,v,d\n1,row 1,\"[1.5, -1, 0.1]\",\"[1.25, 1e-09]\"\n"
            "2,row 2,\"[2.5, -2, 0.1]\",\"[2.25, 1e-09]\"\n");
  EXPECT_EQ(write("jsonl"),
            "{\"id\":1,\"name\":\"row 1\",\"v\":[1.5,-1,0.1],\"d\":[1.25,1e-09]}\n"
            "{\"id\":2,\"name\":\"row 2\",\"v\":[2.5,-2,0.1],\"d\":[2.25,1e-09]}\n");
  EXPECT_EQ(write(""),
            "id  name   v               d\n"
            "──  ─────  ──────────────  ─────────────\n"
            " 1  row 1  [1.5, -1, … 3]  [1.25, 1e-09]\n"
            " 2  row 2  [2.5, -2, … 3]  [2.25, 1e-09]\n"
            "2 rows\n");
  // The stream format, which needs no end to begin with.
  const std::string bytes = write("arrow");
  auto input = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  auto reader = arrow::ipc::RecordBatchStreamReader::Open(input).ValueOrDie();
  EXPECT_EQ("", Difference(*reader->ToTable().ValueOrDie()->CombineChunks().ValueOrDie(),
                           *ToTable({batch})));
}

}  // namespace
}  // namespace kinjo::tabular
