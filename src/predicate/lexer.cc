#include "predicate/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arrow/util/utf8.h"
#include "predicate/position_error.h"

namespace kinjo::predicate {

namespace {

// Longest first, so that the first that fits is the right one.
constexpr std::array<std::string_view, 22> kSymbols = {
    "==", "!=", "<>", "<=", ">=", "::", "||", "=", "<", ">", "+",
    "-",  "*",  "/",  "%",  "(",  ")",  ",",  ".", "[", "]", ";"};
constexpr size_t kShownCharacters = 40;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool StartsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool ContinuesWord(char c) { return StartsWord(c) || IsDigit(c) || c == '$'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  arrow::Result<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    while (true) {
      SkipSpace();
      start_ = position_;
      if (AtEnd()) break;
      ARROW_ASSIGN_OR_RAISE(Token token, Next());
      token.position = start_;
      tokens.push_back(std::move(token));
    }
    tokens.push_back({TokenKind::kEnd, {}, position_});
    return tokens;
  }

 private:
  bool AtEnd() const { return offset_ == text_.size(); }
  char Peek(size_t ahead = 0) const {
    return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0';
  }
  std::string_view Rest() const { return text_.substr(offset_); }

  void Advance(size_t bytes) {
    const std::string_view passed = text_.substr(offset_, bytes);
    position_ +=
        std::count_if(passed.begin(), passed.end(), [](char c) { return !IsContinuation(c); });
    offset_ += passed.size();
  }

  void SkipSpace() {
    while (!AtEnd() && IsSpace(Peek())) Advance(1);
  }

  arrow::Result<Token> Next() {
    const char c = Peek();
    if (c == '\'') return Quoted('\'', TokenKind::kString, "string");
    if (c == '`') return Quoted('`', TokenKind::kQuoted, "name");
    if (c == '"') return Quoted('"', TokenKind::kQuoted, "name");
    if ((c == 'X' || c == 'x') && Peek(1) == '\'') return Bytes();
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return Number();
    if (StartsWord(c)) return Word();
    return Symbol();
  }

  /// The quote doubled stands for itself.
  arrow::Result<Token> Quoted(char quote, TokenKind kind, const char* what) {
    Token token{kind, {}, 0};
    Advance(1);
    while (true) {
      const size_t end = text_.find(quote, offset_);
      if (end == std::string_view::npos) {
        return InvalidAt(start_, "expected ", quote, " at the end of the ", what,
                         " that starts here, found the end");
      }
      token.text.append(text_.substr(offset_, end - offset_));
      Advance(end - offset_ + 1);
      if (Peek() != quote || AtEnd()) break;
      token.text.push_back(quote);
      Advance(1);
    }
    if (kind == TokenKind::kQuoted && token.text.empty())
      return InvalidAt(start_, "expected a name between the quotes, found nothing");
    return token;
  }

  arrow::Result<Token> Bytes() {
    Advance(1);
    ARROW_ASSIGN_OR_RAISE(const Token digits, Quoted('\'', TokenKind::kBytes, "bytes"));
    Token token{TokenKind::kBytes, {}, 0};
    if (digits.text.size() % 2 != 0)
      return InvalidAt(start_, "expected two hex digits a byte, found an odd number of them");
    for (size_t i = 0; i < digits.text.size(); i += 2) {
      const int high = HexDigit(digits.text[i]);
      const int low = HexDigit(digits.text[i + 1]);
      if (high < 0 || low < 0)
        return InvalidAt(start_, "expected hex digits between the quotes of X'..'");
      token.text.push_back(static_cast<char>(high * 16 + low));
    }
    return token;
  }

  size_t DigitsFrom(size_t ahead) const {
    while (IsDigit(Peek(ahead))) ++ahead;
    return ahead;
  }

  arrow::Result<Token> Number() {
    size_t length = DigitsFrom(0);
    if (Peek(length) == '.') length = DigitsFrom(length + 1);
    if (Peek(length) == 'e' || Peek(length) == 'E') {
      const size_t sign = Peek(length + 1) == '+' || Peek(length + 1) == '-' ? 1 : 0;
      if (IsDigit(Peek(length + 1 + sign))) length = DigitsFrom(length + 1 + sign);
    }
    Token token{TokenKind::kNumber, std::string(text_.substr(offset_, length)), 0};
    Advance(length);
    if (ContinuesWord(Peek())) {
      const int64_t position = position_;
      return InvalidAt(position, "expected the end of the number ", token.text, ", found ",
                       Describe(Word()));
    }
    return token;
  }

  Token Word() {
    size_t length = 0;
    while (ContinuesWord(Peek(length))) ++length;
    Token token{TokenKind::kWord, std::string(text_.substr(offset_, length)), 0};
    Advance(length);
    return token;
  }

  arrow::Result<Token> Symbol() {
    if (Rest().starts_with("--") || Rest().starts_with("/*"))
      return InvalidAt(start_, "a predicate has no comments, found ", Rest().substr(0, 2));
    for (const std::string_view symbol : kSymbols) {
      if (!Rest().starts_with(symbol)) continue;
      Advance(symbol.size());
      return Token{TokenKind::kSymbol, std::string(symbol), 0};
    }
    return InvalidAt(start_, "expected a name, a value or an operator, found ",
                     Describe({TokenKind::kSymbol, std::string(1, Peek()), 0}));
  }

  std::string_view text_;
  size_t offset_ = 0;
  int64_t position_ = 1;
  int64_t start_ = 1;
};

}  // namespace

arrow::Result<std::vector<Token>> Tokenize(std::string_view text) {
  if (static_cast<int64_t>(text.size()) > kMaximumTextBytes) {
    return base::Invalid("a predicate has at most ", kMaximumTextBytes, " bytes, this one has ",
                         text.size());
  }
  arrow::util::InitializeUTF8();
  if (!arrow::util::ValidateUTF8(text)) return base::Invalid("the predicate is not UTF-8 text");
  return Lexer(text).Run();
}

std::string Describe(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "the end";
  if (token.kind == TokenKind::kBytes) return "bytes";
  const char* quote = "";
  if (token.kind == TokenKind::kString) quote = "'";
  if (token.kind == TokenKind::kQuoted) quote = "\"";
  size_t length = std::min(token.text.size(), kShownCharacters);
  while (length < token.text.size() && IsContinuation(token.text[length])) ++length;
  const bool cut = length < token.text.size();
  return base::Concat(quote, token.text.substr(0, length), cut ? "…" : "", quote);
}

}  // namespace kinjo::predicate
