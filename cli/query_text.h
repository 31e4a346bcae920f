// Queries that are typed instead of stored: "[0.1, 0.2]" is one vector, "[[0.1, 0.2], [3, 4]]" are
// two.
#pragma once

#include <string>
#include <vector>

#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

/// True when `text` is such queries and not the name of a table.
bool IsQueryText(const std::string& text);

/// Vectors as they were typed, all of one width.
struct TypedQueries {
  std::vector<double> values;  ///< row after row
  int64_t width = 0;
};

/// Reads JSON numbers. Gives what is wrong with the text ("must be ..."), or "".
std::string ReadQueryText(const std::string& text, TypedQueries* queries);

/// The queries as a table, in the element type of `column` of the dataset ("": of its first vector
/// column), so that a vector copied from the dataset's rows is that vector.
Result<Table> MakeQueryTable(const TypedQueries& queries, const Dataset& dataset,
                             const std::string& column);

}  // namespace kinjo::cli
