// Casts as SQL has them: fractions are cut off, and what the type can't hold is an error.
#pragma once

#include <memory>

#include "arrow/datum.h"
#include "arrow/type.h"
#include "base/error.h"

namespace kinjo::predicate {

/// Numbers to integers lose their fraction, to a decimal's scale they are rounded half away from
/// zero, timestamps lose what the unit has not. Overflow, NaN as an integer and text that can't be
/// read are `invalid`; a cast that there isn't is `not_supported`.
arrow::Result<arrow::Datum> CastValue(const arrow::Datum& value,
                                      const std::shared_ptr<arrow::DataType>& to);

/// False when every value of `from` has one in `to`.
bool CastCanFail(const std::shared_ptr<arrow::DataType>& from,
                 const std::shared_ptr<arrow::DataType>& to);

}  // namespace kinjo::predicate
