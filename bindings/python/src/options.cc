#include "options.h"

#include <nanobind/stl/string.h>

#include <cmath>
#include <map>

#include "errors.h"

namespace nb = nanobind;

namespace kinjo::python {

namespace {

using Raw = kinjo_join_options;

const std::map<std::string, int64_t Raw::*> kNumbers = {
    {"k", &Raw::k},
    {"nprobes", &Raw::nprobes},
    {"minimum_nprobes", &Raw::minimum_nprobes},
    {"maximum_nprobes", &Raw::maximum_nprobes},
    {"refine_factor", &Raw::refine_factor},
    {"ef", &Raw::ef},
    {"right_version", &Raw::right_version},
    {"memory_limit_bytes", &Raw::memory_limit_bytes},
    {"threads", &Raw::threads}};

const std::map<std::string, double Raw::*> kFractions = {{"search_effort", &Raw::search_effort},
                                                         {"recall", &Raw::recall}};

const std::map<std::string, const char * Raw::*> kTexts = {{"on", &Raw::on},
                                                           {"left_on", &Raw::left_on},
                                                           {"right_on", &Raw::right_on},
                                                           {"how", &Raw::how},
                                                           {"metric", &Raw::metric},
                                                           {"index", &Raw::index},
                                                           {"suffix", &Raw::suffix},
                                                           {"where", &Raw::where},
                                                           {"approx_mode", &Raw::approx_mode},
                                                           {"right_tag", &Raw::right_tag},
                                                           {"exclude_self", &Raw::exclude_self}};

const std::map<std::string, bool Raw::*> kFlags = {{"fast_search", &Raw::fast_search},
                                                   {"with_row_id", &Raw::with_row_id},
                                                   {"with_query_index", &Raw::with_query_index},
                                                   {"unordered_pairs", &Raw::unordered_pairs},
                                                   {"mutual", &Raw::mutual},
                                                   {"clusters", &Raw::clusters}};

std::string KindOf(nb::handle value) {
  return nb::cast<std::string>(value.type().attr("__name__"));
}

[[noreturn]] void WrongKind(const std::string& name, const char* wanted, nb::handle value) {
  throw nb::type_error((name + " must be " + wanted + ", not " + KindOf(value)).c_str());
}

}  // namespace

std::string TextOf(const std::string& name, nb::handle value) {
  if (!PyUnicode_Check(value.ptr())) WrongKind(name, "a string", value);
  std::string text;
  if (!nb::try_cast(value, text)) {
    RaiseError(KINJO_ERROR_INVALID, name + " holds a character that UTF-8 doesn't have");
  }
  if (text.find('\0') != std::string::npos) {
    RaiseError(KINJO_ERROR_INVALID, name + " holds a zero byte");
  }
  return text;
}

int64_t NumberOf(const std::string& name, nb::handle value) {
  if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr())) {
    WrongKind(name, "a whole number", value);
  }
  const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
  if (!whole.is_valid()) throw nb::python_error();
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow != 0 || number == KINJO_UNSET) {
    RaiseError(KINJO_ERROR_INVALID, name + " is beyond 64 bits");
  }
  return number;
}

double FractionOf(const std::string& name, nb::handle value) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    WrongKind(name, "a number", value);
  }
  return number;
}

bool FlagOf(const std::string& name, nb::handle value) {
  // NumPy's comparisons give a truth value of their own.
  const std::string kind = KindOf(value);
  if (!PyBool_Check(value.ptr()) && kind != "bool" && kind != "bool_") {
    WrongKind(name, "True or False", value);
  }
  return PyObject_IsTrue(value.ptr()) == 1;
}

std::vector<std::string> TextsOf(const std::string& name, nb::handle value) {
  PyObject* raw = value.ptr();
  if (PyUnicode_Check(raw) || PyBytes_Check(raw) || PyDict_Check(raw) || PyAnySet_Check(raw) ||
      Py_TYPE(raw)->tp_iter == nullptr) {
    WrongKind(name, "a list of strings", value);
  }
  std::vector<std::string> texts;
  for (const nb::handle text : value) texts.push_back(TextOf(name, text));
  return texts;
}

int64_t NumberOrUnset(const std::string& name, nb::handle value) {
  return value.is_none() ? KINJO_UNSET : NumberOf(name, value);
}

std::optional<std::string> TextOrNone(const std::string& name, nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return TextOf(name, value);
}

JoinOptions::JoinOptions(const nb::dict& given) {
  kinjo_join_options_init(&raw_, sizeof(raw_));
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (name == "distance_range") {
      SetRange(value);
    } else if (name == "left_select") {
      SetNames(name, value, &raw_.left_select, &raw_.num_left_select);
    } else if (name == "right_select") {
      SetNames(name, value, &raw_.right_select, &raw_.num_right_select);
    } else if (name == "by") {
      SetNames(name, value, &raw_.by, &raw_.num_by);
    } else if (!SetNumber(name, value) && !SetFraction(name, value) && !SetText(name, value) &&
               !SetFlag(name, value)) {
      throw nb::type_error(("there is no option " + name).c_str());
    }
  }
}

const char* JoinOptions::Keep(const std::string& name, nb::handle value) {
  return texts_.emplace_back(TextOf(name, value)).c_str();
}

void JoinOptions::SetNames(const std::string& name, nb::handle value, const char* const** names,
                           size_t* count) {
  auto& list = lists_.emplace_back();
  for (const std::string& text : TextsOf(name, value)) {
    list.push_back(texts_.emplace_back(text).c_str());
  }
  *count = list.size();
  list.push_back(nullptr);  // so that data() of no names isn't NULL, which would mean "all"
  *names = list.data();
}

void JoinOptions::SetRange(nb::handle value) {
  const nb::object bounds = nb::steal(PySequence_Tuple(value.ptr()));
  if (!bounds.is_valid() || nb::len(bounds) != 2) {
    PyErr_Clear();
    WrongKind("distance_range", "a pair (lower, upper)", value);
  }
  raw_.has_distance_range = true;
  raw_.distance_lower = static_cast<float>(FractionOf("distance_range", bounds[0]));
  raw_.distance_upper = static_cast<float>(FractionOf("distance_range", bounds[1]));
}

bool JoinOptions::SetNumber(const std::string& name, nb::handle value) {
  const auto found = kNumbers.find(name);
  if (found == kNumbers.end()) return false;
  raw_.*found->second = NumberOf(name, value);
  return true;
}

bool JoinOptions::SetFraction(const std::string& name, nb::handle value) {
  const auto found = kFractions.find(name);
  if (found == kFractions.end()) return false;
  raw_.*found->second = FractionOf(name, value);
  // The library takes it for an option that wasn't given.
  if (std::isnan(raw_.*found->second)) RaiseError(KINJO_ERROR_INVALID, name + " must not be NaN");
  return true;
}

bool JoinOptions::SetText(const std::string& name, nb::handle value) {
  const auto found = kTexts.find(name);
  if (found == kTexts.end()) return false;
  raw_.*found->second = Keep(name, value);
  return true;
}

bool JoinOptions::SetFlag(const std::string& name, nb::handle value) {
  const auto found = kFlags.find(name);
  if (found == kFlags.end()) return false;
  raw_.*found->second = FlagOf(name, value);
  return true;
}

}  // namespace kinjo::python
