#include "tabular/display_width.h"

#include <algorithm>
#include <array>

namespace kinjo::tabular {

namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Marks that combine with the character before them, joiners, and variation selectors.
constexpr std::array<Range, 40> kZeroWidth = {{
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05C7}, {0x0610, 0x061A},
    {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06DC}, {0x06DF, 0x06E4}, {0x06E7, 0x06E8},
    {0x06EA, 0x06ED}, {0x0711, 0x0711}, {0x0730, 0x074A}, {0x0816, 0x082D}, {0x08D3, 0x0902},
    {0x093A, 0x093A}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0951, 0x0957},
    {0x0981, 0x0981}, {0x09BC, 0x09BC}, {0x09CD, 0x09CD}, {0x0A3C, 0x0A51}, {0x0ACD, 0x0ACD},
    {0x0B4D, 0x0B4D}, {0x0BCD, 0x0BCD}, {0x0C4D, 0x0C56}, {0x0CCD, 0x0CCD}, {0x0D4D, 0x0D4D},
    {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
    {0x200B, 0x200F}, {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
}};

// Wide and full-width characters, and emoji that are shown as pictures.
constexpr std::array<Range, 24> kWide = {{
    {0x1100, 0x115F}, {0x231A, 0x231B}, {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},
    {0x2614, 0x2615}, {0x2648, 0x2653}, {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x2753, 0x2755},
    {0x2795, 0x2797}, {0x2B1B, 0x2B1C}, {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0xA4CF}, {0xA960, 0xA97C}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD},
}};

constexpr uint32_t kReplacement = 0xFFFD;
constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "…";

template <size_t N>
bool IsIn(const std::array<Range, N>& ranges, uint32_t code_point) {
  const auto found =
      std::lower_bound(ranges.begin(), ranges.end(), code_point,
                       [](const Range& range, uint32_t value) { return range.last < value; });
  return found != ranges.end() && found->first <= code_point;
}

// Takes the first character off `text`; `bytes` are the taken ones. Not UTF-8: one byte, U+FFFD.
uint32_t PopCharacter(std::string_view* text, std::string_view* bytes) {
  const auto first = static_cast<uint8_t>((*text)[0]);
  const size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  static constexpr uint32_t kSmallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t code_point = length == 1 ? first : first & (0x7Fu >> length);
  bool valid = first < 0x80 || (first >= 0xC0 && first < 0xF8 && length <= text->size());
  for (size_t i = 1; valid && i < length; ++i) {
    const auto byte = static_cast<uint8_t>((*text)[i]);
    valid = (byte & 0xC0) == 0x80;
    code_point = code_point << 6 | (byte & 0x3F);
  }
  valid = valid && code_point >= kSmallest[length] && code_point <= 0x10FFFF &&
          (code_point < 0xD800 || code_point > 0xDFFF);
  *bytes = text->substr(0, valid ? length : 1);
  text->remove_prefix(bytes->size());
  return valid ? code_point : kReplacement;
}

bool IsUnsafe(uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||
         (code_point >= 0x2028 && code_point <= 0x202E) ||
         (code_point >= 0x2066 && code_point <= 0x2069) || code_point == kReplacement;
}

}  // namespace

int WidthOf(uint32_t code_point) {
  if (code_point < 0x300) return 1;
  if (IsIn(kZeroWidth, code_point)) return 0;
  return IsIn(kWide, code_point) ? 2 : 1;
}

int64_t DisplayWidth(std::string_view text) {
  int64_t width = 0;
  std::string_view bytes;
  while (!text.empty()) width += WidthOf(PopCharacter(&text, &bytes));
  return width;
}

std::string FitToLine(std::string_view text, int64_t max_width) {
  std::string line;
  int64_t width = 0;
  // Where to cut if more comes than fits: before the character that leaves no room for the
  // ellipsis.
  size_t cut_bytes = 0;
  while (!text.empty()) {
    std::string_view bytes;
    const uint32_t code_point = PopCharacter(&text, &bytes);
    if (code_point == '\n' || code_point == '\r' || code_point == '\t') {
      bytes = " ";
    } else if (IsUnsafe(code_point)) {
      bytes = kReplacementText;
    }
    const int added =
        bytes.size() == 1 ? 1 : WidthOf(IsUnsafe(code_point) ? kReplacement : code_point);
    if (width + added > max_width) {
      line.resize(cut_bytes);
      return line.append(kEllipsis);
    }
    width += added;
    line.append(bytes);
    if (width < max_width) cut_bytes = line.size();
  }
  return line;
}

}  // namespace kinjo::tabular
