// Datasets written and changed, at the wall.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "capi/join_options.h"
#include "capi/optional_number.h"
#include "capi/wall.h"
#include "dataset/change_columns.h"
#include "dataset/cleanup.h"
#include "dataset/compact.h"
#include "dataset/delete_rows.h"
#include "dataset/restore.h"
#include "dataset/row_alignment.h"
#include "dataset/write_dataset.h"
#include "tabular/table_source.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

namespace {

using kinjo::dataset::WriteOptions;

kinjo_write_options WriteDefaults() {
  return {sizeof(kinjo_write_options),
          nullptr,
          nullptr,
          nullptr,
          KINJO_UNSET,
          KINJO_UNSET,
          false,
          KINJO_UNSET};
}

kinjo_compact_options CompactDefaults() {
  return {sizeof(kinjo_compact_options), KINJO_UNSET, std::nan("")};
}

kinjo_cleanup_options CleanupDefaults() {
  return {sizeof(kinjo_cleanup_options), KINJO_UNSET, KINJO_UNSET, KINJO_UNSET};
}

/// The options, and the column that becomes vectors.
struct WriteRequest {
  WriteOptions options;
  std::string vector_column;
};

arrow::Result<WriteRequest> ToWriteRequest(const kinjo_write_options* options) {
  kinjo_write_options given = WriteDefaults();
  ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_write_options", &given));
  WriteRequest request;
  request.vector_column = TextOf(given.vector_column);
  WriteOptions& write = request.options;
  if (given.mode != nullptr) {
    ARROW_ASSIGN_OR_RAISE(write.mode, kinjo::dataset::ParseWriteMode(given.mode));
  }
  write.data_version = TextOf(given.data_version);
  ARROW_ASSIGN_OR_RAISE(const auto rows,
                        OptionalCount("max_rows_per_file", given.max_rows_per_file));
  ARROW_ASSIGN_OR_RAISE(const auto bytes,
                        OptionalCount("max_bytes_per_file", given.max_bytes_per_file));
  ARROW_ASSIGN_OR_RAISE(const auto memory,
                        OptionalCount("memory_limit_bytes", given.memory_limit_bytes));
  if (rows.has_value()) write.limits.max_rows = static_cast<uint64_t>(*rows);
  if (bytes.has_value()) write.limits.max_bytes = static_cast<uint64_t>(*bytes);
  write.memory_limit_bytes = memory.value_or(kinjo::base::DefaultMemoryLimitBytes());
  write.stable_row_ids = given.stable_row_ids;
  ARROW_RETURN_NOT_OK(kinjo::dataset::CheckWriteOptions(write));
  return request;
}

/// Runs a change behind the wall, with what watches and stops it, and gives what it reports.
bool Change(const char* uri, const kinjo_run_options* run_options, kinjo_write_report* report,
            kinjo_error** error,
            const std::function<arrow::Result<kinjo_write_report>(RunControl)>& change) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(uri, "uri"));
    ARROW_RETURN_NOT_OK(StartEngine());
    ARROW_ASSIGN_OR_RAISE(RunControl control, ToRunControl(run_options));
    ARROW_ASSIGN_OR_RAISE(const kinjo_write_report done, change(std::move(control)));
    if (report == nullptr) return arrow::Status::OK();
    return FillStruct(done, "kinjo_write_report", report);
  });
}

arrow::Result<kinjo_write_report> Committed(const arrow::Result<uint64_t>& version) {
  ARROW_RETURN_NOT_OK(version.status());
  kinjo_write_report report{};
  report.version = *version;
  return report;
}

/// Judges a tag's call and runs it.
bool ChangeTag(const char* uri, const char* tag, int64_t version, kinjo_error** error,
               arrow::Status (*change)(const std::string&, const std::string&,
                                       std::optional<uint64_t>)) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(uri, "uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(tag, "tag"));
    ARROW_ASSIGN_OR_RAISE(const auto named, OptionalVersion("version", version));
    return change(uri, tag, named);
  });
}

}  // namespace

void kinjo_write_options_init(kinjo_write_options* options, size_t struct_size) {
  InitStruct(options, struct_size, WriteDefaults());
}

bool kinjo_write_options_check(const kinjo_write_options* options, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status { return ToWriteRequest(options).status(); });
}

