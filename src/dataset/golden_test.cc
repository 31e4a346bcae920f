// The dataset room against the golden datasets: what pylance scanned is what we scan and take.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "arrow/array.h"
#include "arrow/array/concatenate.h"
#include "arrow/array/util.h"
#include "arrow/compare.h"
#include "arrow/io/file.h"
#include "arrow/ipc/reader.h"
#include "arrow/table.h"
#include "base/thread_pool.h"
#include "dataset/dataset.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Golden(const std::string& name) { return std::string(KINJO_GOLDEN_DIR) + "/" + name; }

/// A dataset's name as the name of a test may be.
std::string TestName(std::string name) {
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
  return name;
}

std::shared_ptr<Dataset> OpenGolden(const std::string& name, const OpenOptions& options = {}) {
  return Dataset::Open(Golden(name + ".lance"), options).ValueOrDie();
}

/// All rows that pylance scanned, one array a column.
std::shared_ptr<arrow::RecordBatch> ExpectedRows(const std::string& name) {
  auto file = arrow::io::ReadableFile::Open(Golden(name + ".rows.arrow")).ValueOrDie();
  auto reader = arrow::ipc::RecordBatchFileReader::Open(file).ValueOrDie();
  EXPECT_EQ(reader->num_record_batches(), 1);
  return reader->ReadRecordBatch(0).ValueOrDie();
}

std::vector<uint64_t> Values(const arrow::Array& array) {
  const auto& typed = static_cast<const arrow::UInt64Array&>(array);
  return {typed.raw_values(), typed.raw_values() + typed.length()};
}

struct Scanned {
  arrow::ArrayVector columns;
  std::vector<RowAddress> addresses;
};

Scanned ScanAll(Dataset* dataset, ScanOptions options) {
  Scanned result;
  auto scan = dataset->MakeScan(options).ValueOrDie();
  std::vector<arrow::ArrayVector> pieces(options.columns.size());
  while (true) {
    const ScanBatch next = scan->Next().ValueOrDie();
    if (next.batch == nullptr) break;
    EXPECT_EQ(static_cast<size_t>(next.batch->num_rows()), next.addresses.size());
    EXPECT_LE(next.batch->num_rows(), options.batch_rows);
    EXPECT_TRUE(next.batch->ValidateFull().ok());
    for (size_t i = 0; i < pieces.size(); ++i) {
      pieces[i].push_back(next.batch->column(static_cast<int>(i)));
    }
    result.addresses.insert(result.addresses.end(), next.addresses.begin(), next.addresses.end());
  }
  for (const arrow::ArrayVector& column : pieces) {
    result.columns.push_back(arrow::Concatenate(column).ValueOrDie());
  }
  return result;
}

std::vector<std::string> DataColumns(const arrow::RecordBatch& expected) {
  std::vector<std::string> columns;
  for (const auto& field : expected.schema()->fields()) {
    if (field->name() != "_rowid" && field->name() != "_rowaddr") columns.push_back(field->name());
  }
  return columns;
}

void ExpectEqualColumn(const arrow::Array& expected, const arrow::Array& actual,
                       const std::string& name) {
  const arrow::EqualOptions options = arrow::EqualOptions::Defaults().nans_equal(true);
  EXPECT_TRUE(expected.Equals(actual, options)) << name << "\n" << expected.Diff(actual);
}

