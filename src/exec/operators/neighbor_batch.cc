#include "exec/operators/neighbor_batch.h"

#include <algorithm>
#include <limits>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "exec/operators/prefilter.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

namespace {

arrow::Status CheckColumn(const arrow::Schema& schema, const std::string& what, const char* column,
                          const std::shared_ptr<arrow::DataType>& type) {
  const auto field = schema.GetFieldByName(column);
  if (field != nullptr && field->type()->Equals(*type)) return arrow::Status::OK();
  return base::Invalid(what, ": the input has no column \"", column, "\" of type ",
                       type->ToString());
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatch>> MakeNeighborBatch(
    const dataset::Dataset& dataset, std::span<const kernels::Neighbor> neighbors) {
  const size_t rows = neighbors.size();
  std::vector<float> distances(rows);
  std::vector<uint64_t> addresses(rows);
  std::vector<uint64_t> row_ids(rows);
  for (size_t i = 0; i < rows; ++i) {
    distances[i] = neighbors[i].distance;
    addresses[i] = neighbors[i].address;
  }
  ARROW_RETURN_NOT_OK(dataset.RowIds(addresses, row_ids));
  arrow::ArrayVector columns(2);
  arrow::FloatBuilder distance_builder;
  arrow::UInt64Builder row_id_builder;
  ARROW_RETURN_NOT_OK(distance_builder.AppendValues(distances));
  ARROW_RETURN_NOT_OK(row_id_builder.AppendValues(row_ids));
  ARROW_RETURN_NOT_OK(distance_builder.Finish(&columns[0]));
  ARROW_RETURN_NOT_OK(row_id_builder.Finish(&columns[1]));
  return arrow::RecordBatch::Make(NeighborSchema(), static_cast<int64_t>(rows), std::move(columns));
}

arrow::Result<std::vector<dataset::RowAddress>> ReadAddresses(const dataset::Dataset& dataset,
                                                              const arrow::RecordBatch& batch) {
  const auto ids = batch.GetColumnByName(kRowIdColumn);
  ARROW_ASSIGN_OR_RAISE(auto addresses, FindLiveRows(dataset, *ids));
  const auto dead = std::find(addresses.begin(), addresses.end(), dataset::kDeadRow);
  if (dead == addresses.end()) return addresses;
  const auto& values = static_cast<const arrow::UInt64Array&>(*ids);
  const int64_t row = dead - addresses.begin();
  if (values.IsNull(row)) return base::Invalid("a null row id for a row of ", dataset.uri());
  return base::Invalid(dataset.uri(), " has no live row with row id ", values.Value(row));
}

arrow::Result<std::vector<kernels::Neighbor>> ReadNeighbors(const dataset::Dataset& dataset,
                                                            const arrow::RecordBatch& batch) {
  ARROW_ASSIGN_OR_RAISE(const auto addresses, ReadAddresses(dataset, batch));
  const auto& distances =
      static_cast<const arrow::FloatArray&>(*batch.GetColumnByName(kDistanceColumn));
  std::vector<kernels::Neighbor> neighbors(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    neighbors[i] = {
        distances.IsNull(row) ? std::numeric_limits<float>::quiet_NaN() : distances.Value(row),
        addresses[i]};
  }
  return neighbors;
}

arrow::Status CheckNeighborColumns(const arrow::Schema& schema, const std::string& what,
                                   bool needs_distance) {
  ARROW_RETURN_NOT_OK(CheckColumn(schema, what, kRowIdColumn, arrow::uint64()));
  if (!needs_distance) return arrow::Status::OK();
  return CheckColumn(schema, what, kDistanceColumn, arrow::float32());
}

}  // namespace kinjo::exec
