#include "scripted_stream.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loop.h"
#include "streams.h"

namespace kinjo_node {

namespace {

// Shared with the JavaScript function, which only the loop's thread may drop.
struct Script {
  std::shared_ptr<Loop> loop;
  std::shared_ptr<Napi::FunctionReference> ask;
};

template <int kKind>
void Ask(void* context, kinjo_request* request) {
  static constexpr const char* kKinds[] = {"fetch", "cancel", "close"};
  const auto* script = static_cast<const Script*>(context);
  script->loop->Post([ask = script->ask, request](Napi::Env env) {
    ask->Call(
        {Napi::String::New(env, kKinds[kKind]), Napi::External<kinjo_request>::New(env, request)});
  });
}

void Release(void* context) {
  const std::unique_ptr<Script> script(static_cast<Script*>(context));
  script->loop->Post([ask = script->ask](Napi::Env) { ask->Reset(); });
}

void FreeNothing(ArrowSchema* schema) { schema->release = nullptr; }

// struct<n: int64>; the names are literals, so that there is nothing to free.
void FillSchema(ArrowSchema* root, ArrowSchema* column, ArrowSchema** children) {
  *column = {};
  column->format = "l";
  column->name = "n";
  column->release = FreeNothing;
  children[0] = column;
  *root = {};
  root->format = "+s";
  root->name = "";
  root->n_children = 1;
  root->children = children;
  root->release = FreeNothing;
}

struct Numbers {
  std::vector<int64_t> values;
  ArrowArray column{};
  ArrowArray* children[1] = {&column};
  const void* column_buffers[2] = {nullptr, nullptr};
  const void* root_buffers[1] = {nullptr};
};

void FillBatch(std::vector<int64_t> values, ArrowArray* root) {
  auto* numbers = new Numbers{std::move(values)};
  numbers->column.length = static_cast<int64_t>(numbers->values.size());
  numbers->column.n_buffers = 2;
  numbers->column_buffers[1] = numbers->values.data();
  numbers->column.buffers = numbers->column_buffers;
  numbers->column.release = [](ArrowArray* array) { array->release = nullptr; };
  *root = {};
  root->length = numbers->column.length;
  root->n_buffers = 1;
  root->buffers = numbers->root_buffers;
  root->n_children = 1;
  root->children = numbers->children;
  root->private_data = numbers;
  root->release = [](ArrowArray* array) {
    array->release = nullptr;
    delete static_cast<Numbers*>(array->private_data);
  };
}

Napi::Value ScriptedStream(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  auto* script = new Script{Loop::Of(env), std::make_shared<Napi::FunctionReference>()};
  *script->ask = Napi::Persistent(info[1].As<Napi::Function>());
  kinjo_source source{sizeof(kinjo_source), script, Ask<0>, Ask<1>, Ask<2>, Release};
  ArrowSchema root;
  ArrowSchema column;
  ArrowSchema* children[1];
  FillSchema(&root, &column, children);
  const auto running = std::make_shared<Running>();
  kinjo_error* error = nullptr;
  if (!kinjo_stream_make(&source, &root, info[0].ToBoolean(), &running->stream, &error)) {
    const std::shared_ptr<kinjo_error> owned(error, kinjo_error_free);
    throw Napi::Error::New(env, kinjo_error_get_message(error));
  }
  return WrapStream(env, running);
}

kinjo_request* RequestOf(const Napi::CallbackInfo& info) {
  return info[0].As<Napi::External<kinjo_request>>().Data();
}

void Answer(const Napi::CallbackInfo& info) {
  if (!info[1].IsTypedArray()) {
    kinjo_request_answer(RequestOf(info), nullptr);
    return;
  }
  const auto list = info[1].As<Napi::BigInt64Array>();
  std::vector<int64_t> values(list.Data(), list.Data() + list.ElementLength());
  ArrowArray batch;
  FillBatch(std::move(values), &batch);
  kinjo_request_answer(RequestOf(info), &batch);
}

void Fail(const Napi::CallbackInfo& info) {
  const auto code = static_cast<kinjo_error_code>(info[1].ToNumber().Int32Value());
  const std::string message = info[2].ToString();
  kinjo_request_fail(RequestOf(info), code, message.c_str());
}

}  // namespace

void ExportScript(Napi::Env env, Napi::Object exports) {
  exports.Set("scriptedStream", Napi::Function::New(env, ScriptedStream, "scriptedStream"));
  exports.Set("answerRequest", Napi::Function::New(env, Answer, "answerRequest"));
  exports.Set("failRequest", Napi::Function::New(env, Fail, "failRequest"));
}

}  // namespace kinjo_node