class GoldenRows : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(GoldenRows, ScanGivesPylancesRows) {
  const auto [name, rows] = GetParam();
  const auto expected = ExpectedRows(rows);
  const auto dataset = OpenGolden(name);
  EXPECT_EQ(dataset->num_rows(), static_cast<uint64_t>(expected->num_rows()));
  const std::vector<std::string> columns = DataColumns(*expected);
  for (const int64_t batch_rows : {7, 64, 100'000}) {
    ScanOptions options;
    options.columns = columns;
    options.batch_rows = batch_rows;
    const Scanned scanned = ScanAll(dataset.get(), options);
    EXPECT_EQ(scanned.addresses, Values(*expected->GetColumnByName("_rowaddr")));
    for (size_t i = 0; i < columns.size(); ++i) {
      ExpectEqualColumn(*expected->GetColumnByName(columns[i]), *scanned.columns[i], columns[i]);
    }
    std::vector<uint64_t> row_ids(scanned.addresses.size());
    ASSERT_TRUE(dataset->RowIds(scanned.addresses, row_ids).ok());
    EXPECT_EQ(row_ids, Values(*expected->GetColumnByName("_rowid")));
  }
}

TEST_P(GoldenRows, TakeGivesTheSameRows) {
  const auto [name, rows] = GetParam();
  const auto expected = ExpectedRows(rows);
  const auto dataset = OpenGolden(name);
  const std::vector<std::string> columns = DataColumns(*expected);
  const std::vector<uint64_t> addresses = Values(*expected->GetColumnByName("_rowaddr"));
  for (const size_t step : {1, 3, 41}) {
    std::vector<RowAddress> asked;
    std::vector<int64_t> places;
    for (size_t i = 0; i < addresses.size(); i += step) {
      asked.push_back(addresses[i]);
      places.push_back(static_cast<int64_t>(i));
    }
    const auto batch = dataset->Take(columns, asked).ValueOrDie();
    ASSERT_TRUE(batch->ValidateFull().ok());
    for (const std::string& column : columns) {
      arrow::ArrayVector slices;
      for (const int64_t place : places) {
        slices.push_back(expected->GetColumnByName(column)->Slice(place, 1));
      }
      ExpectEqualColumn(*arrow::Concatenate(slices).ValueOrDie(), *batch->GetColumnByName(column),
                        column);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenRows,
    ::testing::Values(std::pair("types_v20", "types"), std::pair("types_v21", "types"),
                      std::pair("types_v22", "types"), std::pair("deletes", "deletes"),
                      std::pair("deltas", "deltas"), std::pair("stable_ids", "stable_ids"),
                      std::pair("v1_names", "v1_names"), std::pair("added_column", "added_column"),
                      std::pair("changed_columns", "changed_columns"),
                      std::pair("frag_reuse", "frag_reuse"),
                      std::pair("releases/pylance_0.17.0", "releases/pylance_0.17.0"),
                      std::pair("releases/pylance_0.20.0", "releases/pylance_0.20.0"),
                      std::pair("releases/pylance_0.30.0", "releases/releases"),
                      std::pair("releases/pylance_0.38.3", "releases/releases"),
                      std::pair("releases/pylance_4.0.2", "releases/releases")),
    [](const auto& made) { return TestName(made.param.first); });

TEST(GoldenDataset, TellsItsSchemaAsPylanceDoes) {
  const auto expected = ExpectedRows("types");
  for (const char* name : {"types_v20", "types_v21", "types_v22"}) {
    const auto schema = OpenGolden(name)->arrow_schema();
    for (const auto& field : schema->fields()) {
      const auto pylances = expected->schema()->GetFieldByName(field->name());
      ASSERT_NE(pylances, nullptr) << field->name();
      EXPECT_TRUE(field->Equals(pylances)) << field->ToString() << " / " << pylances->ToString();
    }
    EXPECT_EQ(schema->num_fields() + 2, expected->num_columns());
  }
}

TEST(GoldenDataset, TellsVersionsOfBothNamingSchemes) {
  const auto latest = OpenGolden("v1_names");
  EXPECT_EQ(latest->version(), 11u);
  EXPECT_EQ(latest->versions().size(), 11u);
  OpenOptions options;
  options.version = 3;
  const auto third = OpenGolden("v1_names", options);
  EXPECT_EQ(third->version(), 3u);
  EXPECT_EQ(third->num_rows(), 50u);
  options.version = 1;
  EXPECT_EQ(OpenGolden("deletes", options)->num_rows(), 6300u);
  EXPECT_THAT(OpenGolden("deletes")->versions(), ElementsAre(1, 2, 3, 4));
  options.version = 5;
  const arrow::Status status = Dataset::Open(Golden("deletes.lance"), options).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("no version 5"));
}

TEST(GoldenDataset, TellsFragmentsWithTheirDeletions) {
  const auto dataset = OpenGolden("deletes");
  const std::vector<FragmentInfo>& fragments = dataset->fragments();
  ASSERT_EQ(fragments.size(), 2u);
  EXPECT_EQ(fragments[0].deleted_rows, 5066u);
  EXPECT_EQ(fragments[0].physical_rows, 5700u);
  EXPECT_EQ(fragments[1].deleted_rows, 60u);
  EXPECT_EQ(fragments[0].files.size(), 1u);
  EXPECT_EQ(OpenGolden("added_column")->fragments()[0].files.size(), 2u);
}

struct IndexCase {
  const char* dataset;
  const char* type;
  const char* metric;
  size_t segments;
};

class GoldenIndex : public ::testing::TestWithParam<IndexCase> {};

TEST_P(GoldenIndex, IsListedAndUsable) {
  const IndexCase& expected = GetParam();
  const auto dataset = OpenGolden(expected.dataset);
  ASSERT_EQ(dataset->vector_indexes().size(), 1u);
  const IndexInfo& index = dataset->vector_indexes().front();
  EXPECT_EQ(index.name, "vec_idx");
  EXPECT_EQ(index.column, "vec");
  EXPECT_EQ(index.type, expected.type);
  EXPECT_EQ(index.metric, expected.metric);
  EXPECT_EQ(index.segments.size(), expected.segments);
  EXPECT_EQ(index.unusable_reason, "");
  EXPECT_FALSE(index.segments.front().fragment_ids.empty());
}

INSTANTIATE_TEST_SUITE_P(All, GoldenIndex,
                         ::testing::Values(IndexCase{"flat_l2", "IVF_FLAT", "l2", 1},
                                           IndexCase{"flat_cosine", "IVF_FLAT", "cosine", 1},
                                           IndexCase{"pq8_l2", "IVF_PQ", "l2", 1},
                                           IndexCase{"pq8_cosine", "IVF_PQ", "cosine", 1},
                                           IndexCase{"pq8_dot", "IVF_PQ", "dot", 1},
                                           IndexCase{"pq4_l2", "IVF_PQ", "l2", 1},
                                           IndexCase{"pq_f16", "IVF_PQ", "l2", 1},
                                           IndexCase{"deletes", "IVF_PQ", "l2", 1},
                                           IndexCase{"deltas", "IVF_PQ", "l2", 2},
                                           IndexCase{"stable_ids", "IVF_PQ", "l2", 1},
                                           IndexCase{"releases/pylance_0.30.0", "IVF_PQ", "l2", 1},
                                           IndexCase{"releases/pylance_0.38.3", "IVF_PQ", "l2", 1},
                                           IndexCase{"releases/pylance_4.0.2", "IVF_PQ", "l2", 1}),
                         [](const auto& made) { return TestName(made.param.dataset); });

TEST(GoldenDataset, SegmentsCoverTheirFragments) {
  const auto dataset = OpenGolden("deltas");
  const IndexInfo& index = dataset->vector_indexes().front();
  EXPECT_THAT(index.segments[0].fragment_ids, ElementsAre(0, 1));
  EXPECT_THAT(index.segments[1].fragment_ids, ElementsAre(2));
}

TEST(GoldenDataset, OpensASegmentOnce) {
  const auto dataset = OpenGolden("deltas");
  const IndexInfo& index = dataset->vector_indexes().front();
  const auto first = dataset->OpenSegment(index, 1).ValueOrDie();
  EXPECT_EQ(dataset->OpenSegment(index, 1).ValueOrDie(), first);
  EXPECT_NE(dataset->OpenSegment(index, 0).ValueOrDie(), first);
}

TEST(GoldenDataset, ADeferredRemapMakesIndexesUnusable) {
  const auto dataset = OpenGolden("frag_reuse");
  ASSERT_EQ(dataset->vector_indexes().size(), 1u);
  EXPECT_THAT(dataset->vector_indexes().front().unusable_reason, HasSubstr("deferred index remap"));
}

TEST(GoldenDataset, IndexFilesOfTheFirstKindAreNamed) {
  for (const char* name : {"releases/pylance_0.17.0", "releases/pylance_0.20.0"}) {
    const auto dataset = OpenGolden(name);
    ASSERT_EQ(dataset->vector_indexes().size(), 1u) << name;
    const std::string& reason = dataset->vector_indexes().front().unusable_reason;
    EXPECT_THAT(reason, HasSubstr("Legacy index file")) << name;
    EXPECT_THAT(reason, HasSubstr("rebuild the index")) << name;
  }
}

TEST(GoldenDataset, AnIndexFollowsARenamedColumn) {
  const auto dataset = OpenGolden("changed_columns");
  ASSERT_EQ(dataset->vector_indexes().size(), 1u);
  EXPECT_EQ(dataset->vector_indexes().front().column, "embedding");
  EXPECT_EQ(dataset->schema().FindPath("gone"), nullptr);
}

/// pylance's live rows of the covered fragments, by row id.
std::map<uint64_t, RowAddress> CoveredRows(const std::string& name,
                                           const IndexSegmentInfo& segment) {
  const auto expected = ExpectedRows(name);
  const std::vector<uint64_t> ids = Values(*expected->GetColumnByName("_rowid"));
  const std::vector<uint64_t> addresses = Values(*expected->GetColumnByName("_rowaddr"));
  const std::set<uint64_t> covered(segment.fragment_ids.begin(), segment.fragment_ids.end());
  std::map<uint64_t, RowAddress> rows;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (covered.contains(addresses[i] >> 32)) rows[ids[i]] = addresses[i];
  }
  return rows;
}

class GoldenRowIds : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenRowIds, ResolveToLiveCoveredRowsAndNothingElse) {
  const auto dataset = OpenGolden(GetParam());
  for (const IndexSegmentInfo& segment : dataset->vector_indexes().front().segments) {
    const std::map<uint64_t, RowAddress> live = CoveredRows(GetParam(), segment);
    std::vector<uint64_t> ids;
    for (uint64_t high = 0; high < 6; ++high) {
      for (uint64_t low = 0; low < 6400; ++low) ids.push_back(high << 32 | low);
    }
    ids.insert(ids.end(), {~uint64_t{0}, uint64_t{1} << 63, uint64_t{0xffffffff}});
    std::vector<RowAddress> addresses(ids.size());
    ASSERT_TRUE(dataset->ResolveRowIds(segment, ids, addresses).ok());
    size_t found = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto row = live.find(ids[i]);
      EXPECT_EQ(addresses[i], row == live.end() ? kDeadRow : row->second) << ids[i];
      found += row == live.end() ? 0 : 1;
    }
    EXPECT_EQ(found, live.size());
    EXPECT_GT(found, 0u);
    std::vector<uint64_t> in_place = ids;
    ASSERT_TRUE(dataset->ResolveRowIds(segment, in_place, in_place).ok());
    EXPECT_EQ(in_place, addresses);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenRowIds, ::testing::Values("deletes", "deltas", "stable_ids"),
                         [](const auto& made) { return std::string(made.param); });

