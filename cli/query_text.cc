#include "query_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

namespace kinjo::cli {

namespace {

constexpr size_t kLevelsMax = 3;
constexpr std::string_view kSpace = " \t\r\n";
constexpr size_t kShownLength = 30;

std::string Shown(std::string_view text) {
  const std::string shown(text.substr(0, kShownLength));
  return "'" + shown + (text.size() > kShownLength ? "..." : "") + "'";
}

std::string Numbers(int64_t count) {
  return std::to_string(count) + (count == 1 ? " number" : " numbers");
}

// Reads the text from its begin to its end; the first thing that is wrong ends it.
class QueryReader {
 public:
  QueryReader(std::string_view text, TypedQueries* queries) : text_(text), queries_(queries) {}

  std::string Read() {
    SkipSpace();
    if (Peek() != '[') return "expected numbers in brackets like [0.1, 0.2], found " + Rest();
    if (std::string wrong = ReadList(); !wrong.empty()) return wrong;
    SkipSpace();
    if (at_ < text_.size()) return "the closing ] is followed by " + Rest();
    queries_->levels = static_cast<int>(levels_);
    return "";
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }
  std::string Rest() const { return Shown(text_.substr(at_)); }

  // "vector 2, number 1": the place that path_ tells. Before the number of levels is known the
  // innermost that is open is taken for a vector.
  std::string Place(bool of_number) const {
    static constexpr const char* kNames[] = {"query ", "vector "};
    const size_t lists = path_.size() - (of_number ? 1 : 0);
    std::string place;
    for (size_t i = 0; i < lists; ++i) {
      place += (i > 0 ? ", " : "") + std::string(kNames[i + 2 - std::max<size_t>(lists, 1)]) +
               std::to_string(path_[i]);
    }
    if (!of_number) return place.empty() ? "the list" : place;
    return place + (place.empty() ? "number " : ", number ") + std::to_string(path_.back());
  }

  // Requires: at a bracket.
  std::string ReadList() {
    if (path_.size() == kLevelsMax) {
      return "more than three brackets deep: a vector, a list of vectors, or a list of such lists";
    }
    ++at_;
    SkipSpace();
    if (Peek() == ']') return Place(false) + " is empty";
    const size_t depth = path_.size() + 1;  // of what this list holds
    path_.push_back(0);
    while (true) {
      ++path_.back();
      SkipSpace();
      if (std::string wrong = ReadItem(depth); !wrong.empty()) return wrong;
      SkipSpace();
      const char next = Peek();
      if (next == ']') break;
      if (next == '\0') return "the last ] is missing";
      if (next != ',') {
        return Place(depth == levels_) + " is followed by " + Rest() + "; put a comma between";
      }
      ++at_;
    }
    ++at_;
    return EndList(depth);
  }

  std::string ReadItem(size_t depth) {
    if (Peek() == '[') {
      if (depth != levels_) return ReadList();
      return Place(true) + " is a list; the numbers before it are not as deep in brackets";
    }
    if (levels_ == 0) levels_ = depth;
    if (depth != levels_) return Place(false) + " is " + Token() + " and not in brackets";
    return ReadNumber();
  }

  // What stands up to the next comma, bracket or space; a text in quotes as a whole.
  std::string Token() {
    const size_t begin = at_;
    if (Peek() == '"') {
      const size_t end = text_.find('"', at_ + 1);
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
    } else {
      at_ = std::min(text_.find_first_of(",[] \t\r\n", at_), text_.size());
    }
    return Shown(text_.substr(begin, at_ - begin));
  }

  std::string ReadNumber() {
    const size_t begin = at_;
    const std::string shown = Token();
    const std::string_view token = text_.substr(begin, at_ - begin);
    if (token.empty()) return Place(true) + " is missing";
    double number = 0;
    const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), number);
    if (stop != token.data() + token.size() || error == std::errc::invalid_argument) {
      return Place(true) + " is " + shown + ", which is not a number";
    }
    if (error == std::errc::result_out_of_range) {
      // Too small for a double is zero to it.
      number = std::strtod(std::string(token).c_str(), nullptr);
    }
    if (std::isnan(number)) return Place(true) + " is NaN, which is near to nothing";
    if (std::isinf(number)) return Place(true) + " is " + shown + ", which is not a finite number";
    queries_->values.push_back(number);
    return "";
  }

