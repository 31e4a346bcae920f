#include "query_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace kinjo::cli {

namespace {

using Json = nlohmann::json;

constexpr const char* kMustBe = "must be a list of numbers, or a list of such lists";

std::string AppendVector(const Json& list, TypedQueries* queries) {
  const auto width = static_cast<int64_t>(list.size());
  if (width == 0) return "must not hold an empty vector";
  if (queries->values.empty()) queries->width = width;
  if (width != queries->width) {
    return "must be vectors of one width, but one has " + std::to_string(queries->width) +
           " numbers and another " + std::to_string(width);
  }
  for (const Json& number : list) {
    if (!number.is_number()) return kMustBe;
    queries->values.push_back(number.get<double>());
  }
  return "";
}

// The element type of a vector column in the letters of the Arrow C interface; ' ' for others.
char ElementLetter(const ArrowSchema& column) {
  const std::string_view type = column.format;
  const bool is_list = type.substr(0, 3) == "+w:" || type == "+l" || type == "+L";
  return is_list && column.n_children == 1 ? column.children[0]->format[0] : ' ';
}

char ElementLetterOf(const ArrowSchema& schema, const std::string& name) {
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowSchema& column = *schema.children[i];
    if (!name.empty() && name != column.name) continue;
    const char letter = ElementLetter(column);
    if (std::string_view("efgC").find(letter) != std::string_view::npos) return letter;
  }
  return ' ';
}

bool IsByte(double number) { return number >= 0 && number <= 255 && std::trunc(number) == number; }

}  // namespace

bool IsQueryText(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string::npos && text[begin] == '[';
}

std::string ReadQueryText(const std::string& text, TypedQueries* queries) {
  const Json json = Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!json.is_array() || json.empty()) return kMustBe;
  if (!json.front().is_array()) return AppendVector(json, queries);
  for (const Json& list : json) {
    if (!list.is_array()) return kMustBe;
    if (std::string wrong = AppendVector(list, queries); !wrong.empty()) return wrong;
  }
  return "";
}

Result<Table> MakeQueryTable(const TypedQueries& queries, const Dataset& dataset,
                             const std::string& column) {
  Result<Schema> schema = dataset.Schema();
  if (!schema.ok()) return schema.error();
  const std::vector<double>& values = queries.values;
  const char letter = ElementLetterOf(*schema->get(), column);
  if (letter == 'C' && std::all_of(values.begin(), values.end(), IsByte)) {
    return Table::FromVectors(std::vector<uint8_t>(values.begin(), values.end()), queries.width);
  }
  if (letter == 'f' || letter == 'e') {
    return Table::FromVectors(std::vector<float>(values.begin(), values.end()), queries.width);
  }
  return Table::FromVectors(values, queries.width);
}

}  // namespace kinjo::cli
