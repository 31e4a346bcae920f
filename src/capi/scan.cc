// A dataset's rows at the wall.
#include "capi/join_options.h"
#include "capi/optional_number.h"
#include "capi/wall.h"
#include "dataset/scan_stream.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

namespace {

kinjo_scan_options Defaults() {
  kinjo_scan_options options{};
  options.struct_size = sizeof(options);
  options.limit = KINJO_UNSET;
  options.batch_rows = KINJO_UNSET;
  options.offset = KINJO_UNSET;
  return options;
}

arrow::Result<kinjo::dataset::RowsRequest> ToRequest(const kinjo_scan_options* options) {
  kinjo_scan_options given = Defaults();
  ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_scan_options", &given));
  kinjo::dataset::RowsRequest request;
  if (given.columns != nullptr) {
    request.columns.emplace();
    for (size_t i = 0; i < given.num_columns; ++i) {
      if (given.columns[i] == nullptr) return kinjo::base::Invalid("columns[", i, "] is NULL");
      request.columns->emplace_back(given.columns[i]);
    }
  }
  request.where = TextOf(given.where);
  request.limit = OptionalNumber(given.limit);
  if (given.offset != KINJO_UNSET) request.offset = given.offset;
  request.with_row_id = given.with_row_id;
  if (given.batch_rows != KINJO_UNSET) request.batch_rows = given.batch_rows;
  if (given.fragment_ids != nullptr) {
    request.fragment_ids.emplace(given.fragment_ids, given.fragment_ids + given.num_fragment_ids);
  }
  return request;
}

}  // namespace

void kinjo_scan_options_init(kinjo_scan_options* options, size_t struct_size) {
  InitStruct(options, struct_size, Defaults());
}

bool kinjo_dataset_scan(const kinjo_dataset* dataset, const kinjo_scan_options* options,
                        const kinjo_run_options* run_options, kinjo_stream** stream,
                        kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset, "dataset"));
    ARROW_RETURN_NOT_OK(RequireArgument(stream, "stream"));
    ARROW_ASSIGN_OR_RAISE(const auto request, ToRequest(options));
    ARROW_ASSIGN_OR_RAISE(RunControl control, ToRunControl(run_options));
    auto handle = std::make_unique<kinjo_stream>();
    ARROW_ASSIGN_OR_RAISE(handle->stream,
                          StreamRows(dataset->dataset, request, std::move(control.cancel),
                                     std::move(control.progress)));
    *stream = handle.release();
    return arrow::Status::OK();
  });
}

bool kinjo_dataset_count_rows(const kinjo_dataset* dataset, const char* where,
                              const kinjo_run_options* run_options, int64_t* rows,
                              kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(dataset, "dataset"));
    ARROW_RETURN_NOT_OK(RequireArgument(rows, "rows"));
    ARROW_ASSIGN_OR_RAISE(const RunControl control, ToRunControl(run_options));
    return CountRows(dataset->dataset.get(), TextOf(where), control.cancel).Value(rows);
  });
}
