#include "text_table.h"

#include <algorithm>

namespace kinjo::cli {

namespace {

constexpr size_t kGap = 3;

void AddLine(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
             const std::vector<TextTable::Column>& columns, std::string* text) {
  std::string line = "  ";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string room(widths[i] - Width(cells[i]), ' ');
    line += columns[i].right ? room + cells[i] : cells[i] + room;
    line.append(kGap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  *text += line + "\n";
}

}  // namespace

size_t Width(const std::string& text) {
  // Bytes that continue a character have the form 10xxxxxx.
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string TextTable::Text() const {
  std::vector<std::string> headings;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    headings.push_back(column.heading);
    widths.push_back(Width(column.heading));
  }
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  AddLine(headings, widths, columns_, &text);
  for (const std::vector<std::string>& row : rows_) AddLine(row, widths, columns_, &text);
  return text;
}

}  // namespace kinjo::cli
