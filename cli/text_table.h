// Rows of cells laid out under each other.
#pragma once

#include <string>
#include <vector>

namespace kinjo::cli {

/// A table that grows row by row; all rows have as many cells as there are headings.
class TextTable {
 public:
  struct Column {
    std::string heading;
    bool right = false;  ///< aligned right, as numbers are
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// The lines, each indented by two; no white space at their ends.
  std::string Text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Characters of a UTF-8 text.
size_t Width(const std::string& text);

}  // namespace kinjo::cli
