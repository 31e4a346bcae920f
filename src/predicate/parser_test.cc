// Precedence, the forms of each operator, and what is said where the grammar ends.
#include "predicate/parser.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::predicate {
namespace {

using ::testing::HasSubstr;

const char* OperatorName(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::kAnd:
      return "and";
    case ExpressionKind::kOr:
      return "or";
    case ExpressionKind::kNot:
      return "not";
    case ExpressionKind::kEqual:
      return "=";
    case ExpressionKind::kLess:
      return "<";
    case ExpressionKind::kAdd:
      return "+";
    case ExpressionKind::kSubtract:
      return "-";
    case ExpressionKind::kMultiply:
      return "*";
    case ExpressionKind::kNegate:
      return "neg";
    case ExpressionKind::kIsNull:
      return "null?";
    case ExpressionKind::kIsTrue:
      return "true?";
    case ExpressionKind::kLike:
      return "like";
    case ExpressionKind::kIlike:
      return "ilike";
    default:
      return "?";
  }
}

std::string Head(const SyntaxNode& node) {
  switch (node.kind) {
    case SyntaxKind::kOperator:
      return OperatorName(node.operation);
    case SyntaxKind::kLike:
      return OperatorName(node.operation);
    case SyntaxKind::kIn:
      return "in";
    case SyntaxKind::kBetween:
      return "between";
    case SyntaxKind::kDistinct:
      return "distinct";
    case SyntaxKind::kCast:
      return base::Concat("cast:", node.type->ToString());
    case SyntaxKind::kTyped:
      return node.type->ToString() + ":" + node.text;
    case SyntaxKind::kConcat:
      return "||";
    case SyntaxKind::kList:
      return "list";
    case SyntaxKind::kTrue:
      return "true";
    case SyntaxKind::kNull:
      return "null";
    default:
      break;
  }
  std::string text = node.text;
  for (const SyntaxName& name : node.names)
    text += base::Concat(text.empty() ? "" : ".", name.quoted ? "\"" : "", name.text,
                         name.quoted ? "\"" : "");
  return node.kind == SyntaxKind::kField ? base::Concat(".", text) : text;
}

/// (head child child ...), or the head alone.
std::string Show(const SyntaxNode& node) {
  if (node.children.empty() && node.kind != SyntaxKind::kCall) return Head(node);
  std::string text = base::Concat("(", Head(node));
  for (const SyntaxTree& child : node.children) text += base::Concat(" ", Show(*child));
  return text + ")";
}

std::string Parsed(const std::string& text) {
  const auto tree = ParseSyntax(text);
  return tree.ok() ? Show(**tree) : base::MessageOf(tree.status());
}

TEST(ParserTest, OperatorsBindAsInSql) {
  EXPECT_EQ(Parsed("a or b and not c = 1 + 2 * -d"),
            "(or a (and b (not (= c (+ 1 (* 2 (neg d)))))))");
  EXPECT_EQ(Parsed("a - b - c"), "(- (- a b) c)");
  EXPECT_EQ(Parsed("(a or b) and c"), "(and (or a b) c)");
  EXPECT_EQ(Parsed("not a and b"), "(and (not a) b)");
  EXPECT_EQ(Parsed("not not a"), "(not (not a))");
  EXPECT_EQ(Parsed("a = b is null"), "(null? (= a b))");
  EXPECT_EQ(Parsed("a || b = c"), "(= (|| a b) c)");
  EXPECT_EQ(Parsed("a = b = c"), "(= (= a b) c)");
}

TEST(ParserTest, AndAndOrOfManyAreOneNode) {
  EXPECT_EQ(Parsed("a and b and c and d"), "(and a b c d)");
  EXPECT_EQ(Parsed("a or (b or c) or d"), "(or a b c d)");
  EXPECT_EQ(Parsed("a and (b or c)"), "(and a (or b c))");
}

TEST(ParserTest, WordsInAnyCase) {
  EXPECT_EQ(Parsed("A Is NoT nUlL aND TRUE"), "(and (not (null? A)) true)");
}

TEST(ParserTest, Is) {
  EXPECT_EQ(Parsed("a is unknown"), "(null? a)");
  EXPECT_EQ(Parsed("a is not true"), "(not (true? a))");
  EXPECT_EQ(Parsed("a is distinct from b + 1"), "(distinct a (+ b 1))");
  EXPECT_EQ(Parsed("a is not distinct from null"), "(not (distinct a null))");
}

TEST(ParserTest, ListsRangesAndPatterns) {
  EXPECT_EQ(Parsed("a in (1, b + 1)"), "(in a 1 (+ b 1))");
  EXPECT_EQ(Parsed("a not in ('x')"), "(not (in a x))");
  EXPECT_EQ(Parsed("a between 1 and 2 and b"), "(and (between a 1 2) b)");
  EXPECT_EQ(Parsed("a not between 1 and 2"), "(not (between a 1 2))");
  EXPECT_EQ(Parsed("a like 'x%'"), "(like a x%)");
  EXPECT_EQ(Parsed("a not ilike 'x' escape '!'"), "(not (ilike a x))");
}

