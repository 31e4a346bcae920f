#include "datasets.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "packed_batch.h"
#include "promised.h"
#include "streams.h"
#include "watch.h"

namespace kinjo_node {

namespace {

// (uri, version, tag)
Napi::Value OpenDataset(const Napi::CallbackInfo& info) {
  return PromisedHandle<kinjo_dataset, kinjo_dataset_free>(
      info.Env(), [uri = info[0].ToString().Utf8Value(), version = OptionalInteger(info[1]),
                   tag = OptionalText(info[2])](kinjo_dataset** made, kinjo_error** error) {
        kinjo_dataset_options options;
        kinjo_dataset_options_init(&options, sizeof(options));
        options.version = version;
        options.tag = OrNull(tag);
        return kinjo_dataset_open(uri.c_str(), &options, made, error);
      });
}

// (dataset, name of an index or undefined) -> JSON
Napi::Value DescribeDataset(const Napi::CallbackInfo& info) {
  return PromisedText(
      info.Env(), [dataset = Held<kinjo_dataset>(info[0]), index = OptionalText(info[1]),
                   one = info[1].IsString()](char** text, kinjo_error** error) {
        return one ? kinjo_dataset_describe_index(dataset.get(), index.c_str(), text, error)
                   : kinjo_dataset_describe(dataset.get(), text, error);
      });
}

// (dataset) -> the number of its version, at once
Napi::Value DatasetVersion(const Napi::CallbackInfo& info) {
  kinjo_dataset_info told{};
  told.struct_size = sizeof(told);
  kinjo_error* error = nullptr;
  if (kinjo_dataset_get_info(Held<kinjo_dataset>(info[0]).get(), &told, &error)) {
    return Napi::Number::New(info.Env(), static_cast<double>(told.version));
  }
  const std::shared_ptr<kinjo_error> owned(error, kinjo_error_free);
  throw Napi::Error(info.Env(), ErrorValue(info.Env(), error));
}

// (watch, dataset, where or undefined)
Napi::Value CountRows(const Napi::CallbackInfo& info) {
  const auto watch = Held<Watch>(info[0]);
  return Promised<int64_t>(
      info.Env(),
      [watch, dataset = Held<kinjo_dataset>(info[1]), where = OptionalText(info[2])](
          int64_t* rows, kinjo_error** error) {
        const kinjo_run_options run = watch->Options();
        return kinjo_dataset_count_rows(dataset.get(), OrNull(where), &run, rows, error);
      },
      [](Napi::Env env, int64_t rows) { return Napi::Number::New(env, static_cast<double>(rows)); },
      watch);
}

struct ScanAsked {
  std::vector<std::string> columns;
  bool all_columns = true;
  std::string where;
  int64_t limit = KINJO_UNSET;
  int64_t offset = KINJO_UNSET;
  bool with_row_id = false;
};

bool StartScan(const kinjo_dataset* dataset, const ScanAsked& asked, Running* running,
               std::string* refused, kinjo_error** error) {
  kinjo_scan_options options;
  kinjo_scan_options_init(&options, sizeof(options));
  std::vector<const char*> names;
  names.reserve(asked.columns.size() + 1);  // so that there is a place to point to
  for (const std::string& name : asked.columns) names.push_back(name.c_str());
  if (!asked.all_columns) {
    options.columns = names.data();
    options.num_columns = names.size();
  }
  options.where = OrNull(asked.where);
  options.limit = asked.limit;
  options.offset = asked.offset;
  options.with_row_id = asked.with_row_id;
  if (!kinjo_dataset_scan(dataset, &options, nullptr, &running->stream, error)) return false;
  Running::Schema schema;
  if (!kinjo_stream_get_schema(running->stream, &schema.raw, error)) return false;
  if (!CanPack(schema.raw, refused)) kinjo_stream_free(std::exchange(running->stream, nullptr));
  return true;
}

// (dataset, columns, where, limit, offset: each or undefined, with row ids) -> a stream
Napi::Value ScanDataset(const Napi::CallbackInfo& info) {
  ScanAsked asked;
  asked.all_columns = !info[1].IsArray();
  if (!asked.all_columns) {
    const auto list = info[1].As<Napi::Array>();
    for (uint32_t i = 0; i < list.Length(); ++i) asked.columns.push_back(list.Get(i).ToString());
  }
  asked.where = OptionalText(info[2]);
  asked.limit = OptionalInteger(info[3]);
  asked.offset = OptionalInteger(info[4]);
  asked.with_row_id = info[5].ToBoolean();
  return PromisedStream(info.Env(),
                        [dataset = Held<kinjo_dataset>(info[0]), asked](
                            Running* running, std::string* refused, kinjo_error** error) {
                          return StartScan(dataset.get(), asked, running, refused, error);
                        });
}

}  // namespace

void ExportDatasets(Napi::Env env, Napi::Object exports) {
  const auto add = [&](const char* name, auto function) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  add("openDataset", OpenDataset);
  add("describeDataset", DescribeDataset);
  add("datasetVersion", DatasetVersion);
  add("countRows", CountRows);
  add("scanDataset", ScanDataset);
}

}  // namespace kinjo_node