bool kinjo_dataset_write(const char* uri, kinjo_table* rows, const kinjo_write_options* options,
                         const kinjo_run_options* run_options, kinjo_write_report* report,
                         kinjo_error** error) {
  const auto write = [&](RunControl control) -> arrow::Result<kinjo_write_report> {
    ARROW_RETURN_NOT_OK(RequireArgument(rows, "rows"));
    ARROW_ASSIGN_OR_RAISE(WriteRequest request, ToWriteRequest(options));
    request.options.cancel = control.cancel;
    request.options.progress = std::move(control.progress);
    kinjo::base::ThreadPool pool(std::min(2, kinjo::base::DefaultThreadCount()));
    request.options.pool = &pool;
    request.options.total_rows = rows->source->num_rows().value_or(-1);
    ARROW_ASSIGN_OR_RAISE(auto stream, rows->source->Read(std::nullopt));
    if (!request.vector_column.empty()) {
      ARROW_ASSIGN_OR_RAISE(
          stream, kinjo::dataset::WithVectorColumn(std::move(stream), request.vector_column));
    }
    ARROW_ASSIGN_OR_RAISE(const auto done,
                          kinjo::dataset::WriteDataset(uri, stream.get(), request.options));
    kinjo_write_report filled{};
    filled.version = done.version;
    filled.rows = done.rows;
    filled.fragments = done.fragments;
    filled.bytes = done.bytes;
    return filled;
  };
  return Change(uri, run_options, report, error, write);
}

bool kinjo_dataset_delete(const char* uri, const char* where, const kinjo_run_options* run_options,
                          kinjo_write_report* report, kinjo_error** error) {
  const auto remove = [&](const RunControl& control) -> arrow::Result<kinjo_write_report> {
    ARROW_RETURN_NOT_OK(RequireArgument(where, "where"));
    kinjo::base::ThreadPool pool(kinjo::base::DefaultThreadCount());
    ARROW_ASSIGN_OR_RAISE(const auto done,
                          kinjo::dataset::DeleteRows(uri, where, &pool, control.cancel));
    kinjo_write_report filled{};
    filled.version = done.version;
    filled.rows = done.rows;
    return filled;
  };
  return Change(uri, run_options, report, error, remove);
}

bool kinjo_dataset_add_columns(const char* uri, kinjo_table* columns,
                               const kinjo_run_options* run_options, kinjo_write_report* report,
                               kinjo_error** error) {
  const auto add = [&](RunControl control) -> arrow::Result<kinjo_write_report> {
    ARROW_RETURN_NOT_OK(RequireArgument(columns, "columns"));
    ARROW_ASSIGN_OR_RAISE(const auto stream, columns->source->Read(std::nullopt));
    const kinjo::dataset::AddColumnsOptions options{control.cancel, std::move(control.progress)};
    ARROW_ASSIGN_OR_RAISE(const auto done, kinjo::dataset::AddColumns(uri, stream.get(), options));
    kinjo_write_report filled{};
    filled.version = done.version;
    filled.rows = done.rows;
    filled.bytes = done.bytes;
    return filled;
  };
  return Change(uri, run_options, report, error, add);
}

bool kinjo_dataset_drop_columns(const char* uri, const char* const* names, size_t num_names,
                                kinjo_write_report* report, kinjo_error** error) {
  const auto drop = [&](const RunControl& control) -> arrow::Result<kinjo_write_report> {
    if (num_names == 0) return kinjo::base::Invalid("names is empty; it must name a column");
    ARROW_RETURN_NOT_OK(RequireArgument(names, "names"));
    std::vector<std::string> columns;
    columns.reserve(num_names);
    for (size_t i = 0; i < num_names; ++i) columns.push_back(TextOf(names[i]));
    return Committed(kinjo::dataset::DropColumns(uri, columns, control.cancel));
  };
  return Change(uri, nullptr, report, error, drop);
}

bool kinjo_dataset_rename_column(const char* uri, const char* column, const char* name,
                                 kinjo_write_report* report, kinjo_error** error) {
  const auto rename = [&](const RunControl& control) -> arrow::Result<kinjo_write_report> {
    ARROW_RETURN_NOT_OK(RequireArgument(column, "column"));
    ARROW_RETURN_NOT_OK(RequireArgument(name, "name"));
    return Committed(kinjo::dataset::RenameColumn(uri, column, name, control.cancel));
  };
  return Change(uri, nullptr, report, error, rename);
}

