#include "tabular/display_width.h"

#include "gtest/gtest.h"

namespace kinjo::tabular {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("word"), 4);
  EXPECT_EQ(DisplayWidth("é"), 1);
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1);  // e and a combining acute
  EXPECT_EQ(DisplayWidth("近所"), 4);
  EXPECT_EQ(DisplayWidth("한국"), 4);
  EXPECT_EQ(DisplayWidth("🐈"), 2);
  EXPECT_EQ(DisplayWidth("\xFF\xFE"), 2);   // not UTF-8: a column a byte
  EXPECT_EQ(DisplayWidth("a\xE8\xBF"), 3);  // a character cut short
}

TEST(DisplayWidth, FitsAndCuts) {
  EXPECT_EQ(FitToLine("word", 4), "word");
  EXPECT_EQ(FitToLine("words", 4), "wor…");
  EXPECT_EQ(FitToLine("近所近所", 8), "近所近所");
  EXPECT_EQ(FitToLine("近所近所近", 8), "近所近…");  // 6 columns and the ellipsis: 8 doesn't divide
  EXPECT_EQ(FitToLine("", 4), "");
  EXPECT_EQ(FitToLine("abc", 1), "…");
  for (int64_t width = 1; width < 30; ++width) {
    EXPECT_LE(DisplayWidth(FitToLine("mixed 近所 text é 🐈 and more", width)), width);
  }
}

TEST(DisplayWidth, NothingCommandsTheTerminal) {
  EXPECT_EQ(FitToLine("a\nb\tc", 9), "a b c");
  EXPECT_EQ(FitToLine("\x1B[31mred", 9), "\xEF\xBF\xBD[31mred");
  EXPECT_EQ(FitToLine("\x7F", 9), "\xEF\xBF\xBD");
  EXPECT_EQ(FitToLine("\xC2\x9B"
                      "1m",
                      9),
            "\xEF\xBF\xBD"
            "1m");  // the one-byte CSI
  EXPECT_EQ(FitToLine("\xE2\x80\xAE"
                      "x",
                      9),
            "\xEF\xBF\xBD"
            "x");  // right-to-left override
  EXPECT_EQ(FitToLine("\xFF", 9), "\xEF\xBF\xBD");
  EXPECT_EQ(FitToLine("\xED\xA0\x80", 9), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
}

}  // namespace
}  // namespace kinjo::tabular
