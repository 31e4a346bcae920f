#include "changes.h"

#include <memory>
#include <string>
#include <utility>

#include "promised.h"
#include "raw_options.h"
#include "watch.h"

namespace kinjo_node {

namespace {

const Fields<kinjo_write_options> kWriteFields = {
    {{"max_rows_per_file", &kinjo_write_options::max_rows_per_file},
     {"max_bytes_per_file", &kinjo_write_options::max_bytes_per_file},
     {"memory_limit_bytes", &kinjo_write_options::memory_limit_bytes}},
    {},
    {{"mode", &kinjo_write_options::mode},
     {"data_version", &kinjo_write_options::data_version},
     {"vector_column", &kinjo_write_options::vector_column}},
    {{"stable_row_ids", &kinjo_write_options::stable_row_ids}}};

const Fields<kinjo_compact_options> kCompactFields = {
    {{"target_rows", &kinjo_compact_options::target_rows}},
    {{"deleted_share_max", &kinjo_compact_options::deleted_share_max}},
    {},
    {}};

const Fields<kinjo_index_options> kIndexFields = {
    {{"num_partitions", &kinjo_index_options::num_partitions},
     {"target_partition_size", &kinjo_index_options::target_partition_size},
     {"num_sub_vectors", &kinjo_index_options::num_sub_vectors},
     {"num_bits", &kinjo_index_options::num_bits},
     {"m", &kinjo_index_options::m},
     {"ef_construction", &kinjo_index_options::ef_construction},
     {"max_level", &kinjo_index_options::max_level},
     {"sample_rate", &kinjo_index_options::sample_rate},
     {"max_iterations", &kinjo_index_options::max_iterations},
     {"seed", &kinjo_index_options::seed},
     {"threads", &kinjo_index_options::threads},
     {"memory_limit_bytes", &kinjo_index_options::memory_limit_bytes}},
    {},
    {{"column", &kinjo_index_options::column},
     {"name", &kinjo_index_options::name},
     {"type", &kinjo_index_options::type},
     {"metric", &kinjo_index_options::metric}},
    {{"replace", &kinjo_index_options::replace}}};

const Fields<kinjo_index_optimize_options> kOptimizeFields = {
    {{"num_indices_to_merge", &kinjo_index_optimize_options::num_indices_to_merge},
     {"threads", &kinjo_index_optimize_options::threads},
     {"memory_limit_bytes", &kinjo_index_optimize_options::memory_limit_bytes}},
    {},
    {},
    {{"retrain", &kinjo_index_optimize_options::retrain}}};

template <typename Raw>
std::shared_ptr<const RawOptions<Raw>> Given(const Napi::Value& value, void (*init)(Raw*, size_t),
                                             const Fields<Raw>& fields) {
  return std::make_shared<const RawOptions<Raw>>(value.As<Napi::Object>(), init, fields);
}

Napi::Value ReportValue(Napi::Env env, const kinjo_write_report& report) {
  Napi::Object value = Napi::Object::New(env);
  value.Set("version", static_cast<double>(report.version));
  value.Set("rows", static_cast<double>(report.rows));
  value.Set("fragments", static_cast<double>(report.fragments));
  value.Set("oldFragments", static_cast<double>(report.old_fragments));
  value.Set("bytes", static_cast<double>(report.bytes));
  return value;
}

// `bool change(const kinjo_run_options*, kinjo_write_report*, kinjo_error**)`, whose watch is the
// first argument of the JavaScript function.
template <typename Change>
Napi::Value Reported(const Napi::CallbackInfo& info, Change change) {
  const auto watch = Held<Watch>(info[0]);
  return Promised<kinjo_write_report>(
      info.Env(),
      [watch, change = std::move(change)](kinjo_write_report* report, kinjo_error** error) {
        *report = {};
        report->struct_size = sizeof(*report);
        const kinjo_run_options run = watch->Options();
        return change(&run, report, error);
      },
      ReportValue, watch);
}

// The same for a change that tells of itself in JSON.
template <typename Change>
Napi::Value Described(const Napi::CallbackInfo& info, Change change) {
  const auto watch = Held<Watch>(info[0]);
  return PromisedText(
      info.Env(),
      [watch, change = std::move(change)](char** json, kinjo_error** error) {
        const kinjo_run_options run = watch->Options();
        return change(&run, json, error);
      },
      watch);
}

// (watch, uri, table, options)
Napi::Value WriteDataset(const Napi::CallbackInfo& info) {
  return Reported(info, [uri = info[1].ToString().Utf8Value(), rows = Held<kinjo_table>(info[2]),
                         options = Given(info[3], kinjo_write_options_init, kWriteFields)](
                            const auto* run, auto* report, kinjo_error** error) {
    return kinjo_dataset_write(uri.c_str(), rows.get(), options->get(), run, report, error);
  });
}

// (watch, uri, where)
Napi::Value DeleteRows(const Napi::CallbackInfo& info) {
  return Reported(info,
                  [uri = info[1].ToString().Utf8Value(), where = info[2].ToString().Utf8Value()](
                      const auto* run, auto* report, kinjo_error** error) {
                    return kinjo_dataset_delete(uri.c_str(), where.c_str(), run, report, error);
                  });
}

// (watch, uri, options)
Napi::Value CompactDataset(const Napi::CallbackInfo& info) {
  return Reported(info, [uri = info[1].ToString().Utf8Value(),
                         options = Given(info[2], kinjo_compact_options_init, kCompactFields)](
                            const auto* run, auto* report, kinjo_error** error) {
    return kinjo_dataset_compact(uri.c_str(), options->get(), run, report, error);
  });
}

// (watch, uri, options) -> JSON
Napi::Value CreateIndex(const Napi::CallbackInfo& info) {
  return Described(info, [uri = info[1].ToString().Utf8Value(),
                          options = Given(info[2], kinjo_index_options_init, kIndexFields)](
                             const auto* run, char** json, kinjo_error** error) {
    return kinjo_index_create(uri.c_str(), options->get(), run, json, error);
  });
}

// (watch, uri, name, options) -> JSON
Napi::Value OptimizeIndex(const Napi::CallbackInfo& info) {
  return Described(
      info, [uri = info[1].ToString().Utf8Value(), name = info[2].ToString().Utf8Value(),
             options = Given(info[3], kinjo_index_optimize_options_init, kOptimizeFields)](
                const auto* run, char** json, kinjo_error** error) {
        return kinjo_index_optimize(uri.c_str(), name.c_str(), options->get(), run, json, error);
      });
}

Napi::Value VersionValue(Napi::Env env, uint64_t version) {
  return Napi::Number::New(env, static_cast<double>(version));
}

// (uri, name) -> the new version
Napi::Value DropIndex(const Napi::CallbackInfo& info) {
  return Promised<uint64_t>(
      info.Env(),
      [uri = info[0].ToString().Utf8Value(), name = info[1].ToString().Utf8Value()](
          uint64_t* version, kinjo_error** error) {
        return kinjo_index_drop(uri.c_str(), name.c_str(), version, error);
      },
      VersionValue);
}

// (uri, name, new name) -> the new version
Napi::Value RenameIndex(const Napi::CallbackInfo& info) {
  return Promised<uint64_t>(
      info.Env(),
      [uri = info[0].ToString().Utf8Value(), name = info[1].ToString().Utf8Value(),
       new_name = info[2].ToString().Utf8Value()](uint64_t* version, kinjo_error** error) {
        return kinjo_index_rename(uri.c_str(), name.c_str(), new_name.c_str(), version, error);
      },
      VersionValue);
}

Napi::Value MakeWatch(const Napi::CallbackInfo& info) {
  return Wrap(info.Env(), std::make_shared<Watch>());
}

Napi::Value RaiseWatch(const Napi::CallbackInfo& info) {
  Held<Watch>(info[0])->Raise();
  return info.Env().Undefined();
}

// The last progress that was told, or null.
Napi::Value WatchProgress(const Napi::CallbackInfo& info) {
  return Held<Watch>(info[0])->told().ToValue(info.Env());
}

}  // namespace

void ExportChanges(Napi::Env env, Napi::Object exports) {
  const auto add = [&](const char* name, auto function) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  add("makeWatch", MakeWatch);
  add("raiseWatch", RaiseWatch);
  add("watchProgress", WatchProgress);
  add("writeDataset", WriteDataset);
  add("deleteRows", DeleteRows);
  add("compactDataset", CompactDataset);
  add("createIndex", CreateIndex);
  add("optimizeIndex", OptimizeIndex);
  add("dropIndex", DropIndex);
  add("renameIndex", RenameIndex);
}

}  // namespace kinjo_node
