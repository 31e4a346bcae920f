#include "format/table/manifest_names.h"

#include <limits>

#include "arrow/filesystem/mockfs.h"
#include "gtest/gtest.h"

namespace kinjo::format {
namespace {

TEST(ManifestNamesTest, BothSchemesThereAndBack) {
  for (const uint64_t version : {uint64_t{1}, uint64_t{2}, uint64_t{10}, uint64_t{1} << 40}) {
    for (const ManifestNaming naming : {ManifestNaming::kV1, ManifestNaming::kV2}) {
      const ManifestName name{version, naming};
      const auto parsed = ParseManifestName(name.FileName());
      ASSERT_TRUE(parsed.has_value()) << name.FileName();
      EXPECT_EQ(parsed->version, version);
      EXPECT_EQ(parsed->naming, naming);
    }
  }
  EXPECT_EQ((ManifestName{1, ManifestNaming::kV2}.FileName()), "18446744073709551614.manifest");
  EXPECT_EQ((ManifestName{7, ManifestNaming::kV1}.FileName()), "7.manifest");
  const uint64_t huge = std::numeric_limits<uint64_t>::max() - 1;
  EXPECT_EQ((ManifestName{huge, ManifestNaming::kV2}.FileName()), "00000000000000000001.manifest");
}

TEST(ManifestNamesTest, OtherFilesAreIgnored) {
  for (const char* name : {"latest_version_hint.json", "d9223372036854775809.manifest", ".manifest",
                           ".tmp_7.manifest_1", "-1.manifest", "7.manifest.tmp", "x7.manifest",
                           "99999999999999999999.manifest", "123456789012345678901.manifest", ""}) {
    EXPECT_FALSE(ParseManifestName(name).has_value()) << name;
  }
}

class ListManifestsTest : public ::testing::Test {
 protected:
  void Add(const std::string& path) { ASSERT_TRUE(files_->CreateFile(path, "").ok()); }

  std::shared_ptr<arrow::fs::internal::MockFileSystem> files_ =
      std::make_shared<arrow::fs::internal::MockFileSystem>(arrow::fs::TimePoint());
};

TEST_F(ListManifestsTest, VersionsRiseWhateverTheirNames) {
  for (const char* name : {"9.manifest", "10.manifest", "hint.json", "11.manifest",
                           "18446744073709551604.manifest" /* 11 */, "2.manifest"}) {
    Add(std::string("d/_versions/") + name);
  }
  const auto names = ListManifests({files_, "d", "mock://d"}).ValueOrDie();
  std::vector<uint64_t> versions;
  for (const ManifestName& name : names) versions.push_back(name.version);
  EXPECT_EQ(versions, (std::vector<uint64_t>{2, 9, 10, 11}));
  EXPECT_EQ(names.back().naming, ManifestNaming::kV2);
}

TEST_F(ListManifestsTest, TellsWhatIsWrongWithAPath) {
  Add("d/data/x.lance");
  Add("e/_versions/hint.json");
  const auto code = [&](const std::string& path) {
    return base::CodeOf(ListManifests({files_, path, "mock://" + path}).status());
  };
  EXPECT_EQ(code("absent"), base::ErrorCode::kNotFound);
  EXPECT_EQ(code("d"), base::ErrorCode::kInvalid);
  EXPECT_EQ(code("d/data/x.lance"), base::ErrorCode::kInvalid);
  EXPECT_EQ(code("e"), base::ErrorCode::kInvalid);
}

}  // namespace
}  // namespace kinjo::format
