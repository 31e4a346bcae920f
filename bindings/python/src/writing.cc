#include "writing.h"

#include <utility>

namespace nb = nanobind;

namespace kinjo::python {

namespace {

const char* OrNull(const std::optional<std::string>& text) {
  return text.has_value() ? text->c_str() : nullptr;
}

nb::dict ToDict(const kinjo_write_report& report) {
  nb::dict told;
  told["version"] = report.version;
  told["rows"] = report.rows;
  told["fragments"] = report.fragments;
  told["old_fragments"] = report.old_fragments;
  told["bytes"] = report.bytes;
  return told;
}

// Runs one C call that commits, `bool(run options, report, error)`.
template <typename Change>
nb::dict Commit(nb::object progress, const Change& change) {
  RequireSafeProcess();
  const auto watch = Watch::Make(std::move(progress));
  const kinjo_run_options run = watch->Options();
  kinjo_write_report report{};
  report.struct_size = sizeof(report);
  Long(watch.get(), [&](kinjo_error** error) { return change(&run, &report, error); });
  return ToDict(report);
}

}  // namespace

nb::dict WriteDataset(const std::string& uri, const Table& rows, const WriteOptions& options,
                      nb::object progress) {
  kinjo_write_options raw;
  kinjo_write_options_init(&raw, sizeof(raw));
  raw.mode = options.mode.c_str();
  raw.data_version = OrNull(options.data_version);
  raw.vector_column = OrNull(options.vector_column);
  raw.max_rows_per_file = options.max_rows_per_file.value_or(KINJO_UNSET);
  raw.max_bytes_per_file = options.max_bytes_per_file.value_or(KINJO_UNSET);
  raw.stable_row_ids = options.stable_row_ids;
  raw.memory_limit_bytes = options.memory_limit_bytes.value_or(KINJO_UNSET);
  kinjo_table* table = rows.get();
  return Commit(std::move(progress), [&](const auto* run, auto* report, kinjo_error** error) {
    return kinjo_dataset_write(uri.c_str(), table, &raw, run, report, error);
  });
}

nb::dict DeleteRows(const std::string& uri, const std::string& where) {
  return Commit(nb::none(), [&](const auto* run, auto* report, kinjo_error** error) {
    return kinjo_dataset_delete(uri.c_str(), where.c_str(), run, report, error);
  });
}

nb::dict CompactDataset(const std::string& uri, std::optional<int64_t> target_rows,
                        std::optional<double> deleted_share_max, nb::object progress) {
  kinjo_compact_options raw;
  kinjo_compact_options_init(&raw, sizeof(raw));
  raw.target_rows = target_rows.value_or(KINJO_UNSET);
  if (deleted_share_max.has_value()) raw.deleted_share_max = *deleted_share_max;
  return Commit(std::move(progress), [&](const auto* run, auto* report, kinjo_error** error) {
    return kinjo_dataset_compact(uri.c_str(), &raw, run, report, error);
  });
}

}  // namespace kinjo::python
