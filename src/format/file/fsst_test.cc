#include "format/file/fsst.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kinjo::format::file {
namespace {

// A table of the symbols; the header has bit 24 set when values are compressed.
std::string Table(const std::vector<std::string>& symbols, bool compressed) {
  std::string table(2312, '\0');
  table[0] = static_cast<char>(symbols.size());
  table[3] = compressed ? 1 : 0;
  table.replace(4, 4, "TSSF");
  for (size_t i = 0; i < symbols.size(); ++i) {
    table.replace(8 + i * 8, symbols[i].size(), symbols[i]);
    table[8 + symbols.size() * 8 + i] = static_cast<char>(symbols[i].size());
  }
  return table;
}

std::string Decode(const FsstDecoder& decoder, const std::string& codes, bool* ok) {
  std::string out(codes.size() * FsstDecoder::kMaxExpansion + FsstDecoder::kSlack, '\0');
  size_t length = 0;
  *ok = decoder.Decode({reinterpret_cast<const uint8_t*>(codes.data()), codes.size()},
                       reinterpret_cast<uint8_t*>(out.data()), &length);
  out.resize(*ok ? length : 0);
  return out;
}

TEST(FsstTest, ReplacesCodesAndEscapes) {
  FsstDecoder decoder;
  ASSERT_TRUE(decoder.Load(Table({"near", "est ", "12345678"}, true)));
  bool ok = false;
  EXPECT_EQ(Decode(decoder, std::string("\0\1\2\xFF!\xFF\xFF", 7), &ok), "nearest 12345678!\xFF");
  EXPECT_TRUE(ok);
  EXPECT_EQ(Decode(decoder, "", &ok), "");
  EXPECT_TRUE(ok);
}

TEST(FsstTest, LeavesValuesOfAnUncompressedTable) {
  FsstDecoder decoder;
  ASSERT_TRUE(decoder.Load(Table({"near"}, false)));
  bool ok = false;
  EXPECT_EQ(Decode(decoder, std::string("\0plain", 6), &ok), std::string("\0plain", 6));
}

TEST(FsstTest, RefusesWhatIsNoTableAndNoCode) {
  FsstDecoder decoder;
  EXPECT_FALSE(decoder.Load("short"));
  std::string table = Table({"near"}, true);
  EXPECT_FALSE(decoder.Load(std::string_view(table).substr(0, 16)));
  table[4] = 'X';
  EXPECT_FALSE(decoder.Load(table));
  ASSERT_TRUE(decoder.Load(Table({"near"}, true)));
  bool ok = true;
  Decode(decoder, "\x05", &ok);  // no such symbol
  EXPECT_FALSE(ok);
  Decode(decoder, std::string("\0\xFF", 2), &ok);  // ends after an escape
  EXPECT_FALSE(ok);
}

}  // namespace
}  // namespace kinjo::format::file
