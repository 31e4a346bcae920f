// A long join written to a folder of parts, or continued there.
#include "capi/join_options.h"
#include "capi/optional_number.h"
#include "capi/wall.h"
#include "join/write_parts.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

namespace {

kinjo_parts_options Defaults() {
  return {sizeof(kinjo_parts_options), nullptr, nullptr, KINJO_UNSET, KINJO_UNSET};
}

arrow::Result<kinjo::join::PartsOptions> ToPartsOptions(const kinjo_parts_options* options) {
  kinjo_parts_options given = Defaults();
  ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_parts_options", &given));
  kinjo::join::PartsOptions parts;
  parts.sink.format = TextOf(given.format);
  parts.sink.compression = TextOf(given.compression);
  ARROW_ASSIGN_OR_RAISE(const auto rows, OptionalCount("row_group_rows", given.row_group_rows));
  parts.sink.row_group_rows = rows.value_or(parts.sink.row_group_rows);
  parts.part_rows = OptionalNumber(given.part_rows);
  return parts;
}

arrow::Status FillInfo(const kinjo::join::PartsOutcome& outcome, kinjo_parts_info* info) {
  if (info == nullptr) return arrow::Status::OK();
  kinjo_parts_info filled{};
  filled.finished = outcome.finished;
  filled.parts = outcome.parts;
  filled.parts_before = outcome.parts_before;
  filled.left_rows = outcome.left_rows;
  filled.rows = outcome.rows;
  return FillStruct(filled, "kinjo_parts_info", info);
}

}  // namespace

void kinjo_parts_options_init(kinjo_parts_options* options, size_t struct_size) {
  InitStruct(options, struct_size, Defaults());
}

bool kinjo_parts_options_check(const char* folder, const kinjo_parts_options* options,
                               kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(folder, "folder"));
    ARROW_ASSIGN_OR_RAISE(const auto parts, ToPartsOptions(options));
    return kinjo::join::CheckPartsOptions(folder, parts);
  });
}

bool kinjo_join_write_parts(kinjo_join* join, const char* folder,
                            const kinjo_parts_options* parts_options,
                            const kinjo_run_options* run_options, kinjo_parts_info* info,
                            kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(join, "join"));
    ARROW_RETURN_NOT_OK(RequireArgument(folder, "folder"));
    ARROW_ASSIGN_OR_RAISE(const auto options, ToPartsOptions(parts_options));
    ARROW_ASSIGN_OR_RAISE(RunControl control, ToRunControl(run_options));
    ARROW_RETURN_NOT_OK(FillInfo({}, info));
    kinjo::join::PartsOutcome outcome;
    arrow::Status written = kinjo::join::WriteParts(
        join->join.get(), folder, options, control.cancel, std::move(control.progress), &outcome);
    ARROW_RETURN_NOT_OK(FillInfo(outcome, info));
    return written;
  });
}
