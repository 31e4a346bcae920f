#include "base/error.h"

#include <algorithm>

#include "base/error_cause.h"

namespace kinjo::base {

namespace {

arrow::StatusCode ArrowCode(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kConflict:
    case ErrorCode::kRefused:
    case ErrorCode::kState:
      return arrow::StatusCode::Invalid;
    case ErrorCode::kNotFound:
      return arrow::StatusCode::KeyError;
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
      return arrow::StatusCode::IOError;
    case ErrorCode::kNotSupported:
      return arrow::StatusCode::NotImplemented;
    case ErrorCode::kCapacity:
      return arrow::StatusCode::CapacityError;
    case ErrorCode::kCancelled:
      return arrow::StatusCode::Cancelled;
    case ErrorCode::kInternal:
      break;
  }
  return arrow::StatusCode::UnknownError;
}

}  // namespace

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kNotSupported:
      return "not_supported";
    case ErrorCode::kCapacity:
      return "capacity";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kRefused:
      return "refused";
    case ErrorCode::kState:
      return "state";
    case ErrorCode::kInternal:
      break;
  }
  return "internal";
}

std::string ErrorDetail::ToString() const {
  std::string text(ErrorCodeName(code_));
  if (!path_.empty()) text += " in " + path_;
  if (offset_.has_value()) text += " at byte " + std::to_string(*offset_);
  return text;
}

arrow::Status MakeError(ErrorCode code, std::string message, std::string path,
                        std::optional<uint64_t> offset) {
  return arrow::Status(ArrowCode(code), std::move(message),
                       std::make_shared<ErrorDetail>(code, std::move(path), offset));
}

ErrorCode CodeOf(const arrow::Status& status) {
  if (const ErrorDetail* detail = DetailOf(status)) return detail->code();
  switch (status.code()) {
    case arrow::StatusCode::Invalid:
    case arrow::StatusCode::TypeError:
    case arrow::StatusCode::IndexError:
      return ErrorCode::kInvalid;
    case arrow::StatusCode::KeyError:
      return ErrorCode::kNotFound;
    case arrow::StatusCode::IOError:
      return ErrorCode::kIo;
    case arrow::StatusCode::SerializationError:
      return ErrorCode::kCorrupt;
    case arrow::StatusCode::NotImplemented:
      return ErrorCode::kNotSupported;
    case arrow::StatusCode::OutOfMemory:
    case arrow::StatusCode::CapacityError:
      return ErrorCode::kCapacity;
    case arrow::StatusCode::Cancelled:
      return ErrorCode::kCancelled;
    default:
      return ErrorCode::kInternal;
  }
}

std::string MessageOf(const arrow::Status& status) {
  std::string text = status.message();
  if (const ErrorDetail* detail = DetailOf(status)) {
    if (!detail->path().empty()) {
      text += " (" + detail->path();
      if (detail->offset().has_value()) text += ", byte " + std::to_string(*detail->offset());
      text += ')';
    }
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace kinjo::base
