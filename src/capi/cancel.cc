// The cancel flag: a CancelToken in a handle.
#include "capi/wall.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

bool kinjo_cancel_make(kinjo_cancel** cancel, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(cancel, "cancel"));
    *cancel = new kinjo_cancel;
    return arrow::Status::OK();
  });
}

void kinjo_cancel_raise(kinjo_cancel* cancel) {
  if (cancel != nullptr) cancel->token.Cancel();
}

bool kinjo_cancel_is_raised(const kinjo_cancel* cancel) {
  return cancel != nullptr && cancel->token.cancelled();
}

void kinjo_cancel_free(kinjo_cancel* cancel) { delete cancel; }
