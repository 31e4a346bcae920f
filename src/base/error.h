// The one vocabulary of failure. Inside the engine an error is an arrow::Status; this file gives
// that status the code that users see (docs/semantics.md, "Codes") and, where there is one, the
// file and offset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "arrow/result.h"
#include "arrow/status.h"

namespace kinjo::base {

/// What kind of thing went wrong. The order is the order of the C ABI's `kinjo_error_code`.
enum class ErrorCode : uint8_t {
  kInvalid,       ///< an option, an argument or a left row that can't be used
  kNotFound,      ///< a file, dataset, version, column or index that isn't there
  kIo,            ///< the operating system or the store failed
  kCorrupt,       ///< bytes that contradict the format
  kNotSupported,  ///< well-formed, but not read by this build
  kCapacity,      ///< the memory limit is too small
  kCancelled,     ///< stopped on request
  kConflict,      ///< another writer committed first
  kRefused,       ///< `index=require` or the memory gate said no
  kState,         ///< used after close or cancel
  kInternal,      ///< a bug of ours
};

/// The lower-case name of a code as users see it, e.g. "not_found".
std::string_view ErrorCodeName(ErrorCode code);

/// Carries the code, path and offset on an arrow::Status.
class ErrorDetail final : public arrow::StatusDetail {
 public:
  ErrorDetail(ErrorCode code, std::string path, std::optional<uint64_t> offset)
      : code_(code), path_(std::move(path)), offset_(offset) {}

  const char* type_id() const override { return "kinjo::ErrorDetail"; }
  std::string ToString() const override;

  ErrorCode code() const { return code_; }
  const std::string& path() const { return path_; }
  std::optional<uint64_t> offset() const { return offset_; }

 private:
  ErrorCode code_;
  std::string path_;
  std::optional<uint64_t> offset_;
};

/// Makes a status with `code`; `path` and `offset` say where, when there is a where.
arrow::Status MakeError(ErrorCode code, std::string message, std::string path = {},
                        std::optional<uint64_t> offset = std::nullopt);

/// The code of a failed status. A status that Arrow made is mapped by its own code (IOError -> kIo,
/// KeyError -> kNotFound, NotImplemented -> kNotSupported, OutOfMemory and CapacityError ->
/// kCapacity, ...).
ErrorCode CodeOf(const arrow::Status& status);

/// The message as users see it: without Arrow's code prefix and without the detail's text, in one
/// line.
std::string MessageOf(const arrow::Status& status);

/// The parts streamed one after another.
template <typename... Parts>
std::string Concat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return std::move(text).str();
}

// Short makers: the parts are streamed one after another into the message.
template <typename... Parts>
arrow::Status Invalid(const Parts&... parts) {
  return MakeError(ErrorCode::kInvalid, Concat(parts...));
}
template <typename... Parts>
arrow::Status NotFound(const Parts&... parts) {
  return MakeError(ErrorCode::kNotFound, Concat(parts...));
}
template <typename... Parts>
arrow::Status NotSupported(const Parts&... parts) {
  return MakeError(ErrorCode::kNotSupported, Concat(parts...));
}
template <typename... Parts>
arrow::Status Io(const Parts&... parts) {
  return MakeError(ErrorCode::kIo, Concat(parts...));
}
template <typename... Parts>
arrow::Status Internal(const Parts&... parts) {
  return MakeError(ErrorCode::kInternal, Concat(parts...));
}
/// Bytes that contradict the format: always with the file and the offset of the bytes.
template <typename... Parts>
arrow::Status Corrupt(std::string path, uint64_t offset, const Parts&... parts) {
  return MakeError(ErrorCode::kCorrupt, Concat(parts...), std::move(path), offset);
}

}  // namespace kinjo::base
