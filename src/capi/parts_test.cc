// A join into a folder of parts, through the C++ header: finished, continued, refused.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "kinjo/kinjo.hpp"

namespace {

namespace fs = std::filesystem;

const std::string kRight = std::string(KINJO_GOLDEN_DIR) + "/flat_l2.lance";
constexpr int64_t kRows = 700;

kinjo::Result<kinjo::Join> SelfJoin(int64_t k = 3) {
  kinjo::Result<kinjo::Table> left = kinjo::Table::Open(kRight);
  if (!left.ok()) return left.error();
  kinjo::JoinOptions options;
  options.k = k;
  options.on = "vec";
  return kinjo::Join::Make(*left, kRight, options);
}

class PartsAtTheWall : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  }

  const std::string folder_ =
      fs::temp_directory_path() / ("kinjo-capi-parts-" + std::to_string(getpid()));
  kinjo::PartsOptions parts_{"", "", {}, 100};
  kinjo_parts_info info_{};
};

TEST_F(PartsAtTheWall, AreWrittenAndLeftAlone) {
  auto join = SelfJoin();
  ASSERT_TRUE(join.ok()) << join.error().message;
  kinjo_progress last{};
  const kinjo::ProgressFunction progress = [&](const kinjo_progress& told) { last = told; };
  const auto written = join->WriteParts(folder_, parts_, {nullptr, &progress}, &info_);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_TRUE(info_.finished);
  EXPECT_EQ(info_.parts, 7);
  EXPECT_EQ(info_.parts_before, 0);
  EXPECT_EQ(info_.left_rows, kRows);
  EXPECT_EQ(last.done_rows, kRows);
  EXPECT_EQ(last.remaining_s, 0);
  EXPECT_GT(last.rows_per_s, 0);
  const auto files = Files();
  EXPECT_EQ(files.size(), 8u);
  auto again = SelfJoin();
  ASSERT_TRUE(again->WriteParts(folder_, parts_, {}, &info_).ok());
  EXPECT_EQ(info_.parts_before, 7);
  EXPECT_EQ(Files(), files);
}

TEST_F(PartsAtTheWall, AreContinuedAfterACancel) {
  const auto cancel = kinjo::Cancel::Make();
  cancel.value().Raise();
  const auto stopped = SelfJoin()->WriteParts(folder_, parts_, {&cancel.value(), nullptr}, &info_);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, KINJO_ERROR_CANCELLED);
  EXPECT_FALSE(info_.finished);
  ASSERT_TRUE(SelfJoin()->WriteParts(folder_, parts_, {}, &info_).ok());
  // The journal ends in the middle of a line, as after a crash.
  const auto files = Files();
  const std::string& journal = files.at("_kinjo.journal");
  fs::resize_file(folder_ + "/_kinjo.journal", journal.find("{\"part\":4") + 20);
  fs::remove(folder_ + "/part-00005.parquet");
  fs::remove(folder_ + "/part-00006.parquet");
  auto join = SelfJoin();
  ASSERT_TRUE(join->WriteParts(folder_, parts_, {}, &info_).ok());
  EXPECT_EQ(info_.parts_before, 4);
  EXPECT_EQ(Files(), files);
  auto report = join->Report();
  EXPECT_EQ(report->left_rows, 300);
  EXPECT_EQ(report->resumed_rows, 400);
}

TEST_F(PartsAtTheWall, OfAnotherRunAreRefused) {
  ASSERT_TRUE(SelfJoin()->WriteParts(folder_, parts_).ok());
  const auto refused = SelfJoin(5)->WriteParts(folder_, parts_, {}, &info_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, KINJO_ERROR_INVALID);
  EXPECT_NE(refused.error().message.find("k was 3 and is 5"), std::string::npos);
  EXPECT_EQ(info_.parts, 0);
}

TEST_F(PartsAtTheWall, OptionsAreJudgedAlone) {
  EXPECT_TRUE(kinjo::Join::CheckParts(folder_, {}).ok());
  EXPECT_FALSE(kinjo::Join::CheckParts("-", {}).ok());
  EXPECT_FALSE(kinjo::Join::CheckParts(folder_, {"table", "", {}, {}}).ok());
  EXPECT_FALSE(kinjo::Join::CheckParts(folder_, {"", "", 0, {}}).ok());
  EXPECT_FALSE(kinjo::Join::CheckParts(folder_, {"", "", {}, -1}).ok());
  kinjo_error* error = nullptr;
  EXPECT_FALSE(kinjo_join_write_parts(nullptr, "x", nullptr, nullptr, nullptr, &error));
  EXPECT_EQ(kinjo_error_get_code(error), KINJO_ERROR_INVALID);
  kinjo_error_free(error);
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace
