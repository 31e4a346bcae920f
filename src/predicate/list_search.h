// Looking for values in lists: array_has and its like, which Arrow has no kernels for.
#pragma once

#include <cstdint>
#include <memory>

#include "arrow/array/array_base.h"
#include "base/error.h"

namespace kinjo::predicate {

enum class ListSearch : uint8_t { kAny, kAll };

/// For each list whether any, or all, of `values` (as Expression::values, of the elements' value
/// type) are in it; null for a null list. Null elements are equal to nothing.
arrow::Result<std::shared_ptr<arrow::Array>> SearchLists(
    const arrow::Array& lists, const std::shared_ptr<arrow::Array>& values, ListSearch search);

}  // namespace kinjo::predicate