  // The list whose items lie at `depth` is over; path_ tells its last item.
  std::string EndList(size_t depth) {
    const int64_t length = path_.back();
    path_.pop_back();
    if (depth == levels_) {
      if (queries_->width == 0) queries_->width = length;
      if (length != queries_->width) {
        return Place(false) + " has " + Numbers(length) + ", but the one before it has " +
               std::to_string(queries_->width);
      }
    } else if (depth + 1 == levels_ && levels_ == kLevelsMax) {
      queries_->list_lengths.push_back(length);
    }
    return "";
  }

  const std::string_view text_;
  TypedQueries* queries_;
  size_t at_ = 0;
  size_t levels_ = 0;  // 0 until the first number is met
  std::vector<int64_t> path_;
};

// A vector column of the dataset.
struct VectorColumn {
  std::string name;
  char element = ' ';  // its type in the letters of the Arrow C interface
  int64_t width = 0;   // 0 when each row tells
  bool multivector = false;
};

bool IsList(std::string_view format) {
  return format.starts_with("+w:") || format == "+l" || format == "+L";
}

// Nothing for a column that isn't taken for vectors unless it is named.
std::optional<VectorColumn> VectorColumnOf(const ArrowSchema& column, const std::string& name) {
  if (!IsList(column.format) || column.n_children != 1) return std::nullopt;
  const ArrowSchema* list = &column;
  const bool multivector = IsList(column.children[0]->format);
  if (multivector) list = column.children[0];
  const std::string_view type = list->format;
  const std::string_view element = list->children[0]->format;
  const bool is_fixed = type.starts_with("+w:");
  const std::string_view elements = is_fixed ? "efgcCsSiIlL" : "efg";
  if (element.size() != 1 || elements.find(element[0]) == std::string_view::npos) {
    return std::nullopt;
  }
  const int64_t width = is_fixed ? std::strtoll(list->format + 3, nullptr, 10) : 0;
  return VectorColumn{name, element[0], width, multivector};
}

// The column of that name, a dotted path leading into structs; null when there is none.
const ArrowSchema* FindColumn(const ArrowSchema& schema, const std::string& name) {
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const std::string child = schema.children[i]->name;
    if (child == name) return schema.children[i];
    if (!name.starts_with(child + ".")) continue;
    const ArrowSchema* found = FindColumn(*schema.children[i], name.substr(child.size() + 1));
    if (found != nullptr) return found;
  }
  return nullptr;
}

// The column that is meant. Nothing when that isn't clear: the library then says why.
std::optional<VectorColumn> TargetColumn(const ArrowSchema& schema, const std::string& name) {
  if (!name.empty()) {
    const ArrowSchema* column = FindColumn(schema, name);
    return column == nullptr ? std::nullopt : VectorColumnOf(*column, name);
  }
  std::optional<VectorColumn> only;
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowSchema& column = *schema.children[i];
    std::optional<VectorColumn> found = VectorColumnOf(column, column.name);
    if (!found) continue;
    if (only) return std::nullopt;
    only = std::move(found);
  }
  return only;
}

Error Wrong(const std::string& what) {
  Error error;
  error.code = KINJO_ERROR_INVALID;
  error.message = "--query: " + what;
  return error;
}

bool IsByte(double number) { return number >= 0 && number <= 255 && std::trunc(number) == number; }

bool FitsFloat(double number) { return std::isfinite(static_cast<float>(number)); }

// From here on numbers are rounded to an infinity.
constexpr double kHalfEnd = 65520;

bool FitsHalf(double number) { return std::abs(number) < kHalfEnd; }

