// What every function of the C ABI is made of: the catch-all, error objects, option structs that
// may be older than this library, and the handles behind the opaque names. This room holds no logic
// of its own: it turns C into C++ and arrow::Status into kinjo_error.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/cancel_token.h"
#include "base/error.h"
#include "kinjo/kinjo.h"

namespace kinjo::dataset {
class Dataset;
}
namespace kinjo::join {
class KnnJoin;
}
namespace kinjo::stream {
class ResultStream;
}
namespace kinjo::tabular {
class TableSource;
}

struct kinjo_error {
  kinjo_error_code code = KINJO_ERROR_INTERNAL;
  std::string message;
  std::string path;
  int64_t offset = -1;
  kinjo_error* cause = nullptr;  // owned

  kinjo_error() = default;
  kinjo_error(kinjo_error_code error_code, std::string text)
      : code(error_code), message(std::move(text)) {}
  kinjo_error(const kinjo_error&) = delete;
  kinjo_error& operator=(const kinjo_error&) = delete;
  ~kinjo_error();
};

struct kinjo_cancel {
  kinjo::base::CancelToken token;
};

struct kinjo_dataset {
  std::shared_ptr<kinjo::dataset::Dataset> dataset;
};

struct kinjo_table {
  std::shared_ptr<kinjo::tabular::TableSource> source;
};

struct kinjo_join {
  std::shared_ptr<kinjo::join::KnnJoin> join;
};

struct kinjo_stream {
  std::shared_ptr<kinjo::join::KnnJoin> join;  // declared first: outlives the stream that it feeds
  std::shared_ptr<kinjo::stream::ResultStream> stream;
  bool exported = false;
};

namespace kinjo::capi {

/// Stores a failed status (or an exception's text) as an owned error; `error` may be null.
void StoreError(const arrow::Status& status, kinjo_error** error) noexcept;
void StoreException(const char* what, kinjo_error** error) noexcept;
void StoreOutOfMemory(kinjo_error** error) noexcept;

/// Runs `body` (which gives an arrow::Status) behind the only catch-all of the library.
template <typename Body>
bool Wall(kinjo_error** error, const Body& body) noexcept {
  try {
    const arrow::Status status = body();
    if (status.ok()) return true;
    StoreError(status, error);
  } catch (const std::bad_alloc&) {
    StoreOutOfMemory(error);
  } catch (const std::exception& exception) {
    StoreException(exception.what(), error);
  } catch (...) {
    StoreException("an exception of an unknown kind", error);
  }
  return false;
}

arrow::Status NullArgument(const char* name);

/// `invalid`, naming the argument, when `pointer` is null.
template <typename T>
arrow::Status RequireArgument(const T* pointer, const char* name) {
  return pointer == nullptr ? NullArgument(name) : arrow::Status::OK();
}

/// `state` for a stream that was exported.
arrow::Status RequireReadable(const kinjo_stream* stream);

/// Readies what the whole process shares before the first dataset, table or join is made.
arrow::Status StartEngine();

/// The same for what computes, which needs an instruction set: `invalid` when KINJO_SIMD names one
/// that isn't there.
arrow::Status StartComputing();

/// Hands a copy of `text` to the caller.
arrow::Status GiveText(const std::string& text, char** out);

/// "" for null.
inline std::string TextOf(const char* text) { return text == nullptr ? std::string() : text; }

/// Fills the caller's struct, of which it knows `struct_size` bytes, with the defaults.
template <typename Options>
void InitStruct(Options* options, size_t struct_size, Options defaults) {
  defaults.struct_size = struct_size;
  if (options == nullptr) return;
  std::memset(static_cast<void*>(options), 0, struct_size);
  std::memcpy(static_cast<void*>(options), &defaults, std::min(struct_size, sizeof(Options)));
}

/// Copies what the caller's struct holds over `options`, which holds the defaults. Null changes
/// nothing.
template <typename Options>
arrow::Status ReadStruct(const Options* given, const char* name, Options* options) {
  if (given == nullptr) return arrow::Status::OK();
  const size_t size = given->struct_size;
  if (size < sizeof(size_t)) {
    return base::Invalid(name, ".struct_size is ", size, "; call ", name, "_init first");
  }
  if (size > sizeof(Options)) {
    return base::NotSupported(name, ".struct_size is ", size, " but this library (",
                              kinjo_version(), ") knows ", sizeof(Options),
                              " bytes: the program was built for a newer one");
  }
  std::memcpy(static_cast<void*>(options), given, size);
  return arrow::Status::OK();
}

/// Copies `filled` into the caller's struct, as much of it as the caller knows.
template <typename Info>
arrow::Status FillStruct(Info filled, const char* name, Info* out) {
  ARROW_RETURN_NOT_OK(RequireArgument(out, name));
  const size_t size = out->struct_size;
  if (size < sizeof(size_t)) {
    return base::Invalid(name, ".struct_size is ", size, "; set it to sizeof(", name, ")");
  }
  filled.struct_size = size;
  std::memcpy(static_cast<void*>(out), &filled, std::min(size, sizeof(Info)));
  return arrow::Status::OK();
}

}  // namespace kinjo::capi
