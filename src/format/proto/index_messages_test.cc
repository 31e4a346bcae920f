#include "format/proto/index_messages.h"

#include <gtest/gtest.h>

#include "format/index_file/index_fixture.h"

namespace kinjo::format::proto {
namespace {

TEST(IndexMessages, ReadAnIvfModelWithItsTensor) {
  const std::string tensor = EncodeTensor(2, {2, 1}, std::string(8, 'x'));
  const std::string bytes = EncodeIvf({0, 300}, {300, 5}, tensor);
  const IvfMessage ivf = ParseIvf(bytes, "file").ValueOrDie();
  EXPECT_EQ(ivf.offsets, (std::vector<uint64_t>{0, 300}));
  EXPECT_EQ(ivf.lengths, (std::vector<uint32_t>{300, 5}));
  ASSERT_TRUE(ivf.centroids.has_value());
  EXPECT_EQ(ivf.centroids->data_type, 2u);
  EXPECT_EQ(ivf.centroids->shape, (std::vector<uint32_t>{2, 1}));
  EXPECT_EQ(ivf.centroids->data, "xxxxxxxx");
  EXPECT_FALSE(ivf.has_untyped_centroids);
}

TEST(IndexMessages, ReadUnpackedNumbersAndSkipUnknownFields) {
  std::string bytes;
  for (const uint64_t length : {7, 8}) {
    PutVarint(3 << 3, &bytes);
    PutVarint(length, &bytes);
  }
  PutBytes(15, "later", &bytes);
  PutBytes(1, std::string(8, '\0'), &bytes);
  const IvfMessage ivf = ParseIvf(bytes, "file").ValueOrDie();
  EXPECT_EQ(ivf.lengths, (std::vector<uint32_t>{7, 8}));
  EXPECT_TRUE(ivf.has_untyped_centroids);
}

// Cut anywhere, a message is refused or read; never past its end.
TEST(IndexMessages, CutMessagesAreCorrupt) {
  const std::string bytes = EncodeIvf({0, 3}, {3, 5}, EncodeTensor(2, {2, 1}, "abcdefgh"));
  int refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const auto ivf = ParseIvf(cut, "file");
    if (ivf.ok()) continue;
    ++refused;
    EXPECT_EQ(base::CodeOf(ivf.status()), base::ErrorCode::kCorrupt);
  }
  EXPECT_GT(refused, 20);
}

TEST(IndexMessages, WrongWireTypesAreCorrupt) {
  std::string number_as_text;
  PutBytes(1, "abc", &number_as_text);
  EXPECT_EQ(base::CodeOf(ParseTensor(number_as_text, "file").status()), base::ErrorCode::kCorrupt);
  std::string text_as_number;
  PutVarint(4 << 3, &text_as_number);
  PutVarint(1, &text_as_number);
  EXPECT_EQ(base::CodeOf(ParseIvf(text_as_number, "file").status()), base::ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace kinjo::format::proto
