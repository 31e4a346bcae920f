#include "streams.h"

#include <cstring>
#include <string>
#include <utility>

#include "packed_batch.h"
#include "promised.h"

namespace kinjo_node {

namespace {

// Packing so much takes about as long as two hand-overs between threads. Bigger ones are packed by
// the workers, so that neither the loop nor who made the batch is held up.
constexpr size_t kPackedAtOnceBytes = 1 << 20;

// About what a stream holds that nobody closed, for the garbage collector: batches, a thread.
constexpr int64_t kStreamBytes = 256 << 10;

using Handle = std::shared_ptr<Running>;

Handle RunningOf(const Napi::CallbackInfo& info) {
  return *info[0].As<Napi::External<Handle>>().Data();
}

// {data, directory, rows}: one ArrayBuffer, which owns the block where the engine allows that.
Napi::Value BatchValue(Napi::Env env, PackedBatch packed) {
  Napi::Object value = Napi::Object::New(env);
  value.Set("rows", static_cast<double>(packed.rows));
  value.Set("directory", static_cast<double>(packed.directory));
  napi_value data = nullptr;
  const napi_status made = napi_create_external_arraybuffer(
      env, packed.block.get(), packed.size, [](napi_env, void* block, void*) { std::free(block); },
      nullptr, &data);
  if (made == napi_ok) {
    packed.block.release();
    value.Set("data", Napi::Value(env, data));
  } else {
    auto copy = Napi::ArrayBuffer::New(env, packed.size);
    std::memcpy(copy.Data(), packed.block.get(), packed.size);
    value.Set("data", copy);
  }
  return value;
}

// A fetch between the stream's answer and the promise.
struct Fetching {
  Pending pending;
  std::shared_ptr<Loop> loop;
  std::shared_ptr<Running::Schema> schema;
  ArrowArray batch{};

