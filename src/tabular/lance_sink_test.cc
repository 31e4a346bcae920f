#include "tabular/lance_sink.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/table_samples.h"
#include "tabular/table_source.h"

namespace kinjo::tabular {
namespace {

using base::CodeOf;
using base::ErrorCode;
using testing::HasSubstr;
using testing::IsEmpty;

int64_t RowsAt(const std::string& path) {
  return OpenTable(path).ValueOrDie()->num_rows().value_or(-1);
}

TEST(LanceSink, NothingIsThereBeforeFinish) {
  TemporaryFolder folder;
  const auto rows = VectorRows(0, 10);
  const std::string path = folder.Path("a.lance");
  {
    const auto sink = OpenSink(path, rows->schema()).ValueOrDie();
    ASSERT_TRUE(sink->Write(*rows).ok());
    EXPECT_FALSE(OpenTable(path).ok());
    ASSERT_TRUE(sink->Write(*rows).ok());
    ASSERT_TRUE(sink->Finish().ok());
    EXPECT_EQ(sink->rows_written(), 20);
    EXPECT_EQ(CodeOf(sink->Finish()), ErrorCode::kState);
    EXPECT_EQ(CodeOf(sink->Write(*rows)), ErrorCode::kState);
  }
  EXPECT_EQ(RowsAt(path), 20);
}

TEST(LanceSink, WhatIsAbortedLeavesNoFile) {
  TemporaryFolder folder;
  const auto rows = VectorRows(0, 10);
  const std::string path = folder.Path("a.lance");
  {
    const auto sink = OpenSink(path, rows->schema()).ValueOrDie();
    ASSERT_TRUE(sink->Write(*rows).ok());
    sink->Abort();
    EXPECT_EQ(CodeOf(sink->Finish()), ErrorCode::kState);
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
  }
}

TEST(LanceSink, OverwritesAsTheNextVersion) {
  TemporaryFolder folder;
  const std::string path = folder.Path("a.lance");
  for (const int64_t count : {10, 3}) {
    const auto rows = VectorRows(0, count);
    const auto sink = OpenSink(path, rows->schema()).ValueOrDie();
    ASSERT_TRUE(sink->Write(*rows).ok());
    ASSERT_TRUE(sink->Finish().ok());
    EXPECT_EQ(RowsAt(path), count);
  }
  SourceOptions first;
  first.lance_version = 1;
  EXPECT_EQ(OpenTable(path, first).ValueOrDie()->num_rows().value_or(-1), 10);
  const auto schema = VectorRows(0, 1)->schema();
  const SinkOptions keep{.overwrite = false};
  EXPECT_EQ(CodeOf(OpenSink(path, schema, keep).status()), ErrorCode::kConflict);
  EXPECT_EQ(CodeOf(CheckSinkPlace(path, keep)), ErrorCode::kConflict);
  EXPECT_TRUE(CheckSinkPlace(path, {}).ok());
}

TEST(LanceSink, RefusesNamesThatLanceMakesUp) {
  TemporaryFolder folder;
  const auto schema = arrow::schema({arrow::field("_rowid", arrow::uint64())});
  const auto status = OpenSink(folder.Path("a.lance"), schema).status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("_rowid"));
  EXPECT_THAT(folder.Names(), IsEmpty());
}

}  // namespace
}  // namespace kinjo::tabular