TEST(ParserTest, SignsGoIntoNumbers) {
  EXPECT_EQ(Parsed("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Parsed("- -1"), "(neg -1)");
  EXPECT_EQ(Parsed("+1"), "1");
  EXPECT_EQ(Parsed("2-1"), "(- 2 1)");
  EXPECT_EQ(Parsed("-(1)"), "-1");
}

TEST(ParserTest, NamesAndFields) {
  EXPECT_EQ(Parsed("a.b.\"c d\".`e`"), "a.b.\"c d\".\"e\"");
  EXPECT_EQ(Parsed("a['b'].c"), "(.c (.\"b\" a))");
  EXPECT_EQ(Parsed("date"), "date");
  EXPECT_EQ(Parsed("a.null"), "a.null");
}

TEST(ParserTest, TypedLiteralsCastsAndCalls) {
  EXPECT_EQ(Parsed("date '2024-01-01'"), "date32[day]:2024-01-01");
  EXPECT_EQ(Parsed("cast(a as decimal(5, 2))"), "(cast:decimal128(5, 2) a)");
  EXPECT_EQ(Parsed("-a::int unsigned"), "(neg (cast:uint32 a))");
  EXPECT_EQ(Parsed("a::timestamp(3) with time zone"), "(cast:timestamp[ms, tz=UTC] a)");
  EXPECT_EQ(Parsed("a::double precision"), "(cast:double a)");
  EXPECT_EQ(Parsed("F(a, [1, 2])"), "(f a (list 1 2))");
  EXPECT_EQ(Parsed("f()"), "(f)");
}

TEST(ParserTest, ErrorsSayWhereAndWhatWasExpected) {
  EXPECT_THAT(Parsed(""), HasSubstr("character 1: expected a value, found the end"));
  EXPECT_THAT(Parsed("a = "), HasSubstr("character 5: expected a value, found the end"));
  EXPECT_THAT(Parsed("a b"), HasSubstr("character 3: expected an operator or the end, found b"));
  EXPECT_THAT(Parsed("a and or b"), HasSubstr("character 7: expected a value, found or"));
  EXPECT_THAT(Parsed("(a"), HasSubstr("expected ) for the ( at character 1, found the end"));
  EXPECT_THAT(Parsed("a)"), HasSubstr("character 2: expected an operator or the end, found )"));
  EXPECT_THAT(Parsed("a in 1"), HasSubstr("character 6: expected ( and a list of values"));
  EXPECT_THAT(Parsed("a in ()"), HasSubstr("character 7: expected a value, found )"));
  EXPECT_THAT(Parsed("a between 1"), HasSubstr("expected AND and the upper end"));
  EXPECT_THAT(Parsed("a not b"), HasSubstr("expected IN, BETWEEN, LIKE or ILIKE after NOT"));
  EXPECT_THAT(Parsed("a is b"), HasSubstr("expected NULL, TRUE"));
  EXPECT_THAT(Parsed("a is distinct b"), HasSubstr("expected FROM"));
  EXPECT_THAT(Parsed("a like 'x' escape y"), HasSubstr("expected one character in quotes"));
  EXPECT_THAT(Parsed("cast(a int)"), HasSubstr("character 8: expected AS and a type"));
  EXPECT_THAT(Parsed("a::foo"), HasSubstr("character 4: expected the name of a type"));
  EXPECT_THAT(Parsed("a::decimal(x)"), HasSubstr("expected a whole number"));
  EXPECT_THAT(Parsed("a::decimal(99)"), HasSubstr("precision from 1 to 76"));
  EXPECT_THAT(Parsed("a."), HasSubstr("expected a name after the point"));
  EXPECT_THAT(Parsed("a[1]"), HasSubstr("expected the name of a field in quotes"));
  EXPECT_THAT(Parsed("f(a"), HasSubstr("expected , or ) for the ( at character 2"));
}

TEST(ParserTest, DepthIsBounded) {
  const auto repeat = [](const std::string& text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  const int many = 100'000;
  EXPECT_THAT(Parsed(repeat("(", many)), HasSubstr("nested more than 200 levels deep"));
  EXPECT_THAT(Parsed(base::Concat(repeat("not ", many), "a")), HasSubstr("nested more than"));
  EXPECT_THAT(Parsed(base::Concat(repeat("- ", many), "a")), HasSubstr("nested more than"));
  EXPECT_THAT(Parsed(base::Concat("a", repeat("+a", many))), HasSubstr("nested more than"));
  EXPECT_THAT(Parsed(base::Concat("a", repeat("::int", many))), HasSubstr("nested more than"));
  EXPECT_THAT(Parsed(base::Concat("a", repeat("['b']", many))), HasSubstr("nested more than"));
  EXPECT_THAT(Parsed(repeat("f(", many)), HasSubstr("nested more than"));
  EXPECT_THAT(Parsed(base::Concat(repeat("(", 150), "a", repeat(")", 150))), "a");
  EXPECT_TRUE(ParseSyntax(base::Concat("a", repeat(" or a", many))).ok());
}

}  // namespace
}  // namespace kinjo::predicate
