// Tables: what a join's sides are made of, from files, Arrow streams and buffers of numbers.
#include <cerrno>
#include <map>

#include "capsules.h"
#include "handles.h"

namespace nb = nanobind;

namespace kinjo::python {

namespace {

const std::map<std::string, int64_t> kElementBytes = {
    {"float16", 2}, {"float32", 4}, {"float64", 8}, {"uint8", 1}, {"int8", 1}};

// A contiguous buffer, checked to hold the elements that it is said to.
class Elements {
 public:
  Elements(nb::handle object, const std::string& type, int64_t count) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    const auto bytes = kElementBytes.find(type);
    if (bytes != kElementBytes.end() && (count < 0 || view_.len != count * bytes->second)) {
      PyBuffer_Release(&view_);
      throw nb::value_error("the buffer holds another number of elements");
    }
  }
  ~Elements() { PyBuffer_Release(&view_); }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  const void* data() const { return view_.len == 0 ? static_cast<const void*>("") : view_.buf; }

 private:
  Py_buffer view_{};
};

// Another's stream, which ends with an error once a watch was cancelled: reading it to its end can
// be stopped between two batches.
struct Stoppable {
  ArrowArrayStream inner;
  const Watch* watch;  // outlives the stream
};

Stoppable* Behind(ArrowArrayStream* stream) {
  return static_cast<Stoppable*>(stream->private_data);
}

ArrowArrayStream MakeStoppable(ArrowArrayStream inner, const Watch* watch) {
  const auto get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    ArrowArrayStream* stream = &Behind(self)->inner;
    return stream->get_schema(stream, out);
  };
  const auto get_next = [](ArrowArrayStream* self, ArrowArray* out) {
    if (Behind(self)->watch->is_cancelled()) return ECANCELED;
    ArrowArrayStream* stream = &Behind(self)->inner;
    return stream->get_next(stream, out);
  };
  const auto get_last_error = [](ArrowArrayStream* self) {
    ArrowArrayStream* stream = &Behind(self)->inner;
    return stream->get_last_error(stream);
  };
  const auto release = [](ArrowArrayStream* self) {
    ArrowArrayStream* stream = &Behind(self)->inner;
    stream->release(stream);
    delete Behind(self);
    *self = ArrowArrayStream{};
  };
  return {get_schema, get_next, get_last_error, release, new Stoppable{inner, watch}};
}

}  // namespace

Table Table::Open(const std::string& uri, std::optional<int64_t> version) {
  RequireSafeProcess();
  kinjo_table_options options;
  kinjo_table_options_init(&options, sizeof(options));
  options.version = version.value_or(KINJO_UNSET);
  kinjo_table* raw = nullptr;
  Call([&](kinjo_error** error) { return kinjo_table_open(uri.c_str(), &options, &raw, error); });
  return Table(raw);
}

Table Table::FromStream(nb::handle capsule, const std::string& name, bool keep) {
  RequireSafeProcess();
  ArrowArrayStream stream = TakeStream(capsule);
  kinjo_table* raw = nullptr;
  if (!keep) {
    Call([&](kinjo_error** error) {
      return kinjo_table_from_stream(&stream, name.c_str(), &raw, error);
    });
    return Table(raw);
  }
  const auto watch = Watch::Make(nb::none());
  stream = MakeStoppable(stream, watch.get());
  try {
    Long(watch.get(), [&](kinjo_error** error) {
      return kinjo_table_from_rows(&stream, name.c_str(), &raw, error);
    });
  } catch (...) {
    kinjo_table_free(raw);  // a signal may come when all was read
    throw;
  }
  return Table(raw);
}

Table Table::FromArray(nb::handle schema, nb::handle array, const std::string& name) {
  RequireSafeProcess();
  ArrowArrayStream stream = TakeArray(schema, array);
  kinjo_table* raw = nullptr;
  Call([&](kinjo_error** error) {
    return kinjo_table_from_rows(&stream, name.c_str(), &raw, error);
  });
  return Table(raw);
}

Table Table::FromVectors(nb::handle buffer, const std::string& element_type, int64_t num_vectors,
                         int64_t width) {
  RequireSafeProcess();
  const Elements elements(buffer, element_type, num_vectors * width);
  kinjo_table* raw = nullptr;
  Call([&](kinjo_error** error) {
    return kinjo_table_from_vectors(elements.data(), element_type.c_str(), num_vectors, width, &raw,
                                    error);
  });
  return Table(raw);
}

Table Table::FromVectorLists(nb::handle buffer, const std::string& element_type,
                             const std::vector<int64_t>& list_lengths, int64_t width) {
  RequireSafeProcess();
  int64_t num_vectors = 0;
  for (const int64_t length : list_lengths) num_vectors += length;
  const Elements elements(buffer, element_type, num_vectors * width);
  const int64_t none = 0;
  kinjo_table* raw = nullptr;
  Call([&](kinjo_error** error) {
    return kinjo_table_from_vector_lists(
        elements.data(), element_type.c_str(), list_lengths.empty() ? &none : list_lengths.data(),
        static_cast<int64_t>(list_lengths.size()), width, &raw, error);
  });
  return Table(raw);
}

nb::object Table::NumRows() const {
  int64_t rows = 0;
  Quick([&](kinjo_error** error) { return kinjo_table_get_num_rows(get(), &rows, error); });
  if (rows < 0) return nb::none();
  return nb::int_(rows);
}

nb::capsule Table::Schema() const {
  ArrowSchema schema{};
  Quick([&](kinjo_error** error) { return kinjo_table_get_schema(get(), &schema, error); });
  return SchemaCapsule(schema);
}

}  // namespace kinjo::python
