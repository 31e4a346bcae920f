#include "exec/multivector_array.h"

#include <algorithm>

namespace kinjo::exec {

namespace {

template <typename ListArray>
arrow::Result<FlatLists> Flatten(const arrow::Array& array) {
  const auto& lists = static_cast<const ListArray&>(array);
  FlatLists out;
  out.begins.reserve(static_cast<size_t>(array.length()) + 1);
  out.begins.push_back(0);
  for (int64_t i = 0; i < array.length(); ++i) {
    const int64_t vectors = array.IsNull(i) ? 0 : lists.value_length(i);
    out.begins.push_back(out.begins.back() + vectors);
  }
  // Leaves out what lies below null rows.
  ARROW_ASSIGN_OR_RAISE(out.vectors, lists.Flatten());
  if (out.vectors->length() != out.begins.back()) {
    return base::Internal("lists of ", out.begins.back(), " vectors flatten to ",
                          out.vectors->length());
  }
  return out;
}

arrow::Result<FlatLists> FlattenAny(const arrow::Array& array, const std::string& what) {
  switch (array.type_id()) {
    case arrow::Type::LIST:
      return Flatten<arrow::ListArray>(array);
    case arrow::Type::LARGE_LIST:
      return Flatten<arrow::LargeListArray>(array);
    case arrow::Type::FIXED_SIZE_LIST:
      return Flatten<arrow::FixedSizeListArray>(array);
    default:
      return base::Internal(what, " is not a column of lists");
  }
}

/// Elements of vector `i`, which isn't null.
int64_t WidthOf(const arrow::Array& vectors, int64_t i) {
  switch (vectors.type_id()) {
    case arrow::Type::LIST:
      return static_cast<const arrow::ListArray&>(vectors).value_length(i);
    case arrow::Type::LARGE_LIST:
      return static_cast<const arrow::LargeListArray&>(vectors).value_length(i);
    default:
      return static_cast<const arrow::FixedSizeListArray&>(vectors).value_length(i);
  }
}

/// Checks every vector's width and keeps it.
arrow::Status CheckWidths(const VectorRead& read, FlatLists* lists) {
  lists->width = read.width;
  std::string expected = read.expected;
  for (int64_t row = 0; row < lists->num_rows(); ++row) {
    for (int64_t i = lists->begins[row]; i < lists->begins[row + 1]; ++i) {
      if (lists->vectors->IsNull(i)) continue;
      const int64_t width = WidthOf(*lists->vectors, i);
      if (lists->width < 0) {
        lists->width = width;
        expected = base::Concat("row ", read.first_row + row);
      }
      if (width == lists->width) continue;
      return base::Invalid(read.what, ": vector ", i - lists->begins[row], " of row ",
                           read.first_row + row, " has ", width, " elements, but ",
                           expected.empty() ? "the column" : expected, " has ", lists->width);
    }
  }
  return arrow::Status::OK();
}

}  // namespace

std::optional<VectorType> MultivectorTypeOf(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
      return VectorTypeOf(*static_cast<const arrow::BaseListType&>(type).value_type());
    default:
      return std::nullopt;
  }
}

arrow::Result<FlatLists> FlattenLists(const std::shared_ptr<arrow::Array>& array,
                                      const VectorRead& read) {
  ARROW_ASSIGN_OR_RAISE(FlatLists lists, FlattenAny(*array, read.what));
  ARROW_RETURN_NOT_OK(CheckWidths(read, &lists));
  return lists;
}

arrow::Result<int64_t> CountListsWithin(const arrow::Array& array, int64_t vectors) {
  ARROW_ASSIGN_OR_RAISE(const FlatLists lists, FlattenAny(array, "the array"));
  const auto past = std::upper_bound(lists.begins.begin() + 1, lists.begins.end(), vectors);
  return past - (lists.begins.begin() + 1);
}

VectorRead ReadOfVectors(const VectorRead& read, const FlatLists& lists) {
  return {.what = base::Concat(read.what, ", its vectors from row ", read.first_row, " on"),
          .width = lists.width,
          .expected = read.expected};
}

VectorState StateOfList(std::span<const VectorState> states) {
  const auto has = [&](VectorState state) {
    return std::find(states.begin(), states.end(), state) != states.end();
  };
  if (has(VectorState::kValid)) return VectorState::kValid;
  return has(VectorState::kNonFinite) ? VectorState::kNonFinite : VectorState::kNull;
}

}  // namespace kinjo::exec
