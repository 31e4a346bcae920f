#include "capsules.h"

#include <cerrno>
#include <memory>
#include <utility>

namespace nb = nanobind;

namespace kinjo::python {

namespace {

constexpr const char* kSchemaName = "arrow_schema";
constexpr const char* kArrayName = "arrow_array";
constexpr const char* kStreamName = "arrow_array_stream";

template <typename T>
void Release(T* raw) {
  if (raw->release != nullptr) raw->release(raw);
}

// A capsule that owns a copy of `raw` and releases it unless its taker did.
template <typename T>
nb::capsule Owning(T raw, const char* name, PyCapsule_Destructor destroy) {
  auto owned = std::make_unique<T>(raw);
  PyObject* capsule = PyCapsule_New(owned.get(), name, destroy);
  if (capsule == nullptr) {
    Release(&raw);
    throw nb::python_error();
  }
  owned.release();
  return nb::steal<nb::capsule>(capsule);
}

template <typename T>
T* Behind(nb::handle capsule, const char* name) {
  void* raw = PyCapsule_GetPointer(capsule.ptr(), name);
  if (raw == nullptr) throw nb::python_error();
  auto* typed = static_cast<T*>(raw);
  if (typed->release == nullptr) throw nb::type_error("this Arrow capsule was consumed already");
  return typed;
}

// A stream of one batch.
struct OneBatch {
  ArrowSchema schema{};
  ArrowArray array{};

  ~OneBatch() {
    Release(&schema);
    Release(&array);
  }
};

OneBatch* BatchBehind(ArrowArrayStream* stream) {
  return static_cast<OneBatch*>(stream->private_data);
}

int GiveSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  OneBatch* batch = BatchBehind(stream);
  if (batch->schema.release == nullptr) return EINVAL;  // given before
  *out = std::exchange(batch->schema, ArrowSchema{});
  return 0;
}

int GiveArray(ArrowArrayStream* stream, ArrowArray* out) {
  *out = std::exchange(BatchBehind(stream)->array, ArrowArray{});
  return 0;
}

const char* NoError(ArrowArrayStream*) { return nullptr; }

void ReleaseBatch(ArrowArrayStream* stream) {
  delete BatchBehind(stream);
  *stream = ArrowArrayStream{};
}

}  // namespace

nb::capsule SchemaCapsule(ArrowSchema schema) {
  return Owning(schema, kSchemaName, [](PyObject* capsule) {
    auto* raw = static_cast<ArrowSchema*>(PyCapsule_GetPointer(capsule, kSchemaName));
    Release(raw);
    delete raw;
  });
}

nb::capsule StreamCapsule(ArrowArrayStream stream) {
  return Owning(stream, kStreamName, [](PyObject* capsule) {
    auto* raw = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, kStreamName));
    Release(raw);
    delete raw;
  });
}

ArrowArrayStream TakeStream(nb::handle capsule) {
  return std::exchange(*Behind<ArrowArrayStream>(capsule, kStreamName), ArrowArrayStream{});
}

ArrowArrayStream TakeArray(nb::handle schema_capsule, nb::handle array_capsule) {
  auto* schema = Behind<ArrowSchema>(schema_capsule, kSchemaName);
  auto* array = Behind<ArrowArray>(array_capsule, kArrayName);
  auto batch = std::make_unique<OneBatch>();
  batch->schema = std::exchange(*schema, ArrowSchema{});
  batch->array = std::exchange(*array, ArrowArray{});
  return {GiveSchema, GiveArray, NoError, ReleaseBatch, batch.release()};
}

}  // namespace kinjo::python
