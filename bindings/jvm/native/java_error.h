// Failures on their way from C++ to Java: each becomes a pending io.kinjo.KinjoException, and no
// C++ exception leaves a native method.
#pragma once

#include <jni.h>

#include <exception>
#include <string>
#include <utility>

#include "kinjo/kinjo.hpp"

namespace kinjo::jvm {

/// Thrown inside this library only, to leave a native method with an error of the engine.
class EngineFailure : public std::exception {
 public:
  explicit EngineFailure(Error error) : error_(std::move(error)) {}
  const Error& error() const { return error_; }
  const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Error error_;
};

/// Thrown when Java has a pending exception already; the native method returns and Java goes on.
class JavaFailure : public std::exception {};

/// The value of a result, or its error thrown.
template <typename T>
T ValueOf(Result<T> result) {
  if (!result.ok()) throw EngineFailure(result.error());
  return std::move(result).value();
}

inline void Check(const Result<void>& result) {
  if (!result.ok()) throw EngineFailure(result.error());
}

/// An error of the caller, found in this library.
[[noreturn]] void ThrowInvalid(std::string message);

/// Makes the failure the pending exception of `env`.
void RaiseInJava(JNIEnv* env, const Error& error) noexcept;

/// Runs the body of a native method: `body` may throw; `otherwise` is what Java then never sees.
template <typename T, typename Body>
T Guarded(JNIEnv* env, T otherwise, const Body& body) noexcept {
  try {
    return body();
  } catch (const JavaFailure&) {
    return otherwise;
  } catch (const EngineFailure& failure) {
    RaiseInJava(env, failure.error());
  } catch (const std::bad_alloc&) {
    RaiseInJava(env, {KINJO_ERROR_CAPACITY, "out of memory", "", -1});
  } catch (const std::exception& exception) {
    RaiseInJava(env, {KINJO_ERROR_INTERNAL, exception.what(), "", -1});
  }
  return otherwise;
}

/// Looks the exception's class up; called once, when the library is loaded. False with a pending
/// exception when it isn't there.
bool LoadErrorClass(JNIEnv* env);

}  // namespace kinjo::jvm
