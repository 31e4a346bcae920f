// Java's texts, text arrays and handles, as C++ values and back. Texts cross as UTF-16, since JNI's
// own "UTF-8" isn't: it writes characters beyond the basic plane as two surrogates.
#pragma once

#include <jni.h>

#include <string>
#include <string_view>
#include <vector>

namespace kinjo::jvm {

/// "" for null. Unpaired surrogates become U+FFFD.
std::string FromJava(JNIEnv* env, jstring text);
/// Null elements become "". `texts` must not be null.
std::vector<std::string> FromJava(JNIEnv* env, jobjectArray texts);
/// Throws JavaFailure when Java has no memory for it. Bytes that aren't UTF-8 become U+FFFD.
jstring ToJava(JNIEnv* env, std::string_view text);

/// A C++ object that Java owns by its address, from ToHandle until FreeHandle.
template <typename T>
jlong ToHandle(T value) {
  return reinterpret_cast<jlong>(new T(std::move(value)));
}
template <typename T>
T& FromHandle(jlong handle) {
  return *reinterpret_cast<T*>(handle);
}
template <typename T>
void FreeHandle(jlong handle) {
  delete reinterpret_cast<T*>(handle);
}

/// A struct of the Arrow C interfaces at an address that Java gave.
template <typename T>
T* AtAddress(jlong address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace kinjo::jvm