TEST(GoldenDataset, ReadsOnlyTheFragmentsAsked) {
  const auto dataset = OpenGolden("deltas");
  ScanOptions options;
  options.columns = {"id"};
  options.fragment_ids = std::vector<uint64_t>{3, 1};
  std::set<uint64_t> seen;
  for (const RowAddress address : ScanAll(dataset.get(), options).addresses) {
    seen.insert(address >> 32);
  }
  EXPECT_THAT(seen, ElementsAre(1, 3));
  options.fragment_ids = std::vector<uint64_t>{9};
  EXPECT_EQ(base::CodeOf(dataset->MakeScan(options).status()), base::ErrorCode::kNotFound);
}

TEST(GoldenDataset, NamesWhatItCantFind) {
  const auto dataset = OpenGolden("deltas");
  ScanOptions options;
  options.columns = {"id", "absent"};
  const arrow::Status status = dataset->MakeScan(options).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("no column 'absent'; it has: id, name, vec"));
  options.columns = {"id", "id"};
  EXPECT_EQ(base::CodeOf(dataset->MakeScan(options).status()), base::ErrorCode::kInvalid);
  const std::vector<RowAddress> dead = {2};
  EXPECT_EQ(base::CodeOf(dataset->Take({"id"}, dead).status()), base::ErrorCode::kNotFound);
  const std::vector<RowAddress> falling = {4, 3};
  EXPECT_EQ(base::CodeOf(dataset->Take({"id"}, falling).status()), base::ErrorCode::kInternal);
}

