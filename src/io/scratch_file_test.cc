#include "io/scratch_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/assert_result.h"

namespace kinjo::io {
namespace {

TEST(ScratchFile, IsReadWhereItWasWrittenAndLeavesNothing) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("kinjo-scratch-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  KINJO_ASSERT_RESULT(location, ResolveUri(folder.string()));
  {
    KINJO_ASSERT_RESULT(file, ScratchFile::Make(location));
    std::vector<uint8_t> bytes(100000);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
    ASSERT_TRUE(file->Append(bytes.data(), 60000).ok());
    ASSERT_TRUE(file->Append(bytes.data() + 60000, 40000).ok());
    std::vector<uint8_t> part(30000);
    ASSERT_TRUE(file->Read(50000, 30000, part.data()).ok());
    EXPECT_EQ(part, std::vector<uint8_t>(bytes.begin() + 50000, bytes.begin() + 80000));
    EXPECT_EQ(base::CodeOf(file->Read(90000, 20000, part.data())), base::ErrorCode::kIo);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  std::filesystem::remove_all(folder);
  EXPECT_EQ(base::CodeOf(ScratchFile::Make(location).status()), base::ErrorCode::kIo);
}

}  // namespace
}  // namespace kinjo::io
