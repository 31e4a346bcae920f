// SQL text cut into tokens. Words are told apart from operators and literals here; which words are
// keywords is the parser's business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace kinjo::predicate {

/// Longer predicates are refused.
constexpr int64_t kMaximumTextBytes = int64_t{4} << 20;

enum class TokenKind : uint8_t {
  kEnd,
  kWord,    ///< a bare name or keyword, as written
  kQuoted,  ///< a name in backticks or double quotes, without them
  kNumber,  ///< digits, perhaps a point and an exponent, no sign
  kString,  ///< text between single quotes, '' made one quote
  kBytes,   ///< X'..', decoded
  kSymbol,  ///< an operator or a bracket
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  int64_t position = 0;  ///< 1-based character; of kEnd the one after the last
};

/// The tokens of UTF-8 text, the last being kEnd. A quote without its end, a number that runs into
/// a word, a comment and a character that starts nothing are `invalid` with their position.
arrow::Result<std::vector<Token>> Tokenize(std::string_view text);

/// The token as messages show it: `'it''s'`, `)`, "the end".
std::string Describe(const Token& token);

}  // namespace kinjo::predicate