void kinjo_compact_options_init(kinjo_compact_options* options, size_t struct_size) {
  InitStruct(options, struct_size, CompactDefaults());
}

bool kinjo_dataset_compact(const char* uri, const kinjo_compact_options* options,
                           const kinjo_run_options* run_options, kinjo_write_report* report,
                           kinjo_error** error) {
  const auto compact = [&](RunControl control) -> arrow::Result<kinjo_write_report> {
    kinjo_compact_options given = CompactDefaults();
    ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_compact_options", &given));
    kinjo::dataset::CompactOptions wanted;
    ARROW_ASSIGN_OR_RAISE(const auto rows, OptionalCount("target_rows", given.target_rows));
    if (rows.has_value()) wanted.target_rows = static_cast<uint64_t>(*rows);
    if (!std::isnan(given.deleted_share_max)) wanted.deleted_share_max = given.deleted_share_max;
    wanted.cancel = control.cancel;
    wanted.progress = std::move(control.progress);
    ARROW_ASSIGN_OR_RAISE(const auto done, kinjo::dataset::CompactDataset(uri, wanted));
    kinjo_write_report filled{};
    filled.version = done.version;
    filled.rows = done.rows;
    filled.fragments = done.new_fragments;
    filled.old_fragments = done.old_fragments;
    filled.bytes = done.bytes;
    return filled;
  };
  return Change(uri, run_options, report, error, compact);
}

bool kinjo_dataset_restore(const char* uri, int64_t version, const char* tag,
                           kinjo_write_report* report, kinjo_error** error) {
  const auto restore = [&](const RunControl& control) -> arrow::Result<kinjo_write_report> {
    kinjo::dataset::OpenOptions which;
    ARROW_ASSIGN_OR_RAISE(which.version, OptionalVersion("version", version));
    which.tag = TextOf(tag);
    return Committed(kinjo::dataset::RestoreVersion(uri, which, control.cancel));
  };
  return Change(uri, nullptr, report, error, restore);
}

bool kinjo_dataset_create_tag(const char* uri, const char* tag, int64_t version,
                              kinjo_error** error) {
  return ChangeTag(uri, tag, version, error, kinjo::dataset::CreateTag);
}

bool kinjo_dataset_update_tag(const char* uri, const char* tag, int64_t version,
                              kinjo_error** error) {
  return ChangeTag(uri, tag, version, error, kinjo::dataset::UpdateTag);
}

bool kinjo_dataset_delete_tag(const char* uri, const char* tag, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(uri, "uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(tag, "tag"));
    return kinjo::dataset::DeleteTag(uri, tag);
  });
}

void kinjo_cleanup_options_init(kinjo_cleanup_options* options, size_t struct_size) {
  InitStruct(options, struct_size, CleanupDefaults());
}

bool kinjo_dataset_cleanup(const char* uri, const kinjo_cleanup_options* options,
                           const kinjo_run_options* run_options, kinjo_write_report* report,
                           kinjo_error** error) {
  const auto clean_up = [&](const RunControl& control) -> arrow::Result<kinjo_write_report> {
    kinjo_cleanup_options given = CleanupDefaults();
    ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_cleanup_options", &given));
    kinjo::dataset::CleanupOptions wanted;
    ARROW_ASSIGN_OR_RAISE(const auto keep, OptionalCount("keep_versions", given.keep_versions));
    if (keep.has_value()) wanted.keep_versions = static_cast<uint64_t>(*keep);
    wanted.older_than_s = OptionalNumber(given.older_than_s).value_or(wanted.older_than_s);
    wanted.orphans_older_than_s =
        OptionalNumber(given.orphans_older_than_s).value_or(wanted.orphans_older_than_s);
    wanted.cancel = control.cancel;
    ARROW_ASSIGN_OR_RAISE(const auto done, kinjo::dataset::CleanUp(uri, wanted));
    kinjo_write_report filled{};
    filled.version = done.version;
    filled.versions = done.versions;
    filled.files = done.files;
    filled.bytes = done.bytes;
    return filled;
  };
  return Change(uri, run_options, report, error, clean_up);
}
