#include "predicate/like_pattern.h"

namespace kinjo::predicate {

namespace {

bool IsSpecial(char c) { return c == '%' || c == '_' || c == '\\'; }

void AppendPlain(char c, std::string* out) {
  if (IsSpecial(c)) out->push_back('\\');
  out->push_back(c);
}

}  // namespace

std::optional<std::string> CanonicalLikePattern(std::string_view pattern,
                                                std::optional<std::string_view> escape) {
  std::string canonical;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = pattern.substr(i);
    if (escape.has_value() && rest.starts_with(*escape)) {
      i += escape->size();
      if (i >= pattern.size()) return std::nullopt;
      AppendPlain(pattern[i], &canonical);
    } else if (!escape.has_value() && rest.size() > 1 && rest[0] == '\\' && IsSpecial(rest[1])) {
      AppendPlain(pattern[++i], &canonical);
    } else if (rest[0] == '\\') {
      AppendPlain('\\', &canonical);
    } else {
      canonical.push_back(rest[0]);
    }
  }
  return canonical;
}

}  // namespace kinjo::predicate
