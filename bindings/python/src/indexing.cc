#include "indexing.h"

#include <nanobind/stl/string.h>

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "options.h"
#include "watch.h"

namespace nb = nanobind;

namespace kinjo::python {

namespace {

using Raw = kinjo_index_options;

const std::map<std::string, int64_t Raw::*> kNumbers = {
    {"num_partitions", &Raw::num_partitions},
    {"target_partition_size", &Raw::target_partition_size},
    {"num_sub_vectors", &Raw::num_sub_vectors},
    {"num_bits", &Raw::num_bits},
    {"m", &Raw::m},
    {"ef_construction", &Raw::ef_construction},
    {"max_level", &Raw::max_level},
    {"sample_rate", &Raw::sample_rate},
    {"max_iterations", &Raw::max_iterations},
    {"seed", &Raw::seed},
    {"threads", &Raw::threads},
    {"memory_limit_bytes", &Raw::memory_limit_bytes},
    {"num_centroids", &Raw::num_centroids}};

const std::map<std::string, const char * Raw::*> kTexts = {
    {"column", &Raw::column}, {"name", &Raw::name}, {"type", &Raw::type}, {"metric", &Raw::metric}};

const std::map<std::string, const void * Raw::*> kBuffers = {{"centroids", &Raw::centroids},
                                                             {"codebook", &Raw::codebook}};

// Owns what the C struct points to.
class IndexOptions {
 public:
  explicit IndexOptions(const nb::dict& given) {
    kinjo_index_options_init(&raw_, sizeof(raw_));
    for (const auto& [key, value] : given) Set(nb::cast<std::string>(key), value);
  }
  ~IndexOptions() {
    for (Py_buffer& view : views_) PyBuffer_Release(&view);
  }
  IndexOptions(const IndexOptions&) = delete;
  IndexOptions& operator=(const IndexOptions&) = delete;

  const Raw* get() const { return &raw_; }

 private:
  void Set(const std::string& name, nb::handle value) {
    if (const auto number = kNumbers.find(name); number != kNumbers.end()) {
      raw_.*number->second = NumberOf(name, value);
    } else if (const auto text = kTexts.find(name); text != kTexts.end()) {
      raw_.*text->second = texts_.emplace_back(TextOf(name, value)).c_str();
    } else if (const auto buffer = kBuffers.find(name); buffer != kBuffers.end()) {
      Py_buffer view;
      if (PyObject_GetBuffer(value.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
      raw_.*buffer->second = views_.emplace_back(view).buf;
    } else if (name == "replace") {
      raw_.replace = FlagOf(name, value);
    } else {
      throw nb::type_error(("there is no option " + name).c_str());
    }
  }

  Raw raw_;
  std::deque<std::string> texts_;
  std::deque<Py_buffer> views_;
};

// Runs one C call that commits and gives JSON, `bool(run options, json, error)`.
template <typename Change>
std::string Commit(nb::object progress, const Change& change) {
  RequireSafeProcess();
  const auto watch = Watch::Make(std::move(progress));
  const kinjo_run_options run = watch->Options();
  char* json = nullptr;
  Long(watch.get(), [&](kinjo_error** error) { return change(&run, &json, error); });
  const std::unique_ptr<char, decltype(&kinjo_string_free)> owned(json, kinjo_string_free);
  return owned.get();
}

}  // namespace

std::string CreateIndex(const std::string& uri, const Options& options, nb::object progress) {
  const IndexOptions raw(options);
  return Commit(std::move(progress), [&](const auto* run, char** json, kinjo_error** error) {
    return kinjo_index_create(uri.c_str(), raw.get(), run, json, error);
  });
}

std::string OptimizeIndex(const std::string& uri, nb::handle name_given, const Options& options,
                          nb::object progress) {
  const std::string name = TextOf("name", name_given);
  kinjo_index_optimize_options raw;
  kinjo_index_optimize_options_init(&raw, sizeof(raw));
  for (const auto& [key, value] : options) {
    const auto option = nb::cast<std::string>(key);
    if (option == "num_indices_to_merge") raw.num_indices_to_merge = NumberOf(option, value);
    if (option == "threads") raw.threads = NumberOf(option, value);
    if (option == "memory_limit_bytes") raw.memory_limit_bytes = NumberOf(option, value);
    if (option == "retrain") raw.retrain = FlagOf(option, value);
  }
  return Commit(std::move(progress), [&](const auto* run, char** json, kinjo_error** error) {
    return kinjo_index_optimize(uri.c_str(), name.c_str(), &raw, run, json, error);
  });
}

int64_t DropIndex(const std::string& uri, nb::handle name_given) {
  RequireSafeProcess();
  const std::string name = TextOf("name", name_given);
  uint64_t version = 0;
  Call([&](kinjo_error** error) {
    return kinjo_index_drop(uri.c_str(), name.c_str(), &version, error);
  });
  return static_cast<int64_t>(version);
}

int64_t RenameIndex(const std::string& uri, nb::handle name_given, nb::handle new_name_given) {
  RequireSafeProcess();
  const std::string name = TextOf("name", name_given);
  const std::string new_name = TextOf("new_name", new_name_given);
  uint64_t version = 0;
  Call([&](kinjo_error** error) {
    return kinjo_index_rename(uri.c_str(), name.c_str(), new_name.c_str(), &version, error);
  });
  return static_cast<int64_t>(version);
}

}  // namespace kinjo::python
