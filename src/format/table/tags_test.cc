#include "format/table/tags.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kinjo::format {
namespace {

namespace fs = std::filesystem;

class TagsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kinjo_tags_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(folder_ / "_refs" / "tags");
    std::ofstream(folder_ / "_refs" / "tags" / name) << text;
  }
  io::Location Root() const { return io::ResolveUri(folder_.string()).ValueOrDie(); }
  base::ErrorCode CodeOfFind(const std::string& name) const {
    return base::CodeOf(FindTag(Root(), name).status());
  }

  fs::path folder_;
};

TEST_F(TagsTest, ADatasetMayHaveNone) {
  EXPECT_TRUE(ListTags(Root()).ValueOrDie().empty());
  const auto none = FindTag(Root(), "v1");
  EXPECT_EQ(base::CodeOf(none.status()), base::ErrorCode::kNotFound);
  EXPECT_NE(base::MessageOf(none.status()).find("has no tag 'v1'; it has none"), std::string::npos);
}

TEST_F(TagsTest, AreReadAsLanceWritesThem) {
  Write("stable.json",
        R"({"branch":null,"version":3,"createdAt":"2026-01-01T00:00:00Z","manifestSize":6947})");
  Write("dev.json", R"({"branch":"work","version":1,"metadata":{}})");
  Write("notes.txt", "no tag");
  const auto tags = ListTags(Root()).ValueOrDie();
  ASSERT_EQ(tags.size(), 2u);
  EXPECT_EQ(tags[0].name, "dev");
  EXPECT_EQ(tags[0].branch, "work");
  EXPECT_EQ(tags[1].name, "stable");
  EXPECT_EQ(tags[1].version, 3u);
  EXPECT_EQ(tags[1].branch, "");
  EXPECT_EQ(FindTag(Root(), "stable").ValueOrDie().version, 3u);
  const auto other = FindTag(Root(), "sable");
  EXPECT_NE(base::MessageOf(other.status()).find("it has dev, stable"), std::string::npos);
}

// A name is looked up among those there are, so that it can't lead out of the folder.
TEST_F(TagsTest, NamesAreNoPaths) {
  Write("stable.json", R"({"version":3})");
  std::ofstream(folder_ / "outside.json") << R"({"version":3})";
  for (const char* name : {"../../outside", "./stable", "", "stable.json"}) {
    EXPECT_EQ(CodeOfFind(name), base::ErrorCode::kNotFound) << name;
  }
}

TEST_F(TagsTest, WhatIsNoTagIsCorrupt) {
  for (const char* text : {"", "{", "[]", "3", "{}", R"({"version":"3"})", R"({"version":-3})",
                           R"({"version":3.5})", R"({"version":null})"}) {
    Write("odd.json", text);
    EXPECT_EQ(CodeOfFind("odd"), base::ErrorCode::kCorrupt) << text;
    EXPECT_FALSE(ListTags(Root()).ok());
  }
  Write("odd.json", std::string((1 << 20) + 1, ' '));
  EXPECT_EQ(CodeOfFind("odd"), base::ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace kinjo::format
