#include "format/table/row_id_sequence.h"

#include <limits>
#include <string>
#include <vector>

#include "format/table/synthetic_manifest.h"
#include "gtest/gtest.h"

namespace kinjo::format {
namespace {

using synthetic::LittleEndian;
using synthetic::Message;

Message Range(uint64_t start, uint64_t end) { return Message().Number(1, start).Number(2, end); }

Message Array(uint32_t kind, uint64_t base, const std::vector<uint64_t>& offsets) {
  const size_t bytes = kind == 1 ? 2 : kind == 2 ? 4 : 8;
  std::string values;
  for (const uint64_t offset : offsets) values += LittleEndian(offset, bytes);
  Message array = Message().Bytes(2, values);
  if (kind != 3) array.Number(1, base);
  return Message().Sub(kind, array);
}

std::string Sequence(const std::vector<Message>& segments) {
  Message sequence;
  for (const Message& segment : segments) sequence.Sub(1, segment);
  return sequence.text();
}

arrow::Result<RowIdSequence> Parse(const std::vector<Message>& segments, uint64_t rows) {
  return RowIdSequence::Parse(Sequence(segments), rows, "manifest");
}

std::vector<uint64_t> FromRuns(const RowIdSequence& sequence) {
  std::vector<uint64_t> ids;
  sequence.ForEachRun([&](const RowIdSequence::Run& run) {
    EXPECT_EQ(run.first_position, ids.size());
    EXPECT_GT(run.length, 0u);
    for (uint64_t i = 0; i < run.length; ++i) ids.push_back(run.first_id + i);
  });
  return ids;
}

void ExpectIds(const std::vector<Message>& segments, const std::vector<uint64_t>& expected) {
  const RowIdSequence sequence = Parse(segments, expected.size()).ValueOrDie();
  EXPECT_EQ(sequence.size(), expected.size());
  std::vector<uint64_t> ids;
  for (uint64_t i = 0; i < sequence.size(); ++i) ids.push_back(sequence.Get(i));
  EXPECT_EQ(ids, expected);
  EXPECT_EQ(FromRuns(sequence), expected);
}

void ExpectCorrupt(const std::vector<Message>& segments, uint64_t rows) {
  EXPECT_EQ(base::CodeOf(Parse(segments, rows).status()), base::ErrorCode::kCorrupt);
}

TEST(RowIdSequenceTest, ReadsEveryKindOfSegment) {
  ExpectIds({Message().Sub(1, Range(5, 9))}, {5, 6, 7, 8});
  ExpectIds({Message().Sub(2, Range(5, 12).Sub(3, Array(1, 5, {0, 1, 4, 6})))}, {7, 8, 10});
  ExpectIds({Message().Sub(2, Range(5, 8).Sub(3, Array(2, 0, {})))}, {5, 6, 7});
  ExpectIds({Message().Sub(3, Range(10, 41).Bytes(3, std::string("\x01\x04\x10\x40", 4)))},
            {10, 20, 30, 40});
  ExpectIds({Message().Sub(4, Array(1, 1000, {1, 2, 9}))}, {1001, 1002, 1009});
  ExpectIds({Message().Sub(5, Array(2, 7, {70'000, 3, 4}))}, {70'007, 10, 11});
  ExpectIds({Message().Sub(5, Array(3, 0, {uint64_t{1} << 50, 1}))}, {uint64_t{1} << 50, 1});
}

TEST(RowIdSequenceTest, JoinsSegments) {
  ExpectIds({Message().Sub(1, Range(100, 102)), Message().Sub(5, Array(1, 0, {7, 3})),
             Message().Sub(1, Range(4, 4)), Message().Sub(1, Range(8, 10))},
            {100, 101, 7, 3, 8, 9});
  ExpectIds({}, {});
}

TEST(RowIdSequenceTest, ALongRangeCostsNothing) {
  const uint64_t rows = uint64_t{1} << 32;
  const RowIdSequence sequence = Parse({Message().Sub(1, Range(3, 3 + rows))}, rows).ValueOrDie();
  EXPECT_EQ(sequence.Get(rows - 1), rows + 2);
}

TEST(RowIdSequenceTest, RefusesCountsThatDisagree) {
  ExpectCorrupt({Message().Sub(1, Range(0, 5))}, 4);
  ExpectCorrupt({Message().Sub(1, Range(0, 5))}, 6);
  ExpectCorrupt({}, 1);
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  ExpectCorrupt({Message().Sub(1, Range(0, most)), Message().Sub(1, Range(0, 6))}, 5);
}

TEST(RowIdSequenceTest, RefusesMalformedSegments) {
  ExpectCorrupt({Message()}, 0);
  ExpectCorrupt({Message().Number(1, 5)}, 0);
  ExpectCorrupt({Message().Sub(1, Range(5, 4))}, 0);
  ExpectCorrupt({Message().Sub(3, Range(0, 9).Bytes(3, "\xff"))}, 8);
  ExpectCorrupt({Message().Sub(4, Message().Sub(1, Message().Bytes(2, "abc")))}, 1);
  ExpectCorrupt({Message().Sub(2, Range(5, 9).Sub(3, Array(1, 0, {4})))}, 3);
  ExpectCorrupt({Message().Sub(2, Range(5, 9).Sub(3, Array(1, 0, {9})))}, 3);
  ExpectCorrupt({Message().Sub(2, Range(5, 9).Sub(3, Array(1, 0, {7, 6})))}, 2);
  ExpectCorrupt({Message().Sub(2, Range(5, 9).Sub(3, Array(1, 0, {6, 6})))}, 2);
}

}  // namespace
}  // namespace kinjo::format
