#include "predicate/parser.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "predicate/lexer.h"
#include "predicate/position_error.h"
#include "predicate/type_name.h"

namespace kinjo::predicate {

namespace {

/// How tightly operators bind, the loosest first.
enum Power : int {
  kPowerNone,
  kPowerOr,
  kPowerAnd,
  kPowerNot,
  kPowerIs,
  kPowerCompare,  ///< also IN, BETWEEN, LIKE
  kPowerConcat,
  kPowerAdd,
  kPowerMultiply,
  kPowerSign,
  kPowerCast,
};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

const std::set<std::string>& Reserved() {
  static const std::set<std::string> words = {"and",  "or",   "not",     "in",
                                              "is",   "like", "between", "escape",
                                              "null", "true", "false",   "ilike"};
  return words;
}

struct BinaryOperator {
  Power power;
  ExpressionKind kind;
};

const std::map<std::string, BinaryOperator>& SymbolOperators() {
  static const std::map<std::string, BinaryOperator> operators = {
      {"=", {kPowerCompare, ExpressionKind::kEqual}},
      {"==", {kPowerCompare, ExpressionKind::kEqual}},
      {"!=", {kPowerCompare, ExpressionKind::kNotEqual}},
      {"<>", {kPowerCompare, ExpressionKind::kNotEqual}},
      {"<", {kPowerCompare, ExpressionKind::kLess}},
      {"<=", {kPowerCompare, ExpressionKind::kLessEqual}},
      {">", {kPowerCompare, ExpressionKind::kGreater}},
      {">=", {kPowerCompare, ExpressionKind::kGreaterEqual}},
      {"+", {kPowerAdd, ExpressionKind::kAdd}},
      {"-", {kPowerAdd, ExpressionKind::kSubtract}},
      {"*", {kPowerMultiply, ExpressionKind::kMultiply}},
      {"/", {kPowerMultiply, ExpressionKind::kDivide}},
      {"%", {kPowerMultiply, ExpressionKind::kModulo}},
  };
  return operators;
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  arrow::Result<SyntaxTree> Run() {
    ARROW_ASSIGN_OR_RAISE(SyntaxTree tree, Expression(kPowerNone));
    if (Peek().kind != TokenKind::kEnd) return Unexpected("an operator or the end");
    return tree;
  }

 private:
  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  const Token& Take() {
    const Token& token = Peek();
    if (next_ + 1 < tokens_.size()) ++next_;
    return token;
  }
  bool AtSymbol(const char* symbol, size_t ahead = 0) const {
    return Peek(ahead).kind == TokenKind::kSymbol && Peek(ahead).text == symbol;
  }
  bool AtWord(const char* word, size_t ahead = 0) const {
    return Peek(ahead).kind == TokenKind::kWord && Lower(Peek(ahead).text) == word;
  }
  bool TakeSymbol(const char* symbol) {
    if (!AtSymbol(symbol)) return false;
    Take();
    return true;
  }
  bool TakeWord(const char* word) {
    if (!AtWord(word)) return false;
    Take();
    return true;
  }
  arrow::Status Unexpected(const std::string& expected) const {
    return InvalidAt(Peek().position, "expected ", expected, ", found ", Describe(Peek()));
  }
  arrow::Status Expect(const char* symbol, const std::string& where) {
    if (TakeSymbol(symbol)) return arrow::Status::OK();
    return Unexpected(base::Concat(symbol, " ", where));
  }
  static arrow::Status TooDeep(int64_t position) {
    return InvalidAt(position, "nested more than ", kMaximumHeight, " levels deep");
  }

  static SyntaxTree Node(SyntaxKind kind, int64_t position) {
    auto node = std::make_unique<SyntaxNode>();
    node->kind = kind;
    node->position = position;
    return node;
  }

  /// Gives the node its children; refuses what has become too deep.
  static arrow::Result<SyntaxTree> Adopt(SyntaxTree node, std::vector<SyntaxTree> children) {
    for (SyntaxTree& child : children) {
      node->height = std::max(node->height, child->height + 1);
      node->children.push_back(std::move(child));
    }
    if (node->height > kMaximumHeight) return TooDeep(node->position);
    return node;
  }
  template <typename... Trees>
  static std::vector<SyntaxTree> Children(Trees... trees) {
    std::vector<SyntaxTree> children;
    (children.push_back(std::move(trees)), ...);
    return children;
  }
  static arrow::Result<SyntaxTree> Operator(ExpressionKind kind, int64_t position,
                                            std::vector<SyntaxTree> children) {
    SyntaxTree node = Node(SyntaxKind::kOperator, position);
    node->operation = kind;
    return Adopt(std::move(node), std::move(children));
  }
  static arrow::Result<SyntaxTree> NegatedIf(bool negated, SyntaxTree tree) {
    if (!negated) return tree;
    const int64_t position = tree->position;
    return Operator(ExpressionKind::kNot, position, Children(std::move(tree)));
  }

  /// Everything that binds more tightly than `power`.
  arrow::Result<SyntaxTree> Expression(int power) {
    if (depth_ == kMaximumHeight) return TooDeep(Peek().position);
    ++depth_;
    arrow::Result<SyntaxTree> left = Prefix();
    while (left.ok()) {
      const size_t before = next_;
      left = Infix(std::move(left).ValueUnsafe(), power);
      if (next_ == before) break;
    }
    --depth_;
    return left;
  }

  arrow::Result<SyntaxTree> Prefix() {
    const int64_t position = Peek().position;
    if (TakeWord("not")) {
      ARROW_ASSIGN_OR_RAISE(SyntaxTree input, Expression(kPowerNot - 1));
      return Operator(ExpressionKind::kNot, position, Children(std::move(input)));
    }
    if (AtSymbol("-") || AtSymbol("+")) return Signed();
    ARROW_ASSIGN_OR_RAISE(SyntaxTree value, Primary());
    return Fields(std::move(value));
  }

  arrow::Result<SyntaxTree> Signed() {
    const Token sign = Take();
    ARROW_ASSIGN_OR_RAISE(SyntaxTree input, Expression(kPowerSign));
    if (sign.text == "+") return input;
    if (input->kind == SyntaxKind::kNumber && input->text.front() != '-') {
      input->text.insert(0, 1, '-');
      return input;
    }
    return Operator(ExpressionKind::kNegate, sign.position, Children(std::move(input)));
  }

  arrow::Result<SyntaxTree> Primary() {
    const int64_t position = Peek().position;
    switch (Peek().kind) {
      case TokenKind::kNumber:
        return Literal(SyntaxKind::kNumber);
      case TokenKind::kString:
        return Literal(SyntaxKind::kString);
      case TokenKind::kBytes:
        return Literal(SyntaxKind::kBytes);
      case TokenKind::kWord:
        return AfterWord();
      case TokenKind::kQuoted:
        return Name();
      default:
        break;
    }
    if (TakeSymbol("(")) {
      ARROW_ASSIGN_OR_RAISE(SyntaxTree inner, Expression(kPowerNone));
      ARROW_RETURN_NOT_OK(Expect(")", Opened("(", position)));
      return inner;
    }
    if (TakeSymbol("[")) {
      ARROW_ASSIGN_OR_RAISE(std::vector<SyntaxTree> items, List("]", Opened("[", position), true));
      return Adopt(Node(SyntaxKind::kList, position), std::move(items));
    }
    return Unexpected("a value");
  }

  static std::string Opened(const char* bracket, int64_t position) {
    return base::Concat("for the ", bracket, " at character ", position);
  }

  arrow::Result<SyntaxTree> Literal(SyntaxKind kind) {
    const Token& token = Take();
    SyntaxTree node = Node(kind, token.position);
    node->text = token.text;
    return node;
  }

  arrow::Result<SyntaxTree> AfterWord() {
    const int64_t position = Peek().position;
    const std::string word = Lower(Peek().text);
    if (TakeWord("true")) return Node(SyntaxKind::kTrue, position);
    if (TakeWord("false")) return Node(SyntaxKind::kFalse, position);
    if (TakeWord("null")) return Node(SyntaxKind::kNull, position);
    if (Reserved().contains(word)) return Unexpected("a value");
    if (word == "cast" && AtSymbol("(", 1)) return Cast();
    const bool typed = word == "date" || word == "time" || word == "timestamp";
    if (typed && Peek(1).kind == TokenKind::kString) {
      Take();
      ARROW_ASSIGN_OR_RAISE(SyntaxTree node, Literal(SyntaxKind::kTyped));
      ARROW_ASSIGN_OR_RAISE(node->type, TypeNamed(word, {}));
      node->position = position;
      return node;
    }
    if (AtSymbol("(", 1)) return Call();
    return Name();
  }

  arrow::Result<SyntaxTree> Cast() {
    SyntaxTree node = Node(SyntaxKind::kCast, Take().position);
    const int64_t opened = Take().position;
    ARROW_ASSIGN_OR_RAISE(SyntaxTree input, Expression(kPowerNone));
    if (!TakeWord("as")) return Unexpected("AS and a type");
    ARROW_ASSIGN_OR_RAISE(node->type, Type());
    ARROW_RETURN_NOT_OK(Expect(")", Opened("(", opened)));
    return Adopt(std::move(node), Children(std::move(input)));
  }

  arrow::Result<SyntaxTree> Call() {
    SyntaxTree node = Node(SyntaxKind::kCall, Peek().position);
    node->text = Lower(Take().text);
    const int64_t opened = Take().position;
    ARROW_ASSIGN_OR_RAISE(std::vector<SyntaxTree> arguments, List(")", Opened("(", opened), true));
    return Adopt(std::move(node), std::move(arguments));
  }

  /// Expressions between commas and the bracket that closes them.
  arrow::Result<std::vector<SyntaxTree>> List(const char* close, const std::string& where,
                                              bool may_be_empty) {
    std::vector<SyntaxTree> items;
    if (may_be_empty && TakeSymbol(close)) return items;
    do {
      ARROW_ASSIGN_OR_RAISE(SyntaxTree item, Expression(kPowerNone));
      items.push_back(std::move(item));
    } while (TakeSymbol(","));
    if (!TakeSymbol(close)) return Unexpected(base::Concat(", or ", close, " ", where));
    return items;
  }

  arrow::Result<SyntaxTree> Name() {
    SyntaxTree node = Node(SyntaxKind::kName, Peek().position);
    do {
      if (Peek().kind != TokenKind::kWord && Peek().kind != TokenKind::kQuoted)
        return Unexpected("a name after the point");
      node->names.push_back({Peek().text, Peek().kind == TokenKind::kQuoted});
      Take();
    } while (TakeSymbol("."));
    return node;
  }

  /// base['field'] and base.field, where base isn't a bare name.
  arrow::Result<SyntaxTree> Fields(SyntaxTree base) {
    while (AtSymbol("[") || AtSymbol(".")) {
      const Token opened = Take();
      const bool bracket = opened.text == "[";
      const TokenKind kind = Peek().kind;
      if (bracket && kind != TokenKind::kString) return Unexpected("the name of a field in quotes");
      if (!bracket && kind != TokenKind::kWord && kind != TokenKind::kQuoted)
        return Unexpected("a name after the point");
      SyntaxTree field = Node(SyntaxKind::kField, Peek().position);
      field->names.push_back({Peek().text, kind != TokenKind::kWord});
      Take();
      if (bracket) ARROW_RETURN_NOT_OK(Expect("]", Opened("[", opened.position)));
      ARROW_ASSIGN_OR_RAISE(base, Adopt(std::move(field), Children(std::move(base))));
    }
    return base;
  }

  arrow::Result<std::shared_ptr<arrow::DataType>> Type() {
    const int64_t position = Peek().position;
    if (Peek().kind != TokenKind::kWord) return Unexpected("the name of a type");
    std::string name = Lower(Take().text);
    if (name == "double" && TakeWord("precision")) name += " precision";
    if (name == "character" && TakeWord("varying")) name += " varying";
    std::vector<int64_t> numbers;
    if (AtSymbol("(")) {
      ARROW_ASSIGN_OR_RAISE(numbers, TypeNumbers());
    }
    if (TakeWord("unsigned")) name += " unsigned";
    if ((AtWord("with") || AtWord("without")) && AtWord("time", 1) && AtWord("zone", 2)) {
      name += base::Concat(" ", Lower(Take().text), " time zone");
      Take();
      Take();
    }
    const auto type = TypeNamed(name, numbers);
    if (!type.ok()) return InvalidAt(position, base::MessageOf(type.status()));
    if (*type == nullptr)
      return InvalidAt(position, "expected the name of a type, found \"", name, "\"");
    return type;
  }

  arrow::Result<std::vector<int64_t>> TypeNumbers() {
    const std::string where = Opened("(", Take().position);
    std::vector<int64_t> numbers;
    do {
      int64_t number = -1;
      const std::string& text = Peek().text;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
      if (Peek().kind != TokenKind::kNumber || read.ec != std::errc() ||
          read.ptr != text.data() + text.size())
        return Unexpected("a whole number");
      Take();
      numbers.push_back(number);
    } while (TakeSymbol(","));
    ARROW_RETURN_NOT_OK(Expect(")", where));
    return numbers;
  }

  /// One operator after `left`, if it binds more tightly than `power`; else takes no token.
  arrow::Result<SyntaxTree> Infix(SyntaxTree left, int power) {
    if (Peek().kind == TokenKind::kSymbol) return InfixSymbol(std::move(left), power);
    if (Peek().kind != TokenKind::kWord) return left;
    if (AtWord("or") && power < kPowerOr)
      return Logic(std::move(left), ExpressionKind::kOr, kPowerOr);
    if (AtWord("and") && power < kPowerAnd)
      return Logic(std::move(left), ExpressionKind::kAnd, kPowerAnd);
    if (AtWord("is") && power < kPowerIs) return Is(std::move(left));
    if (power >= kPowerCompare) return left;
    const size_t verb = AtWord("not") ? 1 : 0;
    if (AtWord("in", verb)) return In(std::move(left));
    if (AtWord("between", verb)) return Between(std::move(left));
    if (AtWord("like", verb) || AtWord("ilike", verb)) return Like(std::move(left));
    if (verb == 1) {
      Take();
      return Unexpected("IN, BETWEEN, LIKE or ILIKE after NOT");
    }
    return left;
  }

  arrow::Result<SyntaxTree> InfixSymbol(SyntaxTree left, int power) {
    const int64_t position = Peek().position;
    if (AtSymbol("::") && power < kPowerCast) {
      Take();
      SyntaxTree node = Node(SyntaxKind::kCast, position);
      ARROW_ASSIGN_OR_RAISE(node->type, Type());
      return Adopt(std::move(node), Children(std::move(left)));
    }
    if (AtSymbol("||") && power < kPowerConcat) {
      Take();
      ARROW_ASSIGN_OR_RAISE(SyntaxTree right, Expression(kPowerConcat));
      return Adopt(Node(SyntaxKind::kConcat, position),
                   Children(std::move(left), std::move(right)));
    }
    const auto found = SymbolOperators().find(Peek().text);
    if (found == SymbolOperators().end() || found->second.power <= power) return left;
    Take();
    ARROW_ASSIGN_OR_RAISE(SyntaxTree right, Expression(found->second.power));
    return Operator(found->second.kind, position, Children(std::move(left), std::move(right)));
  }

  /// AND and OR of many operands become one node.
  arrow::Result<SyntaxTree> Logic(SyntaxTree left, ExpressionKind kind, Power power) {
    const int64_t position = Take().position;
    ARROW_ASSIGN_OR_RAISE(SyntaxTree right, Expression(power));
    const auto is_same = [&](const SyntaxNode& node) {
      return node.kind == SyntaxKind::kOperator && node.operation == kind;
    };
    std::vector<SyntaxTree> operands;
    if (is_same(*right)) {
      operands = std::move(right->children);
    } else {
      operands.push_back(std::move(right));
    }
    if (is_same(*left)) return Adopt(std::move(left), std::move(operands));
    operands.insert(operands.begin(), std::move(left));
    return Operator(kind, position, std::move(operands));
  }

  arrow::Result<SyntaxTree> Is(SyntaxTree left) {
    const int64_t position = Take().position;
    const bool negated = TakeWord("not");
    if (TakeWord("distinct")) {
      if (!TakeWord("from")) return Unexpected("FROM after DISTINCT");
      ARROW_ASSIGN_OR_RAISE(SyntaxTree right, Expression(kPowerIs));
      ARROW_ASSIGN_OR_RAISE(SyntaxTree node, Adopt(Node(SyntaxKind::kDistinct, position),
                                                   Children(std::move(left), std::move(right))));
      return NegatedIf(negated, std::move(node));
    }
    std::optional<ExpressionKind> kind;
    if (TakeWord("null") || TakeWord("unknown")) kind = ExpressionKind::kIsNull;
    if (!kind && TakeWord("true")) kind = ExpressionKind::kIsTrue;
    if (!kind && TakeWord("false")) kind = ExpressionKind::kIsFalse;
    if (!kind) {
      return Unexpected(negated ? "NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM after IS NOT"
                                : "NULL, TRUE, FALSE, UNKNOWN, NOT or DISTINCT FROM after IS");
    }
    ARROW_ASSIGN_OR_RAISE(SyntaxTree node, Operator(*kind, position, Children(std::move(left))));
    return NegatedIf(negated, std::move(node));
  }

  arrow::Result<SyntaxTree> In(SyntaxTree left) {
    const bool negated = TakeWord("not");
    const int64_t position = Take().position;
    const int64_t opened = Peek().position;
    ARROW_RETURN_NOT_OK(Expect("(", "and a list of values after IN"));
    ARROW_ASSIGN_OR_RAISE(std::vector<SyntaxTree> items, List(")", Opened("(", opened), false));
    items.insert(items.begin(), std::move(left));
    ARROW_ASSIGN_OR_RAISE(SyntaxTree node,
                          Adopt(Node(SyntaxKind::kIn, position), std::move(items)));
    return NegatedIf(negated, std::move(node));
  }

  arrow::Result<SyntaxTree> Between(SyntaxTree left) {
    const bool negated = TakeWord("not");
    const int64_t position = Take().position;
    ARROW_ASSIGN_OR_RAISE(SyntaxTree low, Expression(kPowerCompare));
    if (!TakeWord("and")) return Unexpected("AND and the upper end of BETWEEN");
    ARROW_ASSIGN_OR_RAISE(SyntaxTree high, Expression(kPowerCompare));
    ARROW_ASSIGN_OR_RAISE(SyntaxTree node,
                          Adopt(Node(SyntaxKind::kBetween, position),
                                Children(std::move(left), std::move(low), std::move(high))));
    return NegatedIf(negated, std::move(node));
  }

  arrow::Result<SyntaxTree> Like(SyntaxTree left) {
    const bool negated = TakeWord("not");
    SyntaxTree node = Node(SyntaxKind::kLike, Peek().position);
    const std::string verb = Lower(Take().text);
    node->operation = verb == "like" ? ExpressionKind::kLike : ExpressionKind::kIlike;
    ARROW_ASSIGN_OR_RAISE(SyntaxTree pattern, Expression(kPowerCompare));
    if (TakeWord("escape")) {
      if (Peek().kind != TokenKind::kString) return Unexpected("one character in quotes");
      node->names.push_back({Take().text, true});
    }
    ARROW_ASSIGN_OR_RAISE(node,
                          Adopt(std::move(node), Children(std::move(left), std::move(pattern))));
    return NegatedIf(negated, std::move(node));
  }

  std::vector<Token> tokens_;
  size_t next_ = 0;
  int depth_ = 0;
};

}  // namespace

arrow::Result<SyntaxTree> ParseSyntax(std::string_view text) {
  ARROW_ASSIGN_OR_RAISE(std::vector<Token> tokens, Tokenize(text));
  return Parser(std::move(tokens)).Run();
}

}  // namespace kinjo::predicate
