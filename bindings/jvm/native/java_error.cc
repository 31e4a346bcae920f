#include "java_error.h"

#include "java_values.h"

namespace kinjo::jvm {
namespace {

jclass g_exception_class = nullptr;  // a global reference, made once, when the library is loaded
jmethodID g_exception_make = nullptr;

}  // namespace

void ThrowInvalid(std::string message) {
  throw EngineFailure({KINJO_ERROR_INVALID, std::move(message), "", -1});
}

bool LoadErrorClass(JNIEnv* env) {
  jclass found = env->FindClass("io/kinjo/KinjoException");
  if (found == nullptr) return false;
  g_exception_class = static_cast<jclass>(env->NewGlobalRef(found));
  g_exception_make = env->GetMethodID(found, "<init>",
                                      "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;J)V");
  return g_exception_class != nullptr && g_exception_make != nullptr;
}

void RaiseInJava(JNIEnv* env, const Error& error) noexcept {
  if (env->ExceptionCheck() == JNI_TRUE) return;
  try {
    jstring code = ToJava(env, kinjo_error_code_name(error.code));
    jstring message = ToJava(env, error.message);
    jstring path = ToJava(env, error.path);
    jobject exception =
        env->NewObject(g_exception_class, g_exception_make, code, message, path, error.offset);
    if (exception != nullptr) env->Throw(static_cast<jthrowable>(exception));
  } catch (const std::exception&) {
    // Java has run out of memory, and says so itself.
  }
}

}  // namespace kinjo::jvm