TEST(GoldenDataset, ThreadsShareOneSnapshot) {
  const auto dataset = OpenGolden("deltas");
  const auto expected = ExpectedRows("deltas");
  base::ThreadPool pool(4);
  const auto body = [&](int64_t item, int /*worker*/) -> arrow::Status {
    const IndexInfo& index = dataset->vector_indexes().front();
    ARROW_RETURN_NOT_OK(dataset->OpenSegment(index, static_cast<size_t>(item % 2)).status());
    ScanOptions options;
    options.columns = {"id", "vec"};
    ARROW_ASSIGN_OR_RAISE(const auto scan, dataset->MakeScan(options));
    int64_t rows = 0;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const ScanBatch next, scan->Next());
      if (next.batch == nullptr) break;
      rows += next.batch->num_rows();
    }
    return rows == expected->num_rows() ? arrow::Status::OK() : base::Internal("lost rows");
  };
  const arrow::Status status = pool.ParallelFor(24, base::CancelToken(), body);
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(GoldenDataset, TakesNothing) {
  const auto batch = OpenGolden("deltas")->Take({"vec", "id"}, {}).ValueOrDie();
  EXPECT_EQ(batch->num_rows(), 0);
  EXPECT_EQ(batch->num_columns(), 2);
  EXPECT_EQ(batch->schema()->field(0)->name(), "vec");
}

