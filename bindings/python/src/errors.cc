#include "errors.h"

namespace nb = nanobind;

namespace kinjo::python {

Failure Failure::Take(kinjo_error* error) {
  Failure failure{kinjo_error_get_code(error), kinjo_error_get_message(error),
                  kinjo_error_get_path(error), kinjo_error_get_offset(error)};
  kinjo_error_free(error);
  return failure;
}

nb::object ExceptionOf(const Failure& failure) {
  return nb::module_::import_("kinjo._errors")
      .attr("make")(kinjo_error_code_name(failure.code), failure.message.c_str(),
                    failure.path.c_str(), failure.offset);
}

void RaiseFailure(const Failure& failure) {
  const nb::object exception = ExceptionOf(failure);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

void RaiseError(kinjo_error_code code, const std::string& message) {
  RaiseFailure({code, message, "", -1});
}

}  // namespace kinjo::python
