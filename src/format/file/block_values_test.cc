#include "format/file/block_values.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "arrow/util/compression.h"
#include "format/file/block_compression.h"
#include "format/file/mini_values.h"
#include "format/file/rle.h"

namespace kinjo::format::file {
namespace {

using Encoding = proto::CompressiveEncoding;
using Kind = Encoding::Kind;

const std::string& Path() {
  static const auto* path = new std::string("test.lance");
  return *path;
}
Where Here() { return Where{.path = &Path(), .offset = 64, .column = 2, .page = 1}; }

Encoding Flat(uint64_t bits) { return Encoding{.kind = Kind::kFlat, .bits = bits}; }

Encoding Node(Kind kind, uint64_t bits, std::vector<Encoding> children) {
  Encoding node{.kind = kind, .bits = bits};
  node.children = std::move(children);
  return node;
}

template <typename T>
std::vector<uint8_t> ToVector(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<uint16_t> Levels(const ValueBlock& block) {
  std::vector<uint16_t> out(block.num_values);
  std::memcpy(out.data(), block.values, out.size() * 2);
  return out;
}

TEST(BlockValuesTest, RunsMayWrapAt65536OnlyWhereAllowed) {
  const std::vector<uint16_t> values{3, 0};
  const std::vector<uint32_t> lengths{2, 65536 + 1};
  const auto value_bytes = ToVector(values);
  const auto length_bytes = ToVector(lengths);
  const Runs runs{value_bytes, 2, length_bytes, 4};
  Scratch scratch;
  EXPECT_FALSE(ExpandRuns(runs, 3, false, Here(), &scratch).ok());
  ASSERT_TRUE(ExpandRuns(runs, 3, true, Here(), &scratch).ok());
  EXPECT_FALSE(ExpandRuns(runs, 4, true, Here(), &scratch).ok());
}

// Honest runs of a small file may add up to more than any machine has.
TEST(BlockValuesTest, RunsBeyondTheBoundAreRefused) {
  const std::vector<uint32_t> lengths(5000, 1 << 20);
  const std::vector<uint8_t> values(lengths.size(), 7);
  const auto length_bytes = ToVector(lengths);
  Scratch scratch;
  const auto out =
      ExpandRuns({values, 1, length_bytes, 4}, uint64_t{5000} << 20, false, Here(), &scratch);
  EXPECT_EQ(base::CodeOf(out.status()), base::ErrorCode::kCapacity);
  EXPECT_EQ(scratch.taken_bytes(), 0u);
}

TEST(ScratchTest, WhatIsTakenTogetherHasABound) {
  Scratch scratch;
  ASSERT_TRUE(scratch.Take(100, Here()).ok());
  const auto rest = scratch.Take(Scratch::kMostBytes - 99, Here());
  EXPECT_EQ(base::CodeOf(rest.status()), base::ErrorCode::kCapacity);
  EXPECT_FALSE(scratch.Take(UINT64_MAX, Here()).ok());
  EXPECT_EQ(scratch.taken_bytes(), 100u);
  uint8_t* again = scratch.Take(50, Here()).ValueOrDie();
  scratch.Reset();
  EXPECT_EQ(scratch.taken_bytes(), 0u);
  EXPECT_NE(scratch.Take(80, Here()).ValueOrDie(), again);
}

// What the runs can't fill must not be asked of the system either.
TEST(BlockValuesTest, AClaimThatRunsDontFillIsNotAllocated) {
  constexpr uint64_t kRuns = 1 << 12;
  constexpr uint32_t kWidth = 512;
  const std::vector<uint8_t> values(kRuns * kWidth);
  const std::vector<uint8_t> lengths(kRuns, 255);
  Scratch scratch;
  const Runs runs{values, kWidth, lengths, 1};
  const arrow::Status status =
      ExpandRuns(runs, kRuns << 20, false, Here(), &scratch).status();  // 2 TiB
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCorrupt) << status.ToString();
}

TEST(BlockValuesTest, ReadsRunsOfLevels) {
  std::vector<uint8_t> buffer(8, 0);
  buffer[0] = 4;  // bytes of the values
  for (const uint8_t byte : {1, 0, 0, 0, 2, 3}) buffer.push_back(byte);
  Scratch scratch;
  ValueBlock block;
  const Encoding rle = Node(Kind::kRle, 0, {Flat(16), Flat(8)});
  ASSERT_TRUE(DecodeBlock(rle, buffer, 5, true, Here(), &scratch, &block).ok());
  EXPECT_EQ(Levels(block), (std::vector<uint16_t>{1, 1, 0, 0, 0}));
  buffer[0] = 200;
  EXPECT_FALSE(DecodeBlock(rle, buffer, 5, true, Here(), &scratch, &block).ok());
}

// 1024 + 3 levels of 1 bit: the tail is raw when the buffer has three words more than one block.
TEST(BlockValuesTest, TellsARawTailFromAPackedOne) {
  const Encoding packing = Node(Kind::kOutOfLineBitpacking, 16, {Flat(1)});
  std::vector<uint16_t> words(64, 0xFFFF);
  words.insert(words.end(), {1, 0, 1});
  Scratch scratch;
  ValueBlock block;
  ASSERT_TRUE(DecodeBlock(packing, ToVector(words), 1027, false, Here(), &scratch, &block).ok());
  auto levels = Levels(block);
  EXPECT_EQ(levels[1023], 1);
  EXPECT_EQ((std::vector<uint16_t>(levels.end() - 3, levels.end())),
            (std::vector<uint16_t>{1, 0, 1}));

  words.assign(128, 0xFFFF);  // two packed blocks
  ASSERT_TRUE(DecodeBlock(packing, ToVector(words), 1027, false, Here(), &scratch, &block).ok());
  levels = Levels(block);
  EXPECT_EQ(levels.back(), 1);
  words.resize(65);
  EXPECT_FALSE(DecodeBlock(packing, ToVector(words), 1027, false, Here(), &scratch, &block).ok());
}

TEST(BlockValuesTest, ReadsVariableDictionaries) {
  const Encoding variable = Node(Kind::kVariable, 0, {Flat(32)});
  std::vector<uint8_t> buffer = ToVector(std::vector<uint32_t>{32, 20, 0, 2, 5});
  for (const char c : {'a', 'b', 'c', 'd', 'e'}) buffer.push_back(static_cast<uint8_t>(c));
  Scratch scratch;
  ValueBlock block;
  ASSERT_TRUE(DecodeBlock(variable, buffer, 2, false, Here(), &scratch, &block).ok());
  EXPECT_EQ(block.offset(1), 2u);
  EXPECT_EQ(block.offset(2), 5u);
  EXPECT_EQ(block.bytes[2], 'c');
  buffer[12] = 9;  // offsets that fall
  EXPECT_FALSE(DecodeBlock(variable, buffer, 2, false, Here(), &scratch, &block).ok());
  buffer[12] = 2;
  EXPECT_FALSE(DecodeBlock(variable, buffer, 3, false, Here(), &scratch, &block).ok());
}

std::vector<uint8_t> Compressed(arrow::Compression::type type, const std::string& text,
                                size_t prefix) {
  auto codec = arrow::util::Codec::Create(type).ValueOrDie();
  const auto size = static_cast<int64_t>(text.size());
  const auto* data = reinterpret_cast<const uint8_t*>(text.data());
  std::vector<uint8_t> out(prefix + static_cast<size_t>(codec->MaxCompressedLen(size, data)));
  const int64_t written =
      codec->Compress(size, data, static_cast<int64_t>(out.size() - prefix), out.data() + prefix)
          .ValueOrDie();
  out.resize(prefix + static_cast<size_t>(written));
  const uint64_t length = text.size();
  std::memcpy(out.data(), &length, prefix);
  return out;
}

TEST(BlockCompressionTest, OpensBothFramingsAndABareFrame) {
  const std::string text(1000, 'k');
  Scratch scratch;
  const auto check = [&](proto::CompressionScheme scheme, const std::vector<uint8_t>& bytes) {
    const auto opened = Decompress(scheme, bytes, Here(), &scratch);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(std::string(opened->begin(), opened->end()), text);
  };
  check(proto::CompressionScheme::kLz4, Compressed(arrow::Compression::LZ4, text, 4));
  check(proto::CompressionScheme::kZstd, Compressed(arrow::Compression::ZSTD, text, 8));
  check(proto::CompressionScheme::kZstd, Compressed(arrow::Compression::ZSTD, text, 0));
}

TEST(BlockCompressionTest, DoesNotBelieveAClaimedSize) {
  auto bytes = Compressed(arrow::Compression::LZ4, std::string(1000, 'k'), 4);
  bytes[3] = 0x7F;  // 2 GB out of a few bytes
  Scratch scratch;
  const auto opened = Decompress(proto::CompressionScheme::kLz4, bytes, Here(), &scratch);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(base::CodeOf(opened.status()), base::ErrorCode::kCorrupt);
  bytes[3] = 0;
  bytes[0] += 1;  // one byte more than there is
  EXPECT_FALSE(Decompress(proto::CompressionScheme::kLz4, bytes, Here(), &scratch).ok());
}

TEST(MiniValuesTest, SplitsFixedSizeListsWithValidity) {
  Encoding list = Node(Kind::kFixedSizeList, 0, {Flat(16)});
  list.items_per_value = 2;
  list.has_validity = true;
  auto codec = MiniBlockCodec::Make(list, 2, Here());
  ASSERT_TRUE(codec.ok());
  const std::vector<uint8_t> validity{0b1011};
  const auto values = ToVector(std::vector<uint16_t>{1, 2, 3, 4});
  const std::vector<Bytes> buffers{validity, values};
  Scratch scratch;
  ValueBlock block;
  ASSERT_TRUE(codec->Decode(buffers, 2, Here(), &scratch, &block).ok());
  EXPECT_EQ(block.bits_per_value, 32u);
  ASSERT_EQ(block.item_validity.size(), 1u);
  EXPECT_FALSE(BitAt(block.item_validity[0].bits, 2));
  EXPECT_FALSE(codec->Decode(buffers, 3, Here(), &scratch, &block).ok());
  EXPECT_FALSE(MiniBlockCodec::Make(list, 1, Here()).ok());
}

TEST(MiniValuesTest, JoinsByteStreams) {
  const Encoding split = Node(Kind::kByteStreamSplit, 0, {Flat(32)});
  auto codec = MiniBlockCodec::Make(split, 1, Here());
  ASSERT_TRUE(codec.ok());
  const std::vector<uint8_t> streams{1, 2, 10, 20, 0, 0, 0, 1};
  const std::vector<Bytes> buffers{streams};
  Scratch scratch;
  ValueBlock block;
  ASSERT_TRUE(codec->Decode(buffers, 2, Here(), &scratch, &block).ok());
  EXPECT_EQ(Load<uint32_t>(block.values), 0x00000A01u);
  EXPECT_EQ(Load<uint32_t>(block.values + 4), 0x01001402u);
}

TEST(MiniValuesTest, NamesWhatItDoesNotRead) {
  const auto codec = MiniBlockCodec::Make(Encoding{.kind = Kind::kVariablePackedStruct}, 1, Here());
  ASSERT_FALSE(codec.ok());
  EXPECT_EQ(base::CodeOf(codec.status()), base::ErrorCode::kNotSupported);
  const std::string message = base::MessageOf(codec.status());
  EXPECT_NE(message.find("column 2"), std::string::npos) << message;
  EXPECT_NE(message.find("VariablePackedStruct"), std::string::npos) << message;
}

}  // namespace
}  // namespace kinjo::format::file
