#include "exec/operators/vector_query.h"

#include <algorithm>
#include <cmath>

#include "exec/exact_rows.h"
#include "exec/vector_array.h"

namespace kinjo::exec {

std::shared_ptr<arrow::Schema> NeighborSchema() {
  static const auto schema = arrow::schema({arrow::field(kDistanceColumn, arrow::float32()),
                                            arrow::field(kRowIdColumn, arrow::uint64())});
  return schema;
}

std::shared_ptr<arrow::Schema> PartitionSchema() {
  static const auto schema = arrow::schema(
      {arrow::field(kPartitionIdColumn, arrow::list(arrow::field("item", arrow::uint32(), false)),
                    false),
       arrow::field(kCentroidDistanceColumn,
                    arrow::list(arrow::field("item", arrow::float32(), false)), false),
       arrow::field(kIndexUuidColumn, arrow::utf8(), false)});
  return schema;
}

bool CanMatch(const VectorQuery& query) {
  const auto& vector = query.vector;
  const bool finite =
      std::all_of(vector.begin(), vector.end(), [](double value) { return std::isfinite(value); });
  if (!finite || query.metric != kernels::Metric::kCosine) return finite;
  return std::any_of(vector.begin(), vector.end(), [](double value) { return value != 0; });
}

arrow::Result<QueryRows> ToQueryRows(const VectorQuery& query) {
  QueryRows rows;
  rows.metric = query.metric;
  rows.num_queries = 1;
  rows.dim = static_cast<int64_t>(query.vector.size());
  if (query.metric == kernels::Metric::kHamming) {
    for (const double value : query.vector) {
      if (!(value >= 0 && value <= 255) || value != std::floor(value)) {
        return base::Invalid("the query for column \"", query.column, "\" has the element ", value,
                             "; hamming compares bytes, 0 to 255");
      }
      rows.bytes.push_back(static_cast<uint8_t>(value));
    }
    return rows;
  }
  rows.values = query.vector;
  if (query.metric == kernels::Metric::kCosine) {
    rows.norms.push_back(ScaleForCosine(rows.values.data(), rows.dim));
  }
  return rows;
}

bool IsMultivector(const arrow::DataType& type) {
  const bool is_list = type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST;
  if (!is_list) return false;
  const arrow::DataType& item = *type.field(0)->type();
  return item.id() == arrow::Type::FIXED_SIZE_LIST && VectorTypeOf(item).has_value();
}

arrow::Result<std::shared_ptr<arrow::Field>> FindVectorField(const arrow::Schema& schema,
                                                             const std::string& column,
                                                             const std::string& where) {
  auto field = schema.GetFieldByName(column);
  if (field == nullptr) {
    std::string names;
    for (const auto& other : schema.fields()) names += (names.empty() ? "" : ", ") + other->name();
    return base::NotFound("column \"", column, "\" is not in ", where, "; its columns are ", names);
  }
  const arrow::DataType& type = *field->type();
  if (IsMultivector(type) || VectorTypeOf(type).has_value()) return field;
  return base::Invalid("column \"", column, "\" of ", where, " is ", type.ToString(),
                       ", not a vector: a list of numbers, fixed-size or not");
}

}  // namespace kinjo::exec
