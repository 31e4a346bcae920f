#include "join/left_identity.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

/// A memory dataset as a left side.
class DatasetTable final : public tabular::TableSource {
 public:
  explicit DatasetTable(std::shared_ptr<dataset::Dataset> dataset) : dataset_(std::move(dataset)) {}
  const std::string& uri() const override { return dataset_->uri(); }
  const std::string& format() const override { return format_; }
  std::shared_ptr<arrow::Schema> schema() const override { return dataset_->arrow_schema(); }
  std::optional<int64_t> num_rows() const override { return std::nullopt; }
  std::shared_ptr<dataset::Dataset> dataset() const override { return dataset_; }
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>&) override {
    return base::Internal("not read here");
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(const std::vector<std::string>&,
                                                          std::span<const uint64_t>) override {
    return base::Internal("not read here");
  }

 private:
  std::shared_ptr<dataset::Dataset> dataset_;
  std::string format_ = "lance";
};

std::shared_ptr<MemoryDataset> SomeDataset() {
  auto dataset = std::make_shared<MemoryDataset>(Vectors(1000, {1.0, 2.0}), 300, 2);
  for (const int64_t row : {0, 1, 299, 300, 450, 999}) dataset->Delete(row);
  return dataset;
}

TEST(LeftIdentityTest, LiveRowsOfADatasetInScanOrder) {
  const auto dataset = SomeDataset();
  const auto right = MakeDatasetSide(dataset);
  EXPECT_EQ(LeftIdentity::WhyNotSame(DatasetTable(dataset), *right), "");
  std::vector<uint64_t> expected;
  for (int64_t row = 0; row < 1000; ++row) {
    if (dataset->live(row)) expected.push_back(dataset->AddressOf(row));
  }
  for (const size_t block : {size_t{1}, size_t{7}, size_t{400}, expected.size()}) {
    const auto identity = LeftIdentity::Open(*right);
    std::vector<uint64_t> got(expected.size());
    for (size_t row = 0; row < got.size(); row += block) {
      const auto part = std::span(got).subspan(row, std::min(block, got.size() - row));
      ASSERT_TRUE(identity->AddressesOf(static_cast<int64_t>(row), part).ok());
    }
    EXPECT_EQ(got, expected) << block;
  }
  // Rows may be passed over, and there are no more than are live.
  const auto identity = LeftIdentity::Open(*right);
  std::vector<uint64_t> last(4);
  ASSERT_TRUE(identity->AddressesOf(990, last).ok());
  EXPECT_EQ(last, std::vector<uint64_t>(expected.end() - 4, expected.end()));
  EXPECT_FALSE(identity->AddressesOf(994, last).ok());
}

TEST(LeftIdentityTest, FilesAreNumberedAndNamesAreResolved) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("kinjo_left_identity_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "a.csv").string();
  std::ofstream(file) << "id\n1\n2\n";
  std::ofstream(folder / "b.csv") << "id\n1\n2\n";
  KINJO_ASSERT_RESULT(source, tabular::OpenTable(file));
  KINJO_ASSERT_RESULT(again, tabular::OpenTable((folder / "." / "a.csv").string()));
  KINJO_ASSERT_RESULT(other, tabular::OpenTable((folder / "b.csv").string()));
  const auto right = MakeTableSide(source);
  EXPECT_EQ(LeftIdentity::WhyNotSame(*again, *right), "");
  EXPECT_NE(LeftIdentity::WhyNotSame(*other, *right).find("are two tables"), std::string::npos);
  const auto memory =
      tabular::MakeBatchSource(MakeVectorBatch("id", "v", {{1.0}}, arrow::float32(), 1), file);
  EXPECT_NE(LeftIdentity::WhyNotSame(*memory, *right).find("not read from files"),
            std::string::npos);
  std::vector<uint64_t> addresses(3);
  ASSERT_TRUE(LeftIdentity::Open(*right)->AddressesOf(5, addresses).ok());
  EXPECT_EQ(addresses, (std::vector<uint64_t>{5, 6, 7}));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kinjo::join
