// Types of values: what columns of each Arrow type are computed in, and the type in which two
// values meet.
#pragma once

#include <memory>

#include "arrow/type.h"

namespace kinjo::predicate {

using TypePtr = std::shared_ptr<arrow::DataType>;

/// The type that a column is computed in: that of a dictionary's or a run's values, of an
/// extension's storage, float32 for float16, text and bytes without views, decimals of 128 bits and
/// more; else the type itself.
TypePtr ValueType(const TypePtr& stored);

/// int8 to uint64.
bool IsInteger(const arrow::DataType& type);
/// float32 and float64; value types hold no float16.
bool IsFloat(const arrow::DataType& type);
bool IsDecimal(const arrow::DataType& type);
bool IsNumber(const arrow::DataType& type);
bool IsText(const arrow::DataType& type);
/// Bytes of any kind, text not among them.
bool IsBytes(const arrow::DataType& type);
/// Dates and timestamps.
bool IsInstant(const arrow::DataType& type);
bool IsTime(const arrow::DataType& type);
bool IsList(const arrow::DataType& type);
/// True of the types above but lists, of booleans and durations: those that have an order.
bool IsComparable(const arrow::DataType& type);

/// The decimal that holds every value of an integer type, or the decimal itself.
TypePtr DecimalOf(const arrow::DataType& type);

/// The type to compare values of both types in, which holds each of them: except that integers
/// and decimals meet floats in float64. Null when there is none. Of null and another: the other.
TypePtr CommonType(const TypePtr& left, const TypePtr& right);

}  // namespace kinjo::predicate