  ~Fetching() {
    if (batch.release != nullptr) batch.release(&batch);
  }
};

void PackAndResolve(const std::shared_ptr<Fetching>& fetching) {
  auto packed = std::make_shared<PackedBatch>(Pack(fetching->schema->raw, fetching->batch));
  fetching->batch.release(&fetching->batch);
  fetching->batch.release = nullptr;
  fetching->pending.Resolve([packed](Napi::Env env) -> Napi::Value {
    if (packed->block == nullptr) {
      throw Napi::RangeError::New(env, "a batch is too large for one ArrayBuffer; use maxRows");
    }
    return BatchValue(env, std::move(*packed));
  });
}

void OnBatch(void* context, ArrowArray* batch, kinjo_error* error) {
  const std::shared_ptr<Fetching> fetching(static_cast<Fetching*>(context));
  if (error != nullptr) {
    fetching->pending.Reject(error);
    return;
  }
  if (batch->release == nullptr) {
    fetching->pending.Resolve([](Napi::Env env) { return env.Null(); });
    return;
  }
  fetching->batch = std::exchange(*batch, ArrowArray{});
  if (BytesOf(fetching->schema->raw, fetching->batch) <= kPackedAtOnceBytes) {
    PackAndResolve(fetching);
  } else {
    fetching->loop->Work([fetching] { PackAndResolve(fetching); });
  }
}

// (stream, max rows or undefined) -> a batch, or null at the end
Napi::Value Fetch(const Napi::CallbackInfo& info) {
  const Handle running = RunningOf(info);
  const int64_t max_rows = info[1].IsNumber() ? info[1].ToNumber().Int64Value() : KINJO_UNSET;
  auto* fetching = new Fetching{Pending(info.Env()), Loop::Of(info.Env()), running->schema};
  const Napi::Promise promise = fetching->pending.promise();
  kinjo_stream_fetch_async(running->stream, max_rows, OnBatch, fetching);
  return promise;
}

Napi::Value HasMore(const Napi::CallbackInfo& info) {
  auto* pending = new Pending(info.Env());
  const Napi::Promise promise = pending->promise();
  kinjo_stream_has_more_async(
      RunningOf(info)->stream,
      [](void* context, bool more, kinjo_error* error) {
        const std::unique_ptr<Pending> owned(static_cast<Pending*>(context));
        if (error != nullptr) {
          owned->Reject(error);
        } else {
          owned->Resolve([more](Napi::Env env) { return Napi::Boolean::New(env, more); });
        }
      },
      pending);
  return promise;
}

template <void (*kCall)(kinjo_stream*, kinjo_done_callback, void*)>
Napi::Value Settle(const Napi::CallbackInfo& info) {
  auto* pending = new Pending(info.Env());
  const Napi::Promise promise = pending->promise();
  kCall(
      RunningOf(info)->stream,
      [](void* context, kinjo_error* error) {
        const std::unique_ptr<Pending> owned(static_cast<Pending*>(context));
        if (error != nullptr) {
          owned->Reject(error);
        } else {
          owned->Resolve([](Napi::Env env) { return env.Undefined(); });
        }
      },
      pending);
  return promise;
}

Napi::Value Schema(const Napi::CallbackInfo& info) {
  return SchemaValue(info.Env(), RunningOf(info)->schema->raw);
}

// The last progress that was told, or null.
Napi::Value Progress(const Napi::CallbackInfo& info) {
  return RunningOf(info)->told.ToValue(info.Env());
}

}  // namespace

Napi::Value WrapStream(Napi::Env env, const std::shared_ptr<Running>& running) {
  kinjo_error* error = nullptr;
  if (!kinjo_stream_get_schema(running->stream, &running->schema->raw, &error)) {
    const std::shared_ptr<kinjo_error> owned(error, kinjo_error_free);
    throw Napi::Error::New(env, kinjo_error_get_message(error));
  }
  const std::shared_ptr<Loop> loop = Loop::Of(env);
  loop->Add(running);
  Napi::MemoryManagement::AdjustExternalMemory(env, kStreamBytes);
  return Napi::External<Handle>::New(
      env, new Handle(running), [loop](Napi::Env ending, Handle* handle) {
        loop->Free(std::move(*handle));
        delete handle;
        Napi::MemoryManagement::AdjustExternalMemory(ending, -kStreamBytes);
      });
}

Napi::Value PromisedStream(Napi::Env env, StartStream start) {
  struct Made {
    std::shared_ptr<Running> running;
    std::string refused;
  };
  const std::shared_ptr<Loop> loop = Loop::Of(env);
  const auto running = std::make_shared<Running>();
  loop->Add(running);
  return Promised<Made>(
      env,
      [loop, running, start = std::move(start)](Made* made, kinjo_error** error) {
        const bool started = start(running.get(), &made->refused, error);
        if (!started || running->stream == nullptr) loop->Forget(running);
        made->running = running;
        return started;
      },
      [](Napi::Env ours, const Made& made) -> Napi::Value {
        if (made.refused.empty()) return WrapStream(ours, made.running);
        Napi::Object error = Napi::Object::New(ours);
        error.Set("code", "not_supported");
        error.Set("message", "a column has the Arrow type with the format '" + made.refused +
                                 "', which JavaScript is not given");
        throw Napi::Error(ours, error);
      });
}

Napi::Value SchemaValue(Napi::Env env, const ArrowSchema& schema) {
  Napi::Object value = Napi::Object::New(env);
  value.Set("name", schema.name == nullptr ? "" : schema.name);
  value.Set("format", schema.format);
  value.Set("nullable", (schema.flags & ARROW_FLAG_NULLABLE) != 0);
  value.Set("keysSorted", (schema.flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0);
  Napi::Array children = Napi::Array::New(env, static_cast<size_t>(schema.n_children));
  for (int64_t i = 0; i < schema.n_children; ++i) {
    children.Set(static_cast<uint32_t>(i), SchemaValue(env, *schema.children[i]));
  }
  value.Set("children", children);
  value.Set("dictionary", schema.dictionary == nullptr ? Napi::Value(env.Null())
                                                       : SchemaValue(env, *schema.dictionary));
  return value;
}

void ExportStreams(Napi::Env env, Napi::Object exports) {
  const auto add = [&](const char* name, auto function) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  add("streamFetch", Fetch);
  add("streamHasMore", HasMore);
  add("streamFinish", Settle<kinjo_stream_finish_async>);
  add("streamCancel", Settle<kinjo_stream_cancel_async>);
  add("streamClose", Settle<kinjo_stream_close_async>);
  add("streamSchema", Schema);
  add("streamProgress", Progress);
}

}  // namespace kinjo_node
