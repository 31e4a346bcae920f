// Calls of the C ABI that block, as promises: run on a worker, settled on the loop. And handles of
// the C ABI as values that JavaScript holds and frees by collecting them.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "loop.h"

namespace kinjo_node {

/// `bytes` is about what the value holds: the garbage collector sees nothing of it, and comes too
/// late for values that it isn't told of.
template <typename T>
Napi::Value Wrap(Napi::Env env, std::shared_ptr<T> value, int64_t bytes = 0) {
  using Shared = std::shared_ptr<T>;
  Napi::MemoryManagement::AdjustExternalMemory(env, bytes);
  return Napi::External<Shared>::New(env, new Shared(std::move(value)),
                                     [bytes](Napi::Env loop, Shared* held) {
                                       delete held;
                                       Napi::MemoryManagement::AdjustExternalMemory(loop, -bytes);
                                     });
}

template <typename T>
std::shared_ptr<T> Held(const Napi::Value& value) {
  return *value.As<Napi::External<std::shared_ptr<T>>>().Data();
}

/// Runs `bool call(T* made, kinjo_error**)` on a worker; `value` makes the promise's answer of what
/// was made, on the loop's thread. With a watch the call is one that takes long, and is stopped
/// when the environment ends.
template <typename T, typename Call>
Napi::Value Promised(Napi::Env env, Call call, std::function<Napi::Value(Napi::Env, T)> value,
                     std::shared_ptr<Watch> watch = nullptr) {
  const Pending pending(env);
  const Napi::Promise promise = pending.promise();
  Loop::Of(env)->Work(
      [pending, call = std::move(call), value = std::move(value)] {
        kinjo_error* error = nullptr;
        auto made = std::make_shared<T>();
        if (!call(made.get(), &error)) {
          pending.Reject(error);
          return;
        }
        pending.Resolve([made, value](Napi::Env loop) { return value(loop, std::move(*made)); });
      },
      std::move(watch));
  return promise;
}

/// `bool call(Raw** made, kinjo_error**)`; `bytes` as of Wrap.
template <typename Raw, void (*kFree)(Raw*), typename Call>
Napi::Value PromisedHandle(Napi::Env env, Call call, int64_t bytes = 0) {
  return Promised<std::shared_ptr<Raw>>(
      env,
      [call = std::move(call)](std::shared_ptr<Raw>* made, kinjo_error** error) {
        Raw* raw = nullptr;
        if (!call(&raw, error)) return false;
        made->reset(raw, kFree);
        return true;
      },
      [bytes](Napi::Env loop, std::shared_ptr<Raw> made) {
        return Wrap<Raw>(loop, std::move(made), bytes);
      });
}

/// `bool call(char** text, kinjo_error**)`.
template <typename Call>
Napi::Value PromisedText(Napi::Env env, Call call, std::shared_ptr<Watch> watch = nullptr) {
  return Promised<std::string>(
      env,
      [call = std::move(call)](std::string* made, kinjo_error** error) {
        char* text = nullptr;
        if (!call(&text, error)) return false;
        *made = text;
        kinjo_string_free(text);
        return true;
      },
      [](Napi::Env loop, const std::string& made) { return Napi::String::New(loop, made); },
      std::move(watch));
}

inline int64_t OptionalInteger(const Napi::Value& value) {
  return value.IsNumber() ? value.ToNumber().Int64Value() : KINJO_UNSET;
}

inline std::string OptionalText(const Napi::Value& value) {
  return value.IsString() ? value.ToString().Utf8Value() : std::string();
}

inline const char* OrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

}  // namespace kinjo_node
