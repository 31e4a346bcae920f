// The functions of the addon but those of streams: tables, datasets and joins as values that
// JavaScript holds and frees by collecting them. Plain functions; the classes are TypeScript's.
#include <napi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinjo/kinjo.hpp"
#include "loop.h"
#include "options.h"
#include "packed_batch.h"
#include "streams.h"

#ifdef KINJO_NODE_WITH_SCRIPT
#include "scripted_stream.h"
#endif

namespace kinjo_node {

namespace {

template <typename T>
using Shared = std::shared_ptr<T>;

template <typename T>
Napi::Value Wrap(Napi::Env env, Shared<T> value) {
  return Napi::External<Shared<T>>::New(env, new Shared<T>(std::move(value)),
                                        [](Napi::Env, Shared<T>* held) { delete held; });
}

template <typename T>
Shared<T> Held(const Napi::Value& value) {
  return *value.As<Napi::External<Shared<T>>>().Data();
}

// Runs a call of the C ABI that gives a handle or a text on a worker, and settles a promise by it.
template <typename T, typename Call>
Napi::Value Promised(Napi::Env env, Call call, std::function<Napi::Value(Napi::Env, T)> value) {
  const Pending pending(env);
  const Napi::Promise promise = pending.promise();
  Loop::Of(env)->Work([pending, call = std::move(call), value = std::move(value)] {
    kinjo_error* error = nullptr;
    auto made = std::make_shared<T>();
    if (!call(made.get(), &error)) {
      pending.Reject(error);
      return;
    }
    pending.Resolve([made, value](Napi::Env loop) { return value(loop, std::move(*made)); });
  });
  return promise;
}

template <typename Handle, typename Raw, void (*kFree)(Raw*), typename Call>
Napi::Value PromisedHandle(Napi::Env env, Call call) {
  return Promised<Shared<Handle>>(
      env,
      [call = std::move(call)](Shared<Handle>* made, kinjo_error** error) {
        Raw* raw = nullptr;
        if (!call(&raw, error)) return false;
        made->reset(raw, kFree);
        return true;
      },
      [](Napi::Env loop, Shared<Handle> made) { return Wrap<Handle>(loop, std::move(made)); });
}

template <typename Call>
Napi::Value PromisedText(Napi::Env env, Call call) {
  return Promised<std::string>(
      env,
      [call = std::move(call)](std::string* made, kinjo_error** error) {
        char* text = nullptr;
        if (!call(&text, error)) return false;
        *made = text;
        kinjo_string_free(text);
        return true;
      },
      [](Napi::Env loop, const std::string& made) { return Napi::String::New(loop, made); });
}

int64_t OptionalInteger(const Napi::Value& value) {
  return value.IsNumber() ? value.ToNumber().Int64Value() : KINJO_UNSET;
}

std::string OptionalText(const Napi::Value& value) {
  return value.IsString() ? value.ToString().Utf8Value() : std::string();
}

const char* OrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

// (uri, version, tag)
Napi::Value OpenDataset(const Napi::CallbackInfo& info) {
  return PromisedHandle<kinjo_dataset, kinjo_dataset, kinjo_dataset_free>(
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

// (uri, format, version)
Napi::Value OpenTable(const Napi::CallbackInfo& info) {
  return PromisedHandle<kinjo_table, kinjo_table, kinjo_table_free>(
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
  return PromisedHandle<kinjo_table, kinjo_table, kinjo_table_free>(
      info.Env(),
      [copy, name = info[1].ToString().Utf8Value()](kinjo_table** made, kinjo_error** error) {
        const uint8_t none = 0;
        return kinjo_table_from_ipc(copy->empty() ? &none : copy->data(), copy->size(),
                                    name.c_str(), made, error);
      });
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
  if (made) return Wrap<kinjo_table>(info.Env(), Shared<kinjo_table>(table, kinjo_table_free));
  const std::shared_ptr<kinjo_error> owned(error, kinjo_error_free);
  throw Napi::Error(info.Env(), ErrorValue(info.Env(), error));
}

bool JoinOnDataset(const kinjo_dataset* right, kinjo_table* left, const kinjo_join_options* options,
                   kinjo_join** join, kinjo_error** error) {
  return kinjo_join_make_on_dataset(left, right, options, join, error);
}

// (left, right: uri or dataset, search, options)
Napi::Value MakeJoin(const Napi::CallbackInfo& info) {
  const bool on_dataset = !info[1].IsString();
  const kinjo::JoinOptions options = ToJoinOptions(info[3].As<Napi::Object>());
  return PromisedHandle<kinjo_join, kinjo_join, kinjo_join_free>(
      info.Env(),
      [left = Held<kinjo_table>(info[0]), uri = OptionalText(info[1]),
       dataset = on_dataset ? Held<kinjo_dataset>(info[1]) : nullptr,
       search = info[2].ToBoolean().Value(), options](kinjo_join** made, kinjo_error** error) {
        return *kinjo::Join::WithRaw<bool>(options, [&](const auto& raw) -> kinjo::Result<bool> {
          if (dataset == nullptr)
            return kinjo_join_make(left.get(), uri.c_str(), &raw, made, error);
          const auto make = search ? kinjo_search_make : &JoinOnDataset;
          return make(dataset.get(), left.get(), &raw, made, error);
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

bool CheckTypes(kinjo_join* join, std::string* type, kinjo_error** error) {
  Running::Schema schema;
  if (!kinjo_join_get_schema(join, &schema.raw, error)) return false;
  CanPack(schema.raw, type);
  return true;
}

// (join, complete) -> a stream
Napi::Value RunJoin(const Napi::CallbackInfo& info) {
  struct Made {
    std::shared_ptr<Running> running = std::make_shared<Running>();
    std::string refused_type;
  };
  return Promised<Made>(
      info.Env(),
      [join = Held<kinjo_join>(info[0]), complete = info[1].ToBoolean().Value()](
          Made* made, kinjo_error** error) {
        if (!CheckTypes(join.get(), &made->refused_type, error)) return false;
        if (!made->refused_type.empty()) return true;
        kinjo_run_options options;
        kinjo_run_options_init(&options, sizeof(options));
        options.complete = complete;
        options.progress_context = made->running.get();
        options.progress = [](void* context, const kinjo_progress* progress) {
          auto* running = static_cast<Running*>(context);
          const std::lock_guard<std::mutex> lock(running->mutex);
          running->progress = *progress;
        };
        return kinjo_join_run(join.get(), &options, &made->running->stream, error);
      },
      [](Napi::Env env, const Made& made) -> Napi::Value {
        if (!made.refused_type.empty()) {
          Napi::Object error = Napi::Object::New(env);
          error.Set("code", "not_supported");
          error.Set("message", "a column has the Arrow type with the format '" + made.refused_type +
                                   "', which JavaScript is not given");
          throw Napi::Error(env, error);
        }
        return WrapStream(env, made.running);
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

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  Loop::Make(env);
  const auto add = [&](const char* name, auto function) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  add("openDataset", OpenDataset);
  add("describeDataset", DescribeDataset);
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
  ExportStreams(env, exports);
#ifdef KINJO_NODE_WITH_SCRIPT
  ExportScript(env, exports);
#endif
  return exports;
}

}  // namespace

NODE_API_MODULE(kinjo, Init)

}  // namespace kinjo_node
