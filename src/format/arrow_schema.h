// The Lance schema of Arrow fields: the counterpart of ToArrowType, for tables that are made.
#pragma once

#include <cstdint>
#include <vector>

#include "arrow/type.h"
#include "base/error.h"
#include "format/schema.h"

namespace kinjo::format {

/// A field and those below it, numbered depth first from *next_id on, which moves behind them. A
/// type that Lance has no name for is `not_supported` and names the field. String and binary views
/// become plain ones, extension types their storage; the items of
/// lists are called "item".
arrow::Result<Field> MakeField(const arrow::Field& field, int32_t parent_id, int32_t* next_id);

/// A whole schema, ids from 0.
arrow::Result<Schema> MakeSchema(const arrow::Schema& schema);

/// The fields of a schema as messages list them: depth first, without their children.
std::vector<Field> Flatten(const std::vector<Field>& fields);

/// The highest id at any depth; -1 when there is none.
int32_t HighestId(const std::vector<Field>& fields);

}  // namespace kinjo::format
