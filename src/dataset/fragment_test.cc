#include "dataset/fragment.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::dataset {
namespace {

// A manifest without the count says 0: the file knows better.
TEST(FragmentTest, AFragmentOfNoRowsWhoseFileHasSomeIsCorrupt) {
  const std::string root = std::string(KINJO_GOLDEN_DIR) + "/flat_l2.lance";
  const BaseLocations locations =
      BaseLocations::Make(io::ResolveUri(root).ValueOrDie(), {}).ValueOrDie();
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

}  // namespace
}  // namespace kinjo::dataset
