#include "tabular/glob.h"

#include <string>

#include "gtest/gtest.h"

namespace kinjo::tabular {
namespace {

TEST(Glob, MatchesWithinOneSegment) {
  EXPECT_TRUE(GlobMatches("a.parquet", "a.parquet"));
  EXPECT_TRUE(GlobMatches("*.parquet", "part-0.parquet"));
  EXPECT_TRUE(GlobMatches("*", "x"));
  EXPECT_TRUE(GlobMatches("a*b*c", "axxbyyc"));
  EXPECT_TRUE(GlobMatches("a?c", "abc"));
  EXPECT_TRUE(GlobMatches("a?c", "aéc"));  // one character, two bytes
  EXPECT_FALSE(GlobMatches("*.parquet", "dir/part-0.parquet"));
  EXPECT_FALSE(GlobMatches("a?c", "ac"));
  EXPECT_FALSE(GlobMatches("a*b*c", "axxbyy"));
  EXPECT_FALSE(GlobMatches("", "x"));
}

TEST(Glob, MatchesClasses) {
  EXPECT_TRUE(GlobMatches("p[0-9].csv", "p7.csv"));
  EXPECT_FALSE(GlobMatches("p[0-9].csv", "px.csv"));
  EXPECT_TRUE(GlobMatches("p[!0-9].csv", "px.csv"));
  EXPECT_FALSE(GlobMatches("p[^0-9].csv", "p7.csv"));
  EXPECT_TRUE(GlobMatches("[abx-z]", "y"));
  EXPECT_TRUE(GlobMatches("[]]", "]"));
  EXPECT_TRUE(GlobMatches("[a-]", "-"));
  EXPECT_TRUE(GlobMatches("a[b", "a[b"));  // no class without its end
}

TEST(Glob, MatchesAcrossSegments) {
  EXPECT_TRUE(GlobMatches("year=*/*.parquet", "year=2024/x.parquet"));
  EXPECT_FALSE(GlobMatches("year=*/*.parquet", "year=2024/m/x.parquet"));
  EXPECT_TRUE(GlobMatches("**/*.parquet", "x.parquet"));
  EXPECT_TRUE(GlobMatches("**/*.parquet", "a/b/c/x.parquet"));
  EXPECT_TRUE(GlobMatches("a/**/z", "a/z"));
  EXPECT_TRUE(GlobMatches("a/**/z", "a/b/c/z"));
  EXPECT_FALSE(GlobMatches("a/**/z", "a/b/c/y"));
  EXPECT_TRUE(GlobMatches("a/**", "a/b/c"));
  EXPECT_FALSE(GlobMatches("a/b", "a"));
  EXPECT_FALSE(GlobMatches("a", "a/b"));
}

TEST(Glob, ManyStarsEndSoon) {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "*a";
  EXPECT_FALSE(GlobMatches(pattern + "b", std::string(200, 'a')));
}

TEST(Glob, TellsDepthAndWildcards) {
  EXPECT_EQ(GlobDepth("*.csv"), 1);
  EXPECT_EQ(GlobDepth("a/*/c"), 3);
  EXPECT_EQ(GlobDepth("a/**/c"), -1);
  EXPECT_TRUE(HasWildcard("a?"));
  EXPECT_FALSE(HasWildcard("a]b"));
}

}  // namespace
}  // namespace kinjo::tabular
