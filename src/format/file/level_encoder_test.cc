#include "format/file/level_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>

#include "format/file/levels.h"

namespace kinjo::format::file {
namespace {

const std::string& Path() {
  static const auto* path = new std::string("test.lance");
  return *path;
}

void ExpectBack(const std::vector<uint16_t>& levels, const std::vector<uint64_t>& firsts,
                uint16_t highest, bool runs) {
  const EncodedLevels encoded = EncodeLevels(levels, firsts, highest, runs);
  ASSERT_EQ(encoded.sizes.size(), firsts.size() - 1);
  EXPECT_LE(encoded.bytes.size(), levels.size() * 2);
  size_t position = 0;
  for (size_t i = 0; i + 1 < firsts.size(); ++i) {
    Scratch scratch;
    const uint64_t count = firsts[i + 1] - firsts[i];
    const auto back =
        DecodeLevels(encoded.encoding, Bytes(encoded.bytes).subspan(position, encoded.sizes[i]),
                     count, Where{.path = &Path()}, &scratch);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    for (uint64_t k = 0; k < count; ++k) ASSERT_EQ((*back)[k], levels[firsts[i] + k]) << k;
    position += encoded.sizes[i];
  }
  EXPECT_EQ(position, encoded.bytes.size());
}

// Tails around the length at which packing a tail begins to pay, for each width.
TEST(LevelEncoderTest, EveryWidthAndTailComesBack) {
  std::mt19937 random(4);
  for (const uint16_t highest : {1, 2, 3, 6, 9, 300}) {
    const auto width = static_cast<uint64_t>(std::bit_width(highest));
    for (const uint64_t tail :
         {uint64_t{0}, uint64_t{1}, 64 * width - 1, 64 * width, 64 * width + 1, uint64_t{1023}}) {
      for (const uint64_t full : {0, 1, 3}) {
        std::vector<uint16_t> levels(full * 1024 + tail);
        for (uint16_t& level : levels) level = static_cast<uint16_t>(random() % (highest + 1));
        for (const bool runs : {false, true}) {
          ExpectBack(levels, {0, levels.size() / 3, levels.size()}, highest, runs);
          ExpectBack(levels, {0, levels.size()}, highest, runs);
        }
      }
    }
  }
}

TEST(LevelEncoderTest, LongRunsAreRunsWhereTheyMayBe) {
  std::vector<uint16_t> levels(5000, 0);
  std::fill(levels.begin() + 2000, levels.begin() + 2700, 1);
  const std::vector<uint64_t> firsts{0, 5000};
  using Kind = proto::CompressiveEncoding::Kind;
  EXPECT_EQ(EncodeLevels(levels, firsts, 1, true).encoding.kind, Kind::kRle);
  EXPECT_EQ(EncodeLevels(levels, firsts, 1, false).encoding.kind, Kind::kOutOfLineBitpacking);
  ExpectBack(levels, firsts, 1, true);
  ExpectBack(levels, firsts, 1, false);
}

}  // namespace
}  // namespace kinjo::format::file
