// The functions of the language: one table of names, each with how its arguments are typed and
// which of Arrow's kernels computes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrow/datum.h"
#include "base/error.h"
#include "predicate/operand.h"

namespace kinjo::predicate {

/// An argument of a call: a value, or the values of a list [a, b].
struct Argument {
  Operand value;  ///< not of a list
  std::vector<Operand> items;
  bool is_list = false;
};

/// The typed call of `name` (lower case). A name that isn't known (the message lists those that
/// are), a wrong number of arguments and arguments of wrong types are `invalid`.
arrow::Result<Operand> BindCall(const std::string& name, const std::vector<Argument>& arguments,
                                int64_t position);

/// left || right, as text; null where either is.
arrow::Result<Operand> BindConcat(const Operand& left, const Operand& right, int64_t position);

/// The value of a kFunction node, from its inputs' values.
arrow::Result<arrow::Datum> ApplyFunction(const Expression& node,
                                          const std::vector<arrow::Datum>& inputs);

}  // namespace kinjo::predicate
