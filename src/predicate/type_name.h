// SQL's names of types.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/type.h"
#include "base/error.h"

namespace kinjo::predicate {

/// The type that `name` (lower case, words parted by one space, e.g. "double precision") and its
/// numbers in parentheses mean, as DataFusion has them; null when there is no such name. Numbers
/// that the type doesn't take are `invalid`, without a position.
arrow::Result<std::shared_ptr<arrow::DataType>> TypeNamed(const std::string& name,
                                                          const std::vector<int64_t>& numbers);

}  // namespace kinjo::predicate
