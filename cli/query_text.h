// Queries that are typed instead of stored: "[0.1, 0.2]" is one vector, "[[0.1, 0.2], [3, 4]]" are
// two, or one list of vectors where the dataset's column holds those; then "[[[..]], [[..]]]" are
// several lists.
#pragma once

#include <string>
#include <vector>

#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

/// True when `text` is such queries and not the name of a table.
bool IsQueryText(const std::string& text);

/// Vectors as they were typed, all of one width.
struct TypedQueries {
  std::vector<double> values;  ///< vector after vector
  int64_t width = 0;
  int levels = 0;                     ///< of brackets, 1 to 3
  std::vector<int64_t> list_lengths;  ///< vectors of each list, where there are three levels
};

/// Reads numbers, finite ones, in JSON's brackets. Gives what is wrong with the text and where, or
/// "".
std::string ReadQueryText(const std::string& text, TypedQueries* queries);

/// What the queries are compared with.
struct QueryTarget {
  std::string dataset_uri;  ///< for messages
  std::string column;       ///< "": the only vector column
  std::string metric;       ///< "": none is named
};

/// The queries as a table, in the element type of the dataset's column, so that a vector copied
/// from the dataset's rows is that vector. Fails where the numbers can't be such vectors.
Result<Table> MakeQueryTable(const TypedQueries& queries, const Dataset& dataset,
                             const QueryTarget& target);

}  // namespace kinjo::cli
