#include "dataset/fragment.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow/table.h"
#include "dataset/fragment_scan.h"
#include "format/schema.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

// A manifest without the count says 0: the file knows better.
TEST(FragmentTest, AFragmentOfNoRowsWhoseFileHasSomeIsCorrupt) {
  const std::string root = std::string(KINJO_GOLDEN_DIR) + "/flat_l2.lance";
  const BaseLocations locations =
      BaseLocations::Make(io::ResolveUri(root).ValueOrDie(), {}, {}).ValueOrDie();
  const std::filesystem::directory_iterator files(root + "/data");
  format::DataFile file;
  file.path = files->path().filename().string();
  file.columns = {{0, 0}};
  format::Fragment info;
  info.files.push_back(file);
  const arrow::Status status =
      Fragment::Make(std::move(info), locations, nullptr, nullptr).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCorrupt) << status.ToString();
  EXPECT_THAT(status.message(), testing::HasSubstr("the manifest says 0"));
}

// A scan of a whole file by batches of a few rows, with a cache that keeps nothing.
struct ScannedFile {
  std::shared_ptr<arrow::Table> table;
  uint64_t states_made = 0;
};

ScannedFile ScanByBatches(const std::string& golden, uint64_t batch_rows) {
  const std::string root = std::string(KINJO_GOLDEN_DIR) + "/" + golden;
  const std::string name =
      std::filesystem::directory_iterator(root + "/data")->path().filename().string();
  const BaseLocations locations =
      BaseLocations::Make(io::ResolveUri(root).ValueOrDie(), {}, {}).ValueOrDie();
  const auto file =
      format::LanceFile::Open(
          io::OpenFile(io::ResolveUri(root + "/data/" + name).ValueOrDie(), 0, nullptr)
              .ValueOrDie())
          .ValueOrDie();
  format::Fragment info;
  info.physical_rows = file->num_rows();
  info.files.push_back({});
  info.files[0].path = name;
  info.files[0].columns = file->own_columns();
  const auto cache = std::make_shared<format::PageCache>(1);
  const auto fragment = Fragment::Make(info, locations, nullptr, cache).ValueOrDie();
  std::vector<const format::Field*> fields;
  arrow::FieldVector columns;
  for (const format::Field& field : file->schema().fields) {
    fields.push_back(&field);
    columns.push_back(arrow::field(field.name, format::ToArrowType(field).ValueOrDie()));
  }
  FragmentScan scan(nullptr, {fragment.get()}, fields, arrow::schema(columns), batch_rows, nullptr);
  arrow::RecordBatchVector batches;
  while (true) {
    const ScanBatch next = scan.Next().ValueOrDie();
    if (next.batch == nullptr) break;
    batches.push_back(next.batch);
  }
  const auto table = arrow::Table::FromRecordBatches(arrow::schema(columns), batches).ValueOrDie();
  return {table->CombineChunks().ValueOrDie(), cache->states_made()};
}

TEST(FragmentTest, AScanMakesThePageStatesThatNoCacheKeepsOnce) {
  for (const char* golden : {"types_v21.lance", "types_v22.lance"}) {
    const ScannedFile whole = ScanByBatches(golden, 1 << 20);
    EXPECT_GT(whole.states_made, 0u) << golden;
    const ScannedFile parts = ScanByBatches(golden, 7);
    EXPECT_EQ(parts.states_made, whole.states_made) << golden;
    EXPECT_TRUE(parts.table->Equals(*whole.table)) << golden;
  }
}

}  // namespace
}  // namespace kinjo::dataset