// "vector 2, number 1" of a value.
std::string PlaceOf(const TypedQueries& queries, size_t value) {
  const auto width = static_cast<size_t>(queries.width);
  std::string number = "number " + std::to_string(value % width + 1);
  if (queries.values.size() == width) return number;
  return "vector " + std::to_string(value / width + 1) + ", " + number;
}

// The first value that `fits` refuses, told with its place; "" when there is none.
std::string FirstThatDoesNotFit(const TypedQueries& queries, bool (*fits)(double)) {
  const std::vector<double>& values = queries.values;
  const auto odd = std::find_if_not(values.begin(), values.end(), fits);
  if (odd == values.end()) return "";
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", *odd);
  return PlaceOf(queries, static_cast<size_t>(odd - values.begin())) + " is " + text;
}

// What keeps the queries from being compared with the column, or "".
std::string Misfit(const TypedQueries& queries, const VectorColumn& column,
                   const QueryTarget& target) {
  const std::string what = "column \"" + column.name + "\" of " + target.dataset_uri;
  if (column.width != 0 && column.width != queries.width) {
    return std::string(queries.levels == 1 ? "the vector has " : "each vector has ") +
           Numbers(queries.width) + ", but " + what + " holds vectors of " +
           std::to_string(column.width);
  }
  if (queries.levels == 3 && !column.multivector) {
    return "lists of vectors, but " + what + " holds one vector in each row";
  }
  if (column.element == 'f') {
    const std::string odd = FirstThatDoesNotFit(queries, FitsFloat);
    if (!odd.empty()) return odd + ", which is beyond the float32 numbers of " + what;
  }
  if (column.element == 'e') {
    const std::string odd = FirstThatDoesNotFit(queries, FitsHalf);
    if (!odd.empty()) return odd + ", which is beyond the float16 numbers of " + what;
  }
  if (column.element == 'C' && (target.metric.empty() || target.metric == "hamming")) {
    const std::string odd = FirstThatDoesNotFit(queries, IsByte);
    if (!odd.empty()) {
      return odd + ", but " + what +
             " holds bytes, which are compared bit by bit: whole numbers from 0 to 255 "
             "(--metric l2, cosine or dot takes any number)";
    }
  }
  return "";
}

}  // namespace

bool IsQueryText(const std::string& text) {
  const size_t begin = text.find_first_not_of(kSpace);
  return begin != std::string::npos && text[begin] == '[';
}

std::string ReadQueryText(const std::string& text, TypedQueries* queries) {
  return QueryReader(text, queries).Read();
}

Result<Table> MakeQueryTable(const TypedQueries& queries, const Dataset& dataset,
                             const QueryTarget& target) {
  Result<Schema> schema = dataset.Schema();
  if (!schema.ok()) return schema.error();
  const VectorColumn column = TargetColumn(*schema->get(), target.column).value_or(VectorColumn());
  if (!column.name.empty()) {
    if (const std::string misfit = Misfit(queries, column, target); !misfit.empty()) {
      return Wrong(misfit);
    }
  }
  const std::vector<double>& values = queries.values;
  const bool is_float = column.element == 'f' || column.element == 'e';
  const std::vector<float> floats(is_float ? values.begin() : values.end(), values.end());
  if (queries.levels == 3 || (queries.levels == 2 && column.multivector)) {
    std::vector<int64_t> lengths = queries.list_lengths;
    if (queries.levels == 2) {
      lengths = {static_cast<int64_t>(values.size()) / queries.width};
    }
    return is_float ? Table::FromVectorLists(floats, lengths, queries.width)
                    : Table::FromVectorLists(values, lengths, queries.width);
  }
  if (column.element == 'C' && std::all_of(values.begin(), values.end(), IsByte)) {
    return Table::FromVectors(std::vector<uint8_t>(values.begin(), values.end()), queries.width);
  }
  return is_float ? Table::FromVectors(floats, queries.width)
                  : Table::FromVectors(values, queries.width);
}

}  // namespace kinjo::cli
