#include "writing.h"

#include <utility>

namespace nb = nanobind;

namespace kinjo::python {

namespace {

const char* OrNull(const std::optional<std::string>& text) {
  return text.has_value() ? text->c_str() : nullptr;
}

Told ToDict(const kinjo_write_report& report) {
  Told told;
  told["version"] = report.version;
  told["rows"] = report.rows;
  told["fragments"] = report.fragments;
  told["old_fragments"] = report.old_fragments;
  told["bytes"] = report.bytes;
  return told;
}

// Runs one C call that commits, `bool(run options, report, error)`.
template <typename Change>
Told Commit(nb::object progress, const Change& change) {
  RequireSafeProcess();
  const auto watch = Watch::Make(std::move(progress));
  const kinjo_run_options run = watch->Options();
  kinjo_write_report report{};
  report.struct_size = sizeof(report);
  Long(watch.get(), [&](kinjo_error** error) { return change(&run, &report, error); });
  return ToDict(report);
}

}  // namespace

Told WriteDataset(const std::string& uri, const Table& rows, const Options& options,
                  nb::object progress) {
  const auto text = [&](const char* name) { return TextOrNone(name, options[name]); };
  const auto number = [&](const char* name) { return NumberOrUnset(name, options[name]); };
  const auto mode = text("mode"), data_version = text("data_version"),
             vector_column = text("vector_column");
  kinjo_write_options raw;
  kinjo_write_options_init(&raw, sizeof(raw));
  raw.mode = OrNull(mode);
  raw.data_version = OrNull(data_version);
  raw.vector_column = OrNull(vector_column);
  raw.max_rows_per_file = number("max_rows_per_file");
  raw.max_bytes_per_file = number("max_bytes_per_file");
  raw.stable_row_ids = FlagOf("stable_row_ids", options["stable_row_ids"]);
  raw.memory_limit_bytes = number("memory_limit_bytes");
  kinjo_table* table = rows.get();
  return Commit(std::move(progress), [&](const auto* run, auto* report, kinjo_error** error) {
    return kinjo_dataset_write(uri.c_str(), table, &raw, run, report, error);
  });
}

Told DeleteRows(const std::string& uri, nb::handle where_given) {
  const std::string where = TextOf("where", where_given);
  return Commit(nb::none(), [&](const auto* run, auto* report, kinjo_error** error) {
    return kinjo_dataset_delete(uri.c_str(), where.c_str(), run, report, error);
  });
}

Told CompactDataset(const std::string& uri, nb::handle target_rows, nb::handle deleted_share_max,
                    nb::object progress) {
  kinjo_compact_options raw;
  kinjo_compact_options_init(&raw, sizeof(raw));
  raw.target_rows = NumberOrUnset("target_rows", target_rows);
  if (!deleted_share_max.is_none()) {
    raw.deleted_share_max = FractionOf("deleted_share_max", deleted_share_max);
  }
  return Commit(std::move(progress), [&](const auto* run, auto* report, kinjo_error** error) {
    return kinjo_dataset_compact(uri.c_str(), &raw, run, report, error);
  });
}

}  // namespace kinjo::python
