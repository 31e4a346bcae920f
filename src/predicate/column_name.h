// Columns and nested fields found by the names in a predicate, as Lance finds them: a bare name in
// any case, a quoted one exactly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrow/type.h"
#include "base/error.h"
#include "predicate/operand.h"
#include "predicate/syntax.h"

namespace kinjo::predicate {

/// The column `names` leads to. `not_found` lists the names that there are; a bare name that fits
/// several in different case, none of them exactly, is `invalid`.
arrow::Result<Operand> BindColumn(const std::vector<SyntaxName>& names, const arrow::Schema& schema,
                                  int64_t position);

}  // namespace kinjo::predicate
