#include "exec/operators/vector_query.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "exec/exact_rows.h"
#include "exec/multivector_array.h"
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

namespace {

using Vector = std::span<const double>;

int64_t WidthOf(const VectorQuery& query) {
  return static_cast<int64_t>(query.vector.size()) / query.num_vectors;
}

Vector VectorOf(const VectorQuery& query, int64_t i) {
  const auto width = static_cast<size_t>(WidthOf(query));
  return Vector(query.vector).subspan(static_cast<size_t>(i) * width, width);
}

bool VectorCanMatch(Vector vector, kernels::Metric metric) {
  const bool finite =
      std::all_of(vector.begin(), vector.end(), [](double value) { return std::isfinite(value); });
  if (!finite || metric != kernels::Metric::kCosine) return finite;
  return std::any_of(vector.begin(), vector.end(), [](double value) { return value != 0; });
}

arrow::Status AppendBytes(const VectorQuery& query, Vector vector, std::vector<uint8_t>* bytes) {
  for (const double value : vector) {
    if (!(value >= 0 && value <= 255) || value != std::floor(value)) {
      return base::Invalid("the query for column \"", query.column, "\" has the element ", value,
                           "; hamming compares bytes, 0 to 255");
    }
    bytes->push_back(static_cast<uint8_t>(value));
  }
  return arrow::Status::OK();
}

}  // namespace

bool CanMatch(const VectorQuery& query) {
  for (int64_t i = 0; i < query.num_vectors; ++i) {
    if (VectorCanMatch(VectorOf(query, i), query.metric)) return true;
  }
  return false;
}

arrow::Result<QueryRows> ToQueryRows(const VectorQuery& query) {
  QueryRows rows;
  rows.metric = query.metric;
  rows.dim = WidthOf(query);
  for (int64_t i = 0; i < query.num_vectors; ++i) {
    const Vector vector = VectorOf(query, i);
    if (!VectorCanMatch(vector, query.metric)) continue;
    ++rows.num_queries;
    if (query.metric == kernels::Metric::kHamming) {
      ARROW_RETURN_NOT_OK(AppendBytes(query, vector, &rows.bytes));
      continue;
    }
    rows.values.insert(rows.values.end(), vector.begin(), vector.end());
    if (query.metric != kernels::Metric::kCosine) continue;
    rows.norms.push_back(
        ScaleForCosine(rows.values.data() + rows.values.size() - vector.size(), rows.dim));
  }
  return rows;
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
  if (MultivectorTypeOf(type).has_value() || VectorTypeOf(type).has_value()) return field;
  return base::Invalid("column \"", column, "\" of ", where, " is ", type.ToString(),
                       ", not a vector: a list of numbers, fixed-size or not");
}

arrow::Status CheckQueryFits(const VectorQuery& query, const arrow::DataType& type) {
  const std::optional<VectorType> lists = MultivectorTypeOf(type);
  const std::optional<VectorType> vectors = lists.has_value() ? lists : VectorTypeOf(type);
  if (!vectors.has_value()) {
    return base::Internal("column \"", query.column, "\" is ", type.ToString(), ", not a vector");
  }
  if (query.num_vectors < 1 || (query.num_vectors > 1 && !lists.has_value())) {
    return base::Invalid("the query for column \"", query.column, "\" has ", query.num_vectors,
                         " vectors; a row of ", type.ToString(), " is compared with one");
  }
  const int64_t width = WidthOf(query);
  if (vectors->width.value_or(width) != width) {
    return base::Invalid("the query for column \"", query.column, "\" has ", width,
                         " elements, but the column has ", *vectors->width);
  }
  if (lists.has_value() && query.metric != kernels::Metric::kCosine) {
    return base::Invalid("column \"", query.column,
                         "\" holds lists of vectors, which are compared ", "by cosine, not by ",
                         kernels::MetricName(query.metric));
  }
  if (query.metric == kernels::Metric::kHamming && vectors->element != arrow::Type::UINT8) {
    return base::Invalid("metric hamming compares bytes, but column \"", query.column, "\" is ",
                         type.ToString());
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::exec
