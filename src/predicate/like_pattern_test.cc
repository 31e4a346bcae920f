// What a backslash and an escape character make of a pattern.
#include "predicate/like_pattern.h"

#include "gtest/gtest.h"

namespace kinjo::predicate {
namespace {

TEST(LikePatternTest, BackslashEscapesOnlyWhatIsSpecial) {
  EXPECT_EQ(CanonicalLikePattern("a%_", std::nullopt), "a%_");
  EXPECT_EQ(CanonicalLikePattern(R"(\%\_\\)", std::nullopt), R"(\%\_\\)");
  EXPECT_EQ(CanonicalLikePattern(R"(a\b)", std::nullopt), R"(a\\b)");
  EXPECT_EQ(CanonicalLikePattern(R"(a\)", std::nullopt), R"(a\\)");
}

TEST(LikePatternTest, AnEscapeCharacterTakesWhatFollows) {
  EXPECT_EQ(CanonicalLikePattern("a!%!!!b%", "!"), R"(a\%!b%)");
  EXPECT_EQ(CanonicalLikePattern(R"(a\%)", "!"), R"(a\\%)");
  EXPECT_EQ(CanonicalLikePattern("é_é%", "é"), R"(\_\%)");
  EXPECT_EQ(CanonicalLikePattern("%%", "%"), R"(\%)");
  EXPECT_EQ(CanonicalLikePattern("a!", "!"), std::nullopt);
}

}  // namespace
}  // namespace kinjo::predicate
