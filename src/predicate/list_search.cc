#include "predicate/list_search.h"

#include <utility>
#include <vector>

#include "arrow/array/array_nested.h"
#include "arrow/array/builder_primitive.h"
#include "arrow/compute/api_scalar.h"
#include "arrow/util/checked_cast.h"
#include "predicate/batch_columns.h"
#include "predicate/compare_values.h"
#include "predicate/evaluate.h"

namespace kinjo::predicate {

namespace {

using arrow::internal::checked_cast;
using ArrayPtr = std::shared_ptr<arrow::Array>;

/// The elements that lists are cut from, and where each list's lie.
struct Elements {
  ArrayPtr values;
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
};

template <typename ListArray>
Elements ElementsOf(const arrow::Array& array) {
  const auto& lists = checked_cast<const ListArray&>(array);
  Elements elements;
  for (int64_t row = 0; row < lists.length(); ++row) {
    elements.begins.push_back(lists.value_offset(row));
    elements.ends.push_back(elements.begins.back() + lists.value_length(row));
  }
  const int64_t first = elements.begins.empty() ? 0 : elements.begins.front();
  const int64_t last = elements.ends.empty() ? 0 : elements.ends.back();
  elements.values = lists.values()->Slice(first, last - first);
  for (int64_t& begin : elements.begins) begin -= first;
  for (int64_t& end : elements.ends) end -= first;
  return elements;
}

Elements ElementsOf(const arrow::Array& lists) {
  if (lists.type_id() == arrow::Type::LIST) return ElementsOf<arrow::ListArray>(lists);
  if (lists.type_id() == arrow::Type::LARGE_LIST) return ElementsOf<arrow::LargeListArray>(lists);
  return ElementsOf<arrow::FixedSizeListArray>(lists);
}

/// Clears `found` of the lists in which no element is a hit; a null is none.
void KeepListsWithAny(const Elements& elements, const arrow::Datum& hits,
                      std::vector<bool>* found) {
  const ArrayPtr array = hits.make_array();
  const auto& is_hit = checked_cast<const arrow::BooleanArray&>(*array);
  for (size_t row = 0; row < found->size(); ++row) {
    bool any = false;
    for (int64_t i = elements.begins[row]; i < elements.ends[row] && !any; ++i)
      any = is_hit.IsValid(i) && is_hit.Value(i);
    if (!any) (*found)[row] = false;
  }
}

}  // namespace

arrow::Result<ArrayPtr> SearchLists(const arrow::Array& lists, const ArrayPtr& values,
                                    ListSearch search) {
  Elements elements = ElementsOf(lists);
  ARROW_ASSIGN_OR_RAISE(elements.values, PlainArray(std::move(elements.values)));
  std::vector<bool> found(static_cast<size_t>(lists.length()), true);
  if (search == ListSearch::kAny) {
    const arrow::compute::SetLookupOptions options(values);
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum hits, CallArrow("is_in", {elements.values}, &options));
    KeepListsWithAny(elements, hits, &found);
  }
  for (int64_t i = 0; search == ListSearch::kAll && i < values->length(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const auto value, values->GetScalar(i));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum hits,
                          CompareValues(ExpressionKind::kEqual, elements.values, value));
    KeepListsWithAny(elements, hits, &found);
  }
  arrow::BooleanBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(lists.length()));
  for (int64_t row = 0; row < lists.length(); ++row) {
    if (lists.IsNull(row)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(found[static_cast<size_t>(row)]);
    }
  }
  return builder.Finish();
}

}  // namespace kinjo::predicate
