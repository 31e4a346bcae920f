// How many columns of a terminal a text takes, and cutting it to fit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kinjo::tabular {

/// Columns of one code point: 0 for combining marks and joiners, 2 for East Asian wide characters
/// and emoji, else 1.
int WidthOf(uint32_t code_point);

/// Columns of a text (UTF-8; each byte that isn't takes one).
int64_t DisplayWidth(std::string_view text);

/// The text fit for one line of a terminal: line ends and tabs become spaces; other control
/// characters (escape sequences would command the terminal), direction overrides and bytes that
/// aren't UTF-8 become U+FFFD. What is wider than `max_width` is cut, with … as its last column.
std::string FitToLine(std::string_view text, int64_t max_width);

}  // namespace kinjo::tabular
