// Arrow data in and out of Python: the capsules of Arrow's PyCapsule interface around the C
// structs.
#pragma once

#include <nanobind/nanobind.h>

#include "kinjo/arrow_c_abi.h"

namespace kinjo::python {

/// A capsule that owns a schema, which is moved from.
nanobind::capsule SchemaCapsule(ArrowSchema schema);
/// A capsule that owns a stream, which is moved from.
nanobind::capsule StreamCapsule(ArrowArrayStream stream);

/// Moves the stream out of what an object's __arrow_c_stream__ gave. TypeError for anything else,
/// and for one that was moved from already.
ArrowArrayStream TakeStream(nanobind::handle capsule);
/// The same of what __arrow_c_array__ gave: a stream of that one batch.
ArrowArrayStream TakeArray(nanobind::handle schema_capsule, nanobind::handle array_capsule);

}  // namespace kinjo::python
