#include "join/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kinjo::join {
namespace {

using ::testing::HasSubstr;

const char* const kPath = "out/_kinjo.journal";

std::vector<std::string> Lines() {
  return {HeaderLine({.part_rows = 100,
                      .format = "parquet",
                      .run = {{"left uri", "/data/a \"b\"\n.csv"}, {"k", "10"}}}),
          PartLine(0, {"part-00000.parquet", 1000, 4321}),
          PartLine(1, {"part-00001.parquet", 0, 99}), EndLine(2, 150)};
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

TEST(Journal, ReadsBackWhatWasWritten) {
  const std::string text = Joined(Lines());
  const Journal journal = ReadJournal(text, kPath).ValueOrDie();
  ASSERT_TRUE(journal.header.has_value());
  EXPECT_EQ(journal.header->part_rows, 100);
  EXPECT_EQ(journal.header->format, "parquet");
  const std::vector<tabular::Trait> run = {{"left uri", "/data/a \"b\"\n.csv"}, {"k", "10"}};
  EXPECT_EQ(journal.header->run, run);
  ASSERT_EQ(journal.parts.size(), 2u);
  EXPECT_EQ(journal.parts[0].file, "part-00000.parquet");
  EXPECT_EQ(journal.parts[0].rows, 1000);
  EXPECT_EQ(journal.parts[0].bytes, 4321);
  EXPECT_EQ(journal.left_rows, 150);
  EXPECT_EQ(journal.whole_bytes, static_cast<int64_t>(text.size()));
}

TEST(Journal, ACutAnywhereLeavesTheWholeLinesBefore) {
  const std::vector<std::string> lines = Lines();
  const std::string text = Joined(lines);
  for (size_t bytes = 0; bytes <= text.size(); ++bytes) {
    size_t whole = 0;
    size_t end = 0;
    for (; whole < lines.size() && end + lines[whole].size() <= bytes; ++whole) {
      end += lines[whole].size();
    }
    const Journal journal = ReadJournal(text.substr(0, bytes), kPath).ValueOrDie();
    EXPECT_EQ(journal.header.has_value(), whole > 0) << bytes;
    EXPECT_EQ(journal.parts.size(), whole < 2 ? 0 : std::min<size_t>(whole - 1, 2)) << bytes;
    EXPECT_EQ(journal.left_rows.has_value(), whole == 4) << bytes;
    EXPECT_EQ(journal.whole_bytes, static_cast<int64_t>(end)) << bytes;
  }
}

TEST(Journal, ADamagedByteIsFoundOut) {
  const std::vector<std::string> lines = Lines();
  const size_t last = Joined({lines[0], lines[1], lines[2]}).size();
  const std::string text = Joined(lines);
  for (size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const auto journal = ReadJournal(damaged, kPath);
    if (at + 1 >= last) {  // as torn as a line that ends early; the newline before joins two
      ASSERT_TRUE(journal.ok()) << at << journal.status();
      EXPECT_FALSE(journal->left_rows.has_value()) << at;
      EXPECT_EQ(journal->parts.size(), at < last ? 1u : 2u) << at;
      continue;
    }
    EXPECT_EQ(base::CodeOf(journal.status()), base::ErrorCode::kCorrupt) << at;
  }
}

TEST(Journal, LinesMustFollowFromOneAnother) {
  const std::vector<std::string> lines = Lines();
  const std::vector<std::vector<std::string>> wrong = {
      {lines[1]},
      {lines[0], lines[0]},
      {lines[0], lines[2]},
      {lines[0], lines[1], lines[1]},
      {lines[0], lines[1], lines[3]},
      {lines[0], lines[1], lines[2], lines[3], lines[3]},
      {lines[0], PartLine(0, {"part-00000.csv", 1, 1})},
  };
  for (const auto& sequence : wrong) {
    const auto status = ReadJournal(Joined(sequence), kPath).status();
    EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCorrupt) << Joined(sequence);
    EXPECT_THAT(status.message(), HasSubstr("doesn't follow"));
  }
}

TEST(Journal, NamesOfPartsSortInTheirOrder) {
  EXPECT_EQ(PartName(0, "parquet"), "part-00000.parquet");
  EXPECT_EQ(PartName(kPartsMax - 1, "csv"), "part-99999.csv");
  EXPECT_LT(PartName(9, "csv"), PartName(10, "csv"));
}

}  // namespace
}  // namespace kinjo::join
