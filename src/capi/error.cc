// Error objects. A failure to make one (no memory left) is answered with a ready-made error, so
// that false never comes without a reason.
#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "arrow/compute/initialize.h"
#include "base/error_cause.h"
#include "capi/wall.h"
#include "kernels/simd_level.h"

namespace kinjo::capi {

namespace {

static_assert(static_cast<int>(base::ErrorCode::kInvalid) + 1 == KINJO_ERROR_INVALID);
static_assert(static_cast<int>(base::ErrorCode::kCapacity) + 1 == KINJO_ERROR_CAPACITY);
static_assert(static_cast<int>(base::ErrorCode::kInternal) + 1 == KINJO_ERROR_INTERNAL);

// Short enough for the string's own storage: making it can't fail.
kinjo_error* OutOfMemoryError() noexcept {
  static kinjo_error error(KINJO_ERROR_CAPACITY, "out of memory");
  return &error;
}

}  // namespace

void StoreError(const arrow::Status& status, kinjo_error** error) noexcept {
  if (error == nullptr) return;
  try {
    auto made = std::make_unique<kinjo_error>();
    made->code = static_cast<kinjo_error_code>(static_cast<int>(base::CodeOf(status)) + 1);
    made->message = base::MessageOf(status);
    if (const base::ErrorDetail* detail = base::DetailOf(status)) {
      made->path = detail->path();
      if (detail->offset()) made->offset = static_cast<int64_t>(*detail->offset());
    }
    const arrow::Status cause = base::CauseOf(status);
    if (!cause.ok()) StoreError(cause, &made->cause);
    *error = made.release();
  } catch (...) {
    *error = OutOfMemoryError();
  }
}

void StoreException(const char* what, kinjo_error** error) noexcept {
  if (error == nullptr) return;
  try {
    *error = new kinjo_error(KINJO_ERROR_INTERNAL, base::Concat("internal error: ", what));
  } catch (...) {
    *error = OutOfMemoryError();
  }
}

void StoreOutOfMemory(kinjo_error** error) noexcept {
  if (error != nullptr) *error = OutOfMemoryError();
}

arrow::Status NullArgument(const char* name) {
  return base::Invalid("the argument ", name, " is NULL");
}

arrow::Status StartEngine() {
  static const arrow::Status started = arrow::compute::Initialize();
  return started;
}

arrow::Status StartComputing() {
  ARROW_RETURN_NOT_OK(kernels::CheckSimdEnvironment());
  return StartEngine();
}

arrow::Status GiveText(const std::string& text, char** out) {
  ARROW_RETURN_NOT_OK(RequireArgument(out, "text"));
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return base::MakeError(base::ErrorCode::kCapacity, "out of memory");
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *out = copy;
  return arrow::Status::OK();
}

}  // namespace kinjo::capi

kinjo_error::~kinjo_error() { kinjo_error_free(cause); }

using namespace kinjo::capi;  // NOLINT: the functions below are C's

kinjo_error_code kinjo_error_get_code(const kinjo_error* error) {
  return error == nullptr ? KINJO_ERROR_INTERNAL : error->code;
}

const char* kinjo_error_get_message(const kinjo_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

const char* kinjo_error_get_path(const kinjo_error* error) {
  return error == nullptr ? "" : error->path.c_str();
}

int64_t kinjo_error_get_offset(const kinjo_error* error) {
  return error == nullptr ? -1 : error->offset;
}

const kinjo_error* kinjo_error_get_cause(const kinjo_error* error) {
  return error == nullptr ? nullptr : error->cause;
}

void kinjo_error_free(kinjo_error* error) {
  if (error != OutOfMemoryError()) delete error;
}

const char* kinjo_error_code_name(kinjo_error_code code) {
  const auto inner = static_cast<kinjo::base::ErrorCode>(static_cast<int>(code) - 1);
  return kinjo::base::ErrorCodeName(inner).data();
}

int kinjo_error_code_errno(kinjo_error_code code) {
  switch (code) {
    case KINJO_ERROR_INVALID:
      return EINVAL;
    case KINJO_ERROR_CAPACITY:
      return ENOMEM;
    case KINJO_ERROR_CANCELLED:
    case KINJO_ERROR_STATE:
      return ECANCELED;
    case KINJO_ERROR_NOT_SUPPORTED:
      return ENOSYS;
    default:
      return EIO;
  }
}

void kinjo_string_free(char* text) { std::free(text); }
