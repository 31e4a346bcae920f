#include "tabular/lance_source.h"

#include <string>
#include <vector>

#include "arrow/array.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/table_samples.h"

namespace kinjo::tabular {
namespace {

using base::CodeOf;
using base::ErrorCode;
using testing::HasSubstr;

std::string Golden(const std::string& name) { return std::string(KINJO_GOLDEN_DIR) + "/" + name; }

// The rows that pylance scans, without the ids that it adds.
std::shared_ptr<arrow::Table> Expected(const std::string& name) {
  auto table = ReadUri(Golden(name + ".rows.arrow"));
  for (const std::string id : {"_rowid", "_rowaddr"}) {
    const int at = table->schema()->GetFieldIndex(id);
    if (at >= 0) table = table->RemoveColumn(at).ValueOrDie();
  }
  return table;
}

TEST(LanceSource, ReadsTheLiveRowsAsPylanceDoes) {
  for (const std::string name : {"deletes", "deltas", "stable_ids"}) {
    auto source = OpenTable(Golden(name + ".lance"), {.batch_rows = 100}).ValueOrDie();
    EXPECT_EQ(source->format(), "lance");
    const auto expected = Expected(name);
    EXPECT_EQ(source->num_rows(), expected->num_rows());
    const auto table = ReadAll(source.get(), expected->schema()->field_names(), 100).ValueOrDie();
    EXPECT_TRUE(table->Equals(*expected)) << name;
    // Read again, one column.
    const std::string first = expected->schema()->field(0)->name();
    const auto one = ReadAll(source.get(), {{first}}, 100).ValueOrDie();
    EXPECT_TRUE(one->Equals(*expected->SelectColumns({0}).ValueOrDie()));
  }
}

TEST(LanceSource, TakesByOrdinalsOfLiveRows) {
  auto source = OpenTable(Golden("deletes.lance")).ValueOrDie();
  const auto all = Expected("deletes");
  const std::vector<std::string> columns = all->schema()->field_names();
  std::vector<uint64_t> ordinals;
  for (uint64_t i = 0; i < static_cast<uint64_t>(all->num_rows()); i += 1 + i % 13) {
    ordinals.push_back(i);
  }
  for (int again = 0; again < 2; ++again) {
    const auto taken = source->Take(columns, ordinals).ValueOrDie();
    ASSERT_EQ(taken->num_rows(), static_cast<int64_t>(ordinals.size()));
    for (size_t i = 0; i < ordinals.size(); ++i) {
      const auto got = arrow::Table::FromRecordBatches({taken->Slice(static_cast<int64_t>(i), 1)});
      ASSERT_TRUE((*got)->Equals(*all->Slice(static_cast<int64_t>(ordinals[i]), 1))) << i;
    }
  }
  const std::vector<uint64_t> past = {static_cast<uint64_t>(all->num_rows())};
  EXPECT_EQ(CodeOf(source->Take(columns, past).status()), ErrorCode::kInvalid);
  EXPECT_EQ(source->Take(columns, {}).ValueOrDie()->num_rows(), 0);
}

TEST(LanceSource, OpensVersionsAndRefusesWhatIsNoDataset) {
  const auto latest = OpenTable(Golden("deletes.lance")).ValueOrDie();
  const auto first = OpenTable(Golden("deletes.lance"), {.lance_version = 1}).ValueOrDie();
  EXPECT_NE(latest->num_rows(), first->num_rows());
  EXPECT_EQ(CodeOf(OpenTable(Golden("deletes.lance"), {.lance_version = 999}).status()),
            ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(OpenTable(Golden("absent.lance")).status()), ErrorCode::kNotFound);
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.Path("empty"));
  EXPECT_EQ(CodeOf(OpenTable(folder.Path("empty"), {.format = "lance"}).status()),
            ErrorCode::kInvalid);
  const auto column = latest->Read({{"absent"}}).status();
  EXPECT_EQ(CodeOf(column), ErrorCode::kNotFound);
  EXPECT_THAT(column.message(), HasSubstr("absent"));
}

TEST(LanceSource, AFolderWithVersionsIsADatasetWhateverItsName) {
  TemporaryFolder folder;
  std::filesystem::copy(Golden("deletes.lance"), folder.Path("items"),
                        std::filesystem::copy_options::recursive);
  EXPECT_EQ(OpenTable(folder.Path("items")).ValueOrDie()->format(), "lance");
}

TEST(LanceSource, AFolderOfDatasetsSaysToNameOne) {
  const auto status = OpenTable(std::string(KINJO_GOLDEN_DIR) + "/deletes.lance/data").status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("name the dataset"));
}

}  // namespace
}  // namespace kinjo::tabular
