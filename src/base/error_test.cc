#include "base/error.h"

#include <set>
#include <string>

#include "base/cancel_token.h"
#include "gtest/gtest.h"

namespace kinjo::base {
namespace {

TEST(Error, EachCodeHasItsOwnNameAndComesBack) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const auto given = static_cast<ErrorCode>(code);
    names.emplace(ErrorCodeName(given));
    const arrow::Status status = MakeError(given, "text");
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(CodeOf(status), given);
    EXPECT_EQ(MessageOf(status), "text");
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(ErrorCode::kInternal) + 1);
}

TEST(Error, ADamagedFileIsNamedWithTheByte) {
  const arrow::Status status =
      MakeError(ErrorCode::kCorrupt, "a size beyond the file", "d/x.lance", 12);
  EXPECT_EQ(MessageOf(status), "a size beyond the file (d/x.lance, byte 12)");
}

TEST(Error, AMessageIsOneLine) { EXPECT_EQ(MessageOf(Invalid("one\ntwo ", 3)), "one two 3"); }

TEST(Error, ArrowsOwnErrorsGetOurCodes) {
  EXPECT_EQ(CodeOf(arrow::Status::IOError("x")), ErrorCode::kIo);
  EXPECT_EQ(CodeOf(arrow::Status::KeyError("x")), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(arrow::Status::TypeError("x")), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf(arrow::Status::NotImplemented("x")), ErrorCode::kNotSupported);
  EXPECT_EQ(CodeOf(arrow::Status::OutOfMemory("x")), ErrorCode::kCapacity);
  EXPECT_EQ(CodeOf(arrow::Status::Cancelled("x")), ErrorCode::kCancelled);
  EXPECT_EQ(CodeOf(arrow::Status::UnknownError("x")), ErrorCode::kInternal);
}

TEST(CancelToken, CopiesWatchTheSameFlag) {
  const CancelToken token;
  const CancelToken copy = token;
  EXPECT_TRUE(copy.Check().ok());
  token.Cancel();
  EXPECT_TRUE(copy.cancelled());
  EXPECT_EQ(CodeOf(copy.Check()), ErrorCode::kCancelled);
  EXPECT_TRUE(CancelToken().Check().ok());
}

}  // namespace
}  // namespace kinjo::base
