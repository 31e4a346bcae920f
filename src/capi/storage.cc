// Where data lies: what object stores need to know.
#include "io/storage_options.h"

#include "capi/wall.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

bool kinjo_storage_set_options(const char* prefix, const char* const* names,
                               const char* const* values, size_t num_options, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    if (num_options > 0) {
      ARROW_RETURN_NOT_OK(RequireArgument(names, "names"));
      ARROW_RETURN_NOT_OK(RequireArgument(values, "values"));
    }
    kinjo::io::StorageOptions options;
    for (size_t i = 0; i < num_options; ++i) {
      ARROW_RETURN_NOT_OK(RequireArgument(names[i], "names[i]"));
      ARROW_RETURN_NOT_OK(RequireArgument(values[i], "values[i]"));
      options[names[i]] = values[i];
    }
    return kinjo::io::SetStorageOptions(TextOf(prefix), options);
  });
}
