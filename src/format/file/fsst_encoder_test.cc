#include "format/file/fsst_encoder.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "format/file/fsst.h"

namespace kinjo::format::file {
namespace {

ValueBlock BlockOver(const std::vector<std::string>& values, std::string* bytes,
                     std::vector<uint64_t>* offsets) {
  offsets->assign(1, 0);
  for (const std::string& value : values) {
    *bytes += value;
    offsets->push_back(bytes->size());
  }
  ValueBlock block;
  block.SetVariable(reinterpret_cast<const uint8_t*>(bytes->data()),
                    reinterpret_cast<const uint8_t*>(offsets->data()), 8, values.size());
  return block;
}

// Encodes, checks that every value comes back, and returns the bytes of the codes.
size_t RoundTrip(const std::vector<std::string>& values) {
  std::string bytes;
  std::vector<uint64_t> offsets;
  const FsstValues codes = EncodeFsst(BlockOver(values, &bytes, &offsets));
  EXPECT_EQ(codes.table.size(), kFsstTableBytes);
  FsstDecoder decoder;
  EXPECT_TRUE(decoder.Load(codes.table));
  for (size_t i = 0; i < values.size(); ++i) {
    const Bytes code(codes.bytes.data() + codes.offsets[i],
                     codes.offsets[i + 1] - codes.offsets[i]);
    std::string out(code.size() * FsstDecoder::kMaxExpansion + FsstDecoder::kSlack, '\0');
    size_t length = 0;
    EXPECT_TRUE(decoder.Decode(code, reinterpret_cast<uint8_t*>(out.data()), &length));
    out.resize(length);
    EXPECT_EQ(out, values[i]) << i;
  }
  return codes.bytes.size();
}

TEST(FsstEncoderTest, TextShrinks) {
  std::mt19937 random(1);
  const char* words[] = {"nearest ", "neighbour ", "of ", "the ", "row ", "vector ", "index "};
  std::vector<std::string> values;
  size_t total = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (unsigned k = random() % 20; k > 0; --k) text += words[random() % 7];
    total += text.size();
    values.push_back(std::move(text));
  }
  EXPECT_LT(RoundTrip(values), total / 4);
}

TEST(FsstEncoderTest, AnythingComesBack) {
  std::mt19937 random(2);
  RoundTrip({});
  RoundTrip({""});
  RoundTrip({std::string(1, '\0'), std::string(9, '\0'), std::string(3, '\xFF')});
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::string> values;
    const unsigned letters = 1 + random() % 256;
    for (unsigned i = random() % 400; i > 0; --i) {
      std::string value(random() % 40, '\0');
      for (char& byte : value) byte = static_cast<char>(random() % letters);
      values.push_back(std::move(value));
    }
    RoundTrip(values);
  }
}

TEST(FsstEncoderTest, TheSameValuesGiveTheSameTable) {
  std::vector<std::string> values;
  for (int i = 0; i < 5000; ++i) values.push_back("https://example.org/" + std::to_string(i * 977));
  std::string bytes;
  std::vector<uint64_t> offsets;
  const ValueBlock block = BlockOver(values, &bytes, &offsets);
  EXPECT_EQ(EncodeFsst(block).table, EncodeFsst(block).table);
}

}  // namespace
}  // namespace kinjo::format::file