TEST(GoldenDataset, RefusesOtherFileVersionsByName) {
  const arrow::Status legacy = Dataset::Open(Golden("legacy.lance")).status();
  EXPECT_EQ(base::CodeOf(legacy), base::ErrorCode::kNotSupported);
  EXPECT_THAT(legacy.message(), HasSubstr("0.1 (legacy)"));
  EXPECT_THAT(legacy.message(), HasSubstr("data_storage_version='2.2'"));
  const arrow::Status next = Dataset::Open(Golden("next.lance")).status();
  EXPECT_EQ(base::CodeOf(next), base::ErrorCode::kNotSupported);
  EXPECT_THAT(next.message(), HasSubstr("2.3"));
}

TEST(GoldenDataset, TellsAMissingPathFromSomethingElse) {
  EXPECT_EQ(base::CodeOf(Dataset::Open(Golden("absent.lance")).status()),
            base::ErrorCode::kNotFound);
  for (const char* name : {"", "README.md", "deltas.lance/data"}) {
    const arrow::Status status = Dataset::Open(Golden(name)).status();
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kInvalid) << name;
    EXPECT_THAT(status.message(), HasSubstr("is not a Lance dataset")) << name;
  }
}

TEST(GoldenDataset, CountsWhatItReads) {
  const auto dataset = OpenGolden("flat_l2");
  const uint64_t before = dataset->io_counters().bytes_read.load();
  EXPECT_GT(before, 0u);
  EXPECT_LT(before, 8'192u);
  ScanOptions options;
  options.columns = {"vec"};
  ScanAll(dataset.get(), options);
  EXPECT_GT(dataset->io_counters().bytes_read.load(), before + 700 * 16 * 4);
}

}  // namespace
}  // namespace kinjo::dataset
