// The addon: its functions for tables and joins, and those of the other files. Plain functions; the
// classes are TypeScript's.
#include <napi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "changes.h"
#include "datasets.h"
#include "kinjo/kinjo.hpp"
#include "options.h"
#include "packed_batch.h"
#include "promised.h"
#include "streams.h"

#ifdef KINJO_NODE_WITH_SCRIPT
#include "scripted_stream.h"
#endif

namespace kinjo_node {

namespace {

// (uri, format, version)
Napi::Value OpenTable(const Napi::CallbackInfo& info) {
  return PromisedHandle<kinjo_table, kinjo_table_free>(
      info.Env(), [uri = info[0].ToString().Utf8Value(), format = OptionalText(info[1]),
                   version = OptionalInteger(info[2])](kinjo_table** made, kinjo_error** error) {
        kinjo_table_options options;
        kinjo_table_options_init(&options, sizeof(options));
        options.format = OrNull(format);
        options.version = version;
        return kinjo_table_open(uri.c_str(), &options, made, error);
      });
}

struct BytesOfArray {
  const uint8_t* data;
  size_t size;
};

BytesOfArray BytesIn(const Napi::Value& value) {
  const auto array = value.As<Napi::TypedArray>();
  const auto* base = static_cast<const uint8_t*>(array.ArrayBuffer().Data());
  return {base + array.ByteOffset(), array.ByteLength()};
}

// (bytes, name). They are copied first: JavaScript may change or free them.
Napi::Value TableFromIpc(const Napi::CallbackInfo& info) {
  const BytesOfArray given = BytesIn(info[0]);
  auto copy = std::make_shared<std::vector<uint8_t>>(given.data, given.data + given.size);
  return PromisedHandle<kinjo_table, kinjo_table_free>(
      info.Env(),
      [copy, name = info[1].ToString().Utf8Value()](kinjo_table** made, kinjo_error** error) {
        const uint8_t none = 0;
        return kinjo_table_from_ipc(copy->empty() ? &none : copy->data(), copy->size(),
                                    name.c_str(), made, error);
      },
      static_cast<int64_t>(given.size));
}

// (typed array, element type, width, list lengths or undefined) -> a table, at once
Napi::Value TableFromVectors(const Napi::CallbackInfo& info) {
  const BytesOfArray given = BytesIn(info[0]);
  const std::string element = info[1].ToString();
  const int64_t width = info[2].ToNumber().Int64Value();
  const auto values = static_cast<int64_t>(info[0].As<Napi::TypedArray>().ElementLength());
  const uint8_t none = 0;
  const void* data = given.size == 0 ? &none : given.data;
  kinjo_table* table = nullptr;
  kinjo_error* error = nullptr;
  bool made = false;
  if (info[3].IsArray()) {
    const auto list = info[3].As<Napi::Array>();
    std::vector<int64_t> lengths;
    lengths.reserve(list.Length() + 1);  // so that there is a place to point to
    for (uint32_t i = 0; i < list.Length(); ++i) {
      lengths.push_back(list.Get(i).ToNumber().Int64Value());
    }
    made =
        kinjo_table_from_vector_lists(data, element.c_str(), lengths.data(),
                                      static_cast<int64_t>(lengths.size()), width, &table, &error);
  } else {
    made = kinjo_table_from_vectors(data, element.c_str(), width < 1 ? 0 : values / width, width,
                                    &table, &error);
  }
  if (made) {
    return Wrap(info.Env(), std::shared_ptr<kinjo_table>(table, kinjo_table_free),
                static_cast<int64_t>(given.size));
  }
  const std::shared_ptr<kinjo_error> owned(error, kinjo_error_free);
  throw Napi::Error(info.Env(), ErrorValue(info.Env(), error));
}

bool JoinOnDataset(const kinjo_dataset* right, kinjo_table* left, const kinjo_join_options* options,
                   kinjo_join** join, kinjo_error** error) {
  return kinjo_join_make_on_dataset(left, right, options, join, error);
}

/// The right side of a join: one of these.
struct RightSide {
  std::string uri;
  std::shared_ptr<kinjo_dataset> dataset;
  std::shared_ptr<kinjo_table> table;
};

// (left, right, what the right is: "uri", "dataset", "table", or "search": a dataset, options)
Napi::Value MakeJoin(const Napi::CallbackInfo& info) {
  const std::string kind = info[2].ToString();
  RightSide right;
  if (kind == "uri") {
    right.uri = info[1].ToString();
  } else if (kind == "table") {
    right.table = Held<kinjo_table>(info[1]);
  } else {
    right.dataset = Held<kinjo_dataset>(info[1]);
  }
  const kinjo::JoinOptions options = ToJoinOptions(info[3].As<Napi::Object>());
  return PromisedHandle<kinjo_join, kinjo_join_free>(
      info.Env(), [left = Held<kinjo_table>(info[0]), right, search = kind == "search", options](
                      kinjo_join** made, kinjo_error** error) {
        return *kinjo::Join::WithRaw<bool>(options, [&](const auto& raw) -> kinjo::Result<bool> {
          if (right.table != nullptr) {
            return kinjo_join_make_on_table(left.get(), right.table.get(), &raw, made, error);
          }
          if (right.dataset == nullptr) {
            return kinjo_join_make(left.get(), right.uri.c_str(), &raw, made, error);
          }
          const auto make = search ? kinjo_search_make : &JoinOnDataset;
          return make(right.dataset.get(), left.get(), &raw, made, error);
        });
      });
}

// (join, verbose)
Napi::Value Explain(const Napi::CallbackInfo& info) {
  return PromisedText(info.Env(),
                      [join = Held<kinjo_join>(info[0]), verbose = info[1].ToBoolean().Value()](
                          char** text, kinjo_error** error) {
                        return kinjo_join_explain(join.get(), verbose, text, error);
                      });
}

Napi::Value Analyze(const Napi::CallbackInfo& info) {
  return PromisedText(info.Env(),
                      [join = Held<kinjo_join>(info[0])](char** text, kinjo_error** error) {
                        return kinjo_join_analyze(join.get(), text, error);
                      });
}

Napi::Value Report(const Napi::CallbackInfo& info) {
  return PromisedText(info.Env(),
                      [join = Held<kinjo_join>(info[0])](char** text, kinjo_error** error) {
                        return kinjo_join_describe_report(join.get(), text, error);
                      });
}

Napi::Value JoinSchema(const Napi::CallbackInfo& info) {
  Running::Schema schema;
  kinjo_error* error = nullptr;
  if (kinjo_join_get_schema(Held<kinjo_join>(info[0]).get(), &schema.raw, &error)) {
    return SchemaValue(info.Env(), schema.raw);
  }
  const std::shared_ptr<kinjo_error> owned(error, kinjo_error_free);
  throw Napi::Error(info.Env(), ErrorValue(info.Env(), error));
}

bool StartJoin(kinjo_join* join, bool complete, Running* running, std::string* refused,
               kinjo_error** error) {
  Running::Schema schema;
  if (!kinjo_join_get_schema(join, &schema.raw, error)) return false;
  if (!CanPack(schema.raw, refused)) return true;
  kinjo_run_options options;
  kinjo_run_options_init(&options, sizeof(options));
  options.complete = complete;
  options.progress = Told::Tell;
  options.progress_context = &running->told;
  return kinjo_join_run(join, &options, &running->stream, error);
}

// (join, complete) -> a stream
Napi::Value RunJoin(const Napi::CallbackInfo& info) {
  return PromisedStream(info.Env(),
                        [join = Held<kinjo_join>(info[0]), complete = info[1].ToBoolean().Value()](
                            Running* running, std::string* refused, kinjo_error** error) {
                          return StartJoin(join.get(), complete, running, refused, error);
                        });
}

Napi::Value Runtime(const Napi::CallbackInfo& info) {
  const auto text = kinjo::DescribeRuntime();
  if (!text.ok()) throw Napi::Error::New(info.Env(), text.error().message);
  return Napi::String::New(info.Env(), text.value());
}

// The package's Arrow is its own, so it may size its pools.
Napi::Value SetArrowThreads(const Napi::CallbackInfo& info) {
  kinjo_error* error = nullptr;
  kinjo_runtime_set_arrow_threads(info[0].ToNumber().Int64Value(), &error);
  kinjo_error_free(error);
  return info.Env().Undefined();
}

std::vector<std::string> TextsOf(const Napi::Value& value) {
  const auto list = value.As<Napi::Array>();
  std::vector<std::string> texts;
  texts.reserve(list.Length());
  for (uint32_t i = 0; i < list.Length(); ++i) texts.push_back(list.Get(i).ToString());
  return texts;
}

std::vector<const char*> PointersTo(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

// (prefix, names, values)
Napi::Value SetStorageOptions(const Napi::CallbackInfo& info) {
  const std::string prefix = info[0].ToString();
  const std::vector<std::string> names = TextsOf(info[1]);
  const std::vector<std::string> values = TextsOf(info[2]);
  kinjo_error* error = nullptr;
  if (kinjo_storage_set_options(prefix.c_str(), PointersTo(names).data(), PointersTo(values).data(),
                                names.size(), &error)) {
    return info.Env().Undefined();
  }
  const std::shared_ptr<kinjo_error> owned(error, kinjo_error_free);
  throw Napi::Error(info.Env(), ErrorValue(info.Env(), error));
}

// Nothing goes on after this; called when the process exits.
Napi::Value Stop(const Napi::CallbackInfo& info) {
  Loop::Of(info.Env())->Stop();
  return info.Env().Undefined();
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  Loop::Make(env);
  const auto add = [&](const char* name, auto function) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  add("openTable", OpenTable);
  add("tableFromIpc", TableFromIpc);
  add("tableFromVectors", TableFromVectors);
  add("makeJoin", MakeJoin);
  add("explainJoin", Explain);
  add("analyzeJoin", Analyze);
  add("reportJoin", Report);
  add("joinSchema", JoinSchema);
  add("runJoin", RunJoin);
  add("describeRuntime", Runtime);
  add("setArrowThreads", SetArrowThreads);
  add("setStorageOptions", SetStorageOptions);
  add("stop", Stop);
  ExportDatasets(env, exports);
  ExportChanges(env, exports);
  ExportStreams(env, exports);
#ifdef KINJO_NODE_WITH_SCRIPT
  ExportScript(env, exports);
#endif
  return exports;
}

}  // namespace

NODE_API_MODULE(kinjo, Init)

}  // namespace kinjo_node
