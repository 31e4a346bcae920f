#include "format/file/bitpacking.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace kinjo::format::file {
namespace {

// Packs by the definition, bit by bit.
template <typename T>
std::vector<T> Pack(const std::vector<T>& values, uint32_t width) {
  constexpr uint32_t kBits = sizeof(T) * 8;
  constexpr uint32_t kLanes = 1024 / kBits;
  constexpr uint32_t kOrder[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  std::vector<T> words(kLanes * width, 0);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t row = 0; row < kBits; ++row) {
      const T value = values[kOrder[row / 8] * 16 + (row % 8) * 128 + lane];
      for (uint32_t bit = 0; bit < width; ++bit) {
        const uint32_t position = row * width + bit;
        if ((value >> bit) & 1) {
          words[kLanes * (position / kBits) + lane] |= static_cast<T>(T{1} << (position % kBits));
        }
      }
    }
  }
  return words;
}

template <typename T>
std::vector<T> Ramp(uint32_t width) {
  std::vector<T> values(1024);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(width >= 64 ? i : i % (uint64_t{1} << width));
  }
  return values;
}

template <typename T>
std::vector<T> Unpack(const std::vector<T>& words, uint32_t width) {
  std::vector<T> out(1024);
  UnpackBlock(reinterpret_cast<const uint8_t*>(words.data()), sizeof(T) * 8, width,
              reinterpret_cast<uint8_t*>(out.data()));
  return out;
}

// The sums and first words of packed ramps, from a file that Lance wrote and its documentation.
TEST(BitpackingTest, KnowsThePackedFormOfRamps) {
  const auto packed32 = Pack(Ramp<uint32_t>(10), 10);
  EXPECT_EQ(packed32.size(), 320u);
  EXPECT_EQ((std::vector<uint32_t>(packed32.begin(), packed32.begin() + 4)),
            (std::vector<uint32_t>{0x10020000, 0x50120401, 0x90220802, 0xd0320c03}));
  EXPECT_EQ(packed32.back(), 0xfff7fbfe);
  EXPECT_EQ(std::accumulate(packed32.begin(), packed32.end(), uint32_t{0}), 3124749536u);
  EXPECT_EQ(Unpack(packed32, 10), Ramp<uint32_t>(10));

  const auto packed64 = Pack(Ramp<uint64_t>(10), 10);
  EXPECT_EQ(packed64[1], 0x1a06016050120401u);
  EXPECT_EQ(packed64.back(), 0xfff7fbfe7f7fd7f3u);
  EXPECT_EQ(std::accumulate(packed64.begin(), packed64.end(), uint64_t{0}), 17782001757975054544u);
  EXPECT_EQ(Unpack(packed64, 10), Ramp<uint64_t>(10));

  const auto packed16 = Pack(Ramp<uint16_t>(10), 10);
  EXPECT_EQ(packed16.size(), 640u);
  EXPECT_EQ(packed16[1], 0x0401);
  EXPECT_EQ(static_cast<uint16_t>(std::accumulate(packed16.begin(), packed16.end(), 0u)), 40576u);
  EXPECT_EQ(Unpack(packed16, 10), Ramp<uint16_t>(10));

  const auto packed8 = Pack(Ramp<uint8_t>(5), 5);
  EXPECT_EQ(packed8[1], 0x21);
  EXPECT_EQ(packed8.back(), 0xff);
  EXPECT_EQ(static_cast<uint8_t>(std::accumulate(packed8.begin(), packed8.end(), 0u)), 192u);
  EXPECT_EQ(Unpack(packed8, 5), Ramp<uint8_t>(5));
}

template <typename T>
void RoundTripAllWidths() {
  constexpr uint32_t kBits = sizeof(T) * 8;
  for (uint32_t width = 0; width <= kBits; ++width) {
    std::vector<T> values(1024);
    uint64_t state = width + 1;
    const T mask =
        width == kBits ? static_cast<T>(~T{0}) : static_cast<T>((uint64_t{1} << width) - 1);
    for (T& value : values) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      value = static_cast<T>(state >> (64 - kBits)) & mask;
    }
    auto packed = Pack(values, width);
    std::vector<T> ours(packed.size());
    PackBlock(reinterpret_cast<const uint8_t*>(values.data()), kBits, width,
              reinterpret_cast<uint8_t*>(ours.data()));
    EXPECT_EQ(ours, packed) << kBits << " bits, width " << width;
    packed.resize(packed.size() + 1);  // a block of width 0 still has an address
    EXPECT_EQ(Unpack(packed, width), values) << kBits << " bits, width " << width;
  }
}

TEST(BitpackingTest, PacksAndUnpacksEveryWidth) {
  RoundTripAllWidths<uint8_t>();
  RoundTripAllWidths<uint16_t>();
  RoundTripAllWidths<uint32_t>();
  RoundTripAllWidths<uint64_t>();
}

}  // namespace
}  // namespace kinjo::format::file
