// Errors of the C ABI as exceptions of kinjo._errors: one class a code.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "kinjo/kinjo.h"

namespace kinjo::python {

/// An error as a value, which needs no GIL.
struct Failure {
  kinjo_error_code code = KINJO_ERROR_INTERNAL;
  std::string message;
  std::string path;
  int64_t offset = -1;

  /// Takes a C error over and frees it.
  static Failure Take(kinjo_error* error);
};

/// The exception that stands for a failure. Requires the GIL.
nanobind::object ExceptionOf(const Failure& failure);

/// Requires the GIL.
[[noreturn]] void RaiseFailure(const Failure& failure);
[[noreturn]] void RaiseError(kinjo_error_code code, const std::string& message);

/// Runs one quick C call, `bool(kinjo_error**)`, without the GIL (a lock that it takes may be held
/// by a thread that reads rows from Python), and raises what it fails with.
template <typename Call>
void Quick(const Call& call) {
  kinjo_error* error = nullptr;
  bool done_well = false;
  {
    const nanobind::gil_scoped_release released;
    done_well = call(&error);
  }
  if (!done_well) RaiseFailure(Failure::Take(error));
}

/// The same for a call that gives a text.
template <typename Call>
std::string QuickText(const Call& call) {
  char* text = nullptr;
  Quick([&](kinjo_error** error) { return call(&text, error); });
  std::string copy = text;
  kinjo_string_free(text);
  return copy;
}

}  // namespace kinjo::python
