// Tokens, their positions in characters, and what is refused.
#include "predicate/lexer.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::predicate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Texts(const std::string& text) {
  std::vector<std::string> texts;
  for (const Token& token : Tokenize(text).ValueOrDie()) texts.push_back(token.text);
  texts.pop_back();
  return texts;
}

std::string ErrorOf(const std::string& text) { return base::MessageOf(Tokenize(text).status()); }

TEST(LexerTest, OperatorsAreLongestFirst) {
  EXPECT_THAT(Texts("a<=b<>c!=d==e::f||g"),
              ElementsAre("a", "<=", "b", "<>", "c", "!=", "d", "==", "e", "::", "f", "||", "g"));
  EXPECT_THAT(Texts("a- -b"), ElementsAre("a", "-", "-", "b"));
}

TEST(LexerTest, QuotesAreDoubledInsideQuotes) {
  const auto tokens = Tokenize(R"('it''s' `a``b` "c""d")").ValueOrDie();
  EXPECT_EQ(tokens[0].text, "it's");
  EXPECT_EQ(tokens[0].kind, TokenKind::kString);
  EXPECT_EQ(tokens[1].text, "a`b");
  EXPECT_EQ(tokens[1].kind, TokenKind::kQuoted);
  EXPECT_EQ(tokens[2].text, "c\"d");
  EXPECT_EQ(tokens[2].kind, TokenKind::kQuoted);
  EXPECT_EQ(Tokenize("''").ValueOrDie()[0].text, "");
}

TEST(LexerTest, Numbers) {
  EXPECT_THAT(Texts("1 1.5 .5 5. 1e3 1.5E-3"),
              ElementsAre("1", "1.5", ".5", "5.", "1e3", "1.5E-3"));
  EXPECT_THAT(ErrorOf("1abc"), HasSubstr("character 2: expected the end of the number 1"));
  EXPECT_THAT(ErrorOf("0x1F"), HasSubstr("found x1F"));
  EXPECT_THAT(ErrorOf("1e"), HasSubstr("found e"));
}

TEST(LexerTest, BytesInHex) {
  const auto tokens = Tokenize("x'00fF'").ValueOrDie();
  EXPECT_EQ(tokens[0].kind, TokenKind::kBytes);
  EXPECT_EQ(tokens[0].text, std::string("\0\xff", 2));
  EXPECT_THAT(ErrorOf("X'0'"), HasSubstr("odd number"));
  EXPECT_THAT(ErrorOf("X'0g'"), HasSubstr("hex digits"));
}

TEST(LexerTest, PositionsCountCharactersNotBytes) {
  const auto tokens = Tokenize("'日本' = é1 ").ValueOrDie();
  EXPECT_EQ(tokens[0].position, 1);
  EXPECT_EQ(tokens[1].position, 6);
  EXPECT_EQ(tokens[2].position, 8);
  EXPECT_EQ(tokens[2].text, "é1");
  EXPECT_EQ(tokens[3].kind, TokenKind::kEnd);
  EXPECT_EQ(tokens[3].position, 11);
}

TEST(LexerTest, WhatHasNoEndIsRefusedWhereItStarts) {
  EXPECT_THAT(ErrorOf("a = 'abc"), HasSubstr("character 5: expected ' at the end of the string"));
  EXPECT_THAT(ErrorOf("`abc"), HasSubstr("character 1: expected `"));
  EXPECT_THAT(ErrorOf("a = 'abc''"), HasSubstr("character 5"));
  EXPECT_THAT(ErrorOf("``"), HasSubstr("expected a name"));
}

TEST(LexerTest, NoCommentsAndNoStrangers) {
  EXPECT_THAT(ErrorOf("a = 1 -- b"), HasSubstr("character 7: a predicate has no comments"));
  EXPECT_THAT(ErrorOf("/* a */"), HasSubstr("no comments"));
  EXPECT_THAT(ErrorOf("a ~ b"), HasSubstr("character 3: expected a name, a value or an operator"));
}

TEST(LexerTest, TextIsUtf8AndBounded) {
  EXPECT_THAT(ErrorOf("a = '\xff'"), HasSubstr("not UTF-8"));
  EXPECT_THAT(ErrorOf(std::string(kMaximumTextBytes + 1, ' ')), HasSubstr("has at most"));
  EXPECT_TRUE(Tokenize(std::string(1000, ' ')).ok());
}

TEST(LexerTest, LongTokensAreCutInMessages) {
  const Token token{TokenKind::kString, std::string(39, 'a') + "éééé", 1};
  EXPECT_EQ(Describe(token), base::Concat("'", std::string(39, 'a'), "é…'"));
}

}  // namespace
}  // namespace kinjo::predicate
