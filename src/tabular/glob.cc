#include "tabular/glob.h"

#include <algorithm>

namespace kinjo::tabular {

namespace {

// Takes the segment before the first '/' off `path`.
std::string_view PopSegment(std::string_view* path, bool* last) {
  const size_t slash = path->find('/');
  *last = slash == std::string_view::npos;
  const std::string_view segment = path->substr(0, slash);
  *path = *last ? std::string_view() : path->substr(slash + 1);
  return segment;
}

// Matches `c` against the class that begins at pattern[0] == '['. Gives the length of the class, or
// 0 when it isn't one (no ']').
size_t MatchClass(std::string_view pattern, char c, bool* matches) {
  size_t i = 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < pattern.size(); first = false) {
    if (pattern[i] == ']' && !first) {
      *matches = found != negated;
      return i + 1;
    }
    const char low = pattern[i];
    char high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      high = pattern[i + 2];
      i += 2;
    }
    ++i;
    found = found || (low <= c && c <= high);
  }
  return 0;
}

// Bytes that `pattern` takes to match the first byte (or, for '?', character) of `text`; 0 when it
// doesn't match. `*text_bytes` says how much of the text was matched.
size_t MatchOne(std::string_view pattern, std::string_view text, size_t* text_bytes) {
  *text_bytes = 1;
  if (pattern[0] == '?') {
    // One UTF-8 character: its continuation bytes go along.
    while (*text_bytes < text.size() && (text[*text_bytes] & 0xC0) == 0x80) ++*text_bytes;
    return 1;
  }
  if (pattern[0] == '[') {
    bool matches = false;
    const size_t length = MatchClass(pattern, text[0], &matches);
    if (length > 0) return matches ? length : 0;
  }
  return pattern[0] == text[0] ? 1 : 0;
}

// The usual loop with one point to come back to: after the last '*', which takes one more byte each
// time. Linear in practice, quadratic at worst; never exponential.
bool SegmentMatches(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
      continue;
    }
    size_t text_bytes = 0;
    const size_t taken =
        p < pattern.size() ? MatchOne(pattern.substr(p), text.substr(t), &text_bytes) : 0;
    if (taken > 0) {
      p += taken;
      t += text_bytes;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool HasWildcard(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

bool GlobMatches(std::string_view pattern, std::string_view path) {
  while (true) {
    std::string_view rest = pattern;
    bool pattern_ends = false;
    const std::string_view segment = PopSegment(&rest, &pattern_ends);
    if (segment == "**") {
      if (pattern_ends) return true;
      // `**` takes none, one, two, ... segments.
      for (bool ends = false; !ends; PopSegment(&path, &ends)) {
        if (GlobMatches(rest, path)) return true;
      }
      return false;
    }
    bool path_ends = false;
    if (!SegmentMatches(segment, PopSegment(&path, &path_ends))) return false;
    if (pattern_ends || path_ends) return pattern_ends && path_ends;
    pattern = rest;
  }
}

int GlobDepth(std::string_view pattern) {
  int depth = 0;
  for (bool last = false; !last; ++depth) {
    if (PopSegment(&pattern, &last) == "**") return -1;
  }
  return depth;
}

}  // namespace kinjo::tabular
