// C++ over kinjo.h, header-only (C++17): handles that free themselves, options with defaults, and a
// small Result instead of error pointers. It adds no rule of its own; kinjo.h has the contracts.
//
//   auto left = kinjo::Table::Open("q.parquet");
//   if (!left.ok()) return Fail(left.error());
//   auto join = kinjo::Join::Make(*left, "items.lance", {.k = 5});          // C++20 spelling
//   auto stream = join->Run();
//   while (true) {
//     kinjo::Result<kinjo::Batch> batch = stream->Next();
//     if (!batch.ok() || batch->empty()) break;
//     ...
//   }
#ifndef KINJO_KINJO_HPP_
#define KINJO_KINJO_HPP_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kinjo/kinjo.h"

namespace kinjo {

/// What went wrong: a plain value.
struct Error {
  kinjo_error_code code = KINJO_ERROR_INTERNAL;
  std::string message;
  std::string path;     ///< "" when the message says all
  int64_t offset = -1;  ///< byte of `path`, or -1

  /// Takes a C error over and frees it.
  static Error Take(kinjo_error* error) {
    Error taken{kinjo_error_get_code(error), kinjo_error_get_message(error),
                kinjo_error_get_path(error), kinjo_error_get_offset(error)};
    kinjo_error_free(error);
    return taken;
  }
};

/// A T, or the Error that stood in its way.
template <typename T>
class Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  /// Requires: !ok().
  const Error& error() const { return std::get<1>(state_); }
  /// Requires: ok(). std::bad_variant_access is thrown otherwise.
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an Error.
template <>
class Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  /// Requires: !ok().
  const Error& error() const { return error_.value(); }

 private:
  std::optional<Error> error_;
};

namespace detail {

// Frees a handle with the C function of its kind.
template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* handle) const {
    kFree(handle);
  }
};

// An Arrow C struct that is released when its owner goes.
template <typename T>
class Released {
 public:
  Released() = default;
  Released(Released&& other) noexcept : raw_(std::exchange(other.raw_, T{})) {}
  Released& operator=(Released&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released() {
    if (raw_.release != nullptr) raw_.release(&raw_);
  }

  bool empty() const { return raw_.release == nullptr; }
  T* get() { return &raw_; }
  const T* operator->() const { return &raw_; }
  /// Gives the struct away; this owner is then empty.
  T Detach() { return std::exchange(raw_, T{}); }

 private:
  T raw_{};
};

// NULL for an empty text: the C ABI's "not given".
inline const char* OrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

inline int64_t OrUnset(const std::optional<int64_t>& number) {
  return number.value_or(KINJO_UNSET);
}

inline std::vector<const char*> Pointers(const std::optional<std::vector<std::string>>& texts) {
  std::vector<const char*> pointers;
  if (texts) {
    for (const std::string& text : *texts) pointers.push_back(text.c_str());
  }
  pointers.push_back(nullptr);  // so that data() of no columns isn't NULL, which would mean "all"
  return pointers;
}

// Runs one C call that gives a text.
template <typename Call>
Result<std::string> Text(const Call& call) {
  char* text = nullptr;
  kinjo_error* error = nullptr;
  if (!call(&text, &error)) return Error::Take(error);
  const std::unique_ptr<char, Free<kinjo_string_free>> owned(text);
  return std::string(text);
}

// Runs one C call that fills a struct.
template <typename T, typename Call>
Result<T> Filled(const Call& call) {
  T filled{};
  kinjo_error* error = nullptr;
  if (!call(&filled, &error)) return Error::Take(error);
  return Result<T>(std::move(filled));
}

// What a call gives that fills nothing.
template <typename Call>
Result<void> Done(const Call& call) {
  kinjo_error* error = nullptr;
  if (!call(&error)) return Error::Take(error);
  return {};
}

}  // namespace detail

using Schema = detail::Released<ArrowSchema>;
using Batch = detail::Released<ArrowArray>;
using ArrayStream = detail::Released<ArrowArrayStream>;

/// The library's version.
inline std::string Version() { return kinjo_version(); }

/// Defaults of this process, as JSON (kinjo_runtime_describe).
inline Result<std::string> DescribeRuntime() {
  return detail::Text(
      [](char** text, kinjo_error** error) { return kinjo_runtime_describe(text, error); });
}

/// Sizes the pools of the process's Arrow library (kinjo_runtime_set_arrow_threads).
inline Result<void> SetArrowThreads(int64_t threads) {
  return detail::Done(
      [&](kinjo_error** error) { return kinjo_runtime_set_arrow_threads(threads, error); });
}

/// What object stores need to know of addresses that begin alike (kinjo_storage_set_options).
inline Result<void> SetStorageOptions(
    const std::string& prefix, const std::vector<std::pair<std::string, std::string>>& options) {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [option_name, value] : options) {
    names.push_back(option_name.c_str());
    values.push_back(value.c_str());
  }
  return detail::Done([&](kinjo_error** error) {
    return kinjo_storage_set_options(prefix.c_str(), names.data(), values.data(), names.size(),
                                     error);
  });
}

/// The flag that stops one run. Raise and raised: any thread, also a signal handler.
class Cancel {
 public:
  static Result<Cancel> Make() {
    kinjo_cancel* cancel = nullptr;
    kinjo_error* error = nullptr;
    if (!kinjo_cancel_make(&cancel, &error)) return Error::Take(error);
    return Cancel(cancel);
  }
  void Raise() const { kinjo_cancel_raise(handle_.get()); }
  bool raised() const { return kinjo_cancel_is_raised(handle_.get()); }
  kinjo_cancel* get() const { return handle_.get(); }

 private:
  explicit Cancel(kinjo_cancel* handle) : handle_(handle) {}
  std::unique_ptr<kinjo_cancel, detail::Free<kinjo_cancel_free>> handle_;
};

/// One version of a Lance dataset.
class Dataset {
 public:
  /// `fragment_ids`: the snapshot is of these alone.
  static Result<Dataset> Open(const std::string& uri, std::optional<int64_t> version = {},
                              const std::string& tag = "",
                              const std::optional<std::vector<uint64_t>>& fragment_ids = {}) {
    kinjo_dataset_options options;
    kinjo_dataset_options_init(&options, sizeof(options));
    options.version = detail::OrUnset(version);
    options.tag = detail::OrNull(tag);
    constexpr uint64_t kNone = 0;  // an empty list has no address of its own
    if (fragment_ids.has_value()) {
      options.fragment_ids = fragment_ids->empty() ? &kNone : fragment_ids->data();
      options.num_fragment_ids = fragment_ids->size();
    }
    kinjo_dataset* dataset = nullptr;
    kinjo_error* error = nullptr;
    if (!kinjo_dataset_open(uri.c_str(), &options, &dataset, &error)) return Error::Take(error);
    return Dataset(dataset);
  }

  Result<kinjo_dataset_info> Info() const {
    return detail::Filled<kinjo_dataset_info>([&](auto* info, kinjo_error** error) {
      info->struct_size = sizeof(*info);
      return kinjo_dataset_get_info(handle_.get(), info, error);
    });
  }
  Result<kinjo::Schema> Schema() const {
    return detail::Filled<kinjo::Schema>([&](auto* schema, kinjo_error** error) {
      return kinjo_dataset_get_schema(handle_.get(), schema->get(), error);
    });
  }
  /// JSON: kinjo_dataset_describe.
  Result<std::string> Describe() const {
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_dataset_describe(handle_.get(), text, error);
    });
  }
  /// JSON: kinjo_dataset_describe_index.
  Result<std::string> DescribeIndex(const std::string& name) const {
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_dataset_describe_index(handle_.get(), name.c_str(), text, error);
    });
  }
  /// JSON: kinjo_dataset_describe_versions.
  Result<std::string> DescribeVersions() const {
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_dataset_describe_versions(handle_.get(), text, error);
    });
  }
  /// JSON: kinjo_dataset_describe_files.
  Result<std::string> DescribeFiles() const {
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_dataset_describe_files(handle_.get(), text, error);
    });
  }
  kinjo_dataset* get() const { return handle_.get(); }

 private:
  explicit Dataset(kinjo_dataset* handle) : handle_(handle) {}
  std::unique_ptr<kinjo_dataset, detail::Free<kinjo_dataset_free>> handle_;
};

struct TableOptions {
  std::string format;  ///< "": by the name's ending
  std::optional<int64_t> version;
  std::optional<int64_t> batch_rows;
};

/// The left side of a join.
class Table {
 public:
  static Result<Table> Open(const std::string& uri, const TableOptions& options = {}) {
    kinjo_table_options raw;
    kinjo_table_options_init(&raw, sizeof(raw));
    raw.format = detail::OrNull(options.format);
    raw.version = detail::OrUnset(options.version);
    raw.batch_rows = detail::OrUnset(options.batch_rows);
    kinjo_table* table = nullptr;
    kinjo_error* error = nullptr;
    if (!kinjo_table_open(uri.c_str(), &raw, &table, &error)) return Error::Take(error);
    return Table(table);
  }
  /// Moves from `stream`.
  static Result<Table> FromStream(ArrowArrayStream* stream, const std::string& name) {
    kinjo_table* table = nullptr;
    kinjo_error* error = nullptr;
    if (!kinjo_table_from_stream(stream, name.c_str(), &table, &error)) return Error::Take(error);
    return Table(table);
  }

  /// Copies num_vectors x width elements at `values`: kinjo_table_from_vectors.
  static Result<Table> FromVectors(const void* values, const char* element_type,
                                   int64_t num_vectors, int64_t width) {
    kinjo_table* table = nullptr;
    kinjo_error* error = nullptr;
    if (!kinjo_table_from_vectors(values, element_type, num_vectors, width, &table, &error)) {
      return Error::Take(error);
    }
    return Table(table);
  }

  /// Moves from `stream`, reads it to its end and keeps its rows.
  static Result<Table> FromRows(ArrowArrayStream* stream, const std::string& name) {
    kinjo_table* table = nullptr;
    kinjo_error* error = nullptr;
    if (!kinjo_table_from_rows(stream, name.c_str(), &table, &error)) return Error::Take(error);
    return Table(table);
  }
  /// Copies values.size() / width vectors. Requires: width divides the size.
  static Result<Table> FromVectors(const std::vector<float>& values, int64_t width) {
    return FromVectors(values, "float32", width);
  }
  static Result<Table> FromVectors(const std::vector<double>& values, int64_t width) {
    return FromVectors(values, "float64", width);
  }
  static Result<Table> FromVectors(const std::vector<uint8_t>& values, int64_t width) {
    return FromVectors(values, "uint8", width);
  }
  static Result<Table> FromVectors(const std::vector<int8_t>& values, int64_t width) {
    return FromVectors(values, "int8", width);
  }

  /// Copies lists of vectors: list i has the next list_lengths[i] vectors of `values`. Requires: as
  /// many values as the lengths tell.
  static Result<Table> FromVectorLists(const std::vector<float>& values,
                                       const std::vector<int64_t>& list_lengths, int64_t width) {
    return FromVectorLists(values, "float32", list_lengths, width);
  }
  static Result<Table> FromVectorLists(const std::vector<double>& values,
                                       const std::vector<int64_t>& list_lengths, int64_t width) {
    return FromVectorLists(values, "float64", list_lengths, width);
  }

  Result<kinjo::Schema> Schema() const {
    return detail::Filled<kinjo::Schema>([&](auto* schema, kinjo_error** error) {
      return kinjo_table_get_schema(handle_.get(), schema->get(), error);
    });
  }
  /// -1 when only reading would tell.
  Result<int64_t> NumRows() const {
    return detail::Filled<int64_t>([&](int64_t* rows, kinjo_error** error) {
      return kinjo_table_get_num_rows(handle_.get(), rows, error);
    });
  }
  kinjo_table* get() const { return handle_.get(); }

 private:
  explicit Table(kinjo_table* handle) : handle_(handle) {}

  template <typename Element>
  static Result<Table> FromVectors(const std::vector<Element>& values, const char* element_type,
                                   int64_t width) {
    const int64_t num_vectors = width < 1 ? 0 : static_cast<int64_t>(values.size()) / width;
    const Element none{};  // data() of no values may be NULL
    return FromVectors(static_cast<const void*>(values.empty() ? &none : values.data()),
                       element_type, num_vectors, width);
  }

  template <typename Element>
  static Result<Table> FromVectorLists(const std::vector<Element>& values, const char* element_type,
                                       const std::vector<int64_t>& list_lengths, int64_t width) {
    kinjo_table* table = nullptr;
    kinjo_error* error = nullptr;
    const Element none{};  // data() of no values may be NULL
    const int64_t no_length = 0;
    if (!kinjo_table_from_vector_lists(values.empty() ? &none : values.data(), element_type,
                                       list_lengths.empty() ? &no_length : list_lengths.data(),
                                       static_cast<int64_t>(list_lengths.size()), width, &table,
                                       &error)) {
      return Error::Take(error);
    }
    return Table(table);
  }

  std::unique_ptr<kinjo_table, detail::Free<kinjo_table_free>> handle_;
};

/// kinjo_join_options with C++ types; an empty text or optional means "not given".
struct JoinOptions {
  int64_t k = 10;
  std::string on;
  std::string left_on;
  std::string right_on;
  std::string how = "inner";
  std::string metric;
  std::optional<int64_t> nprobes;
  std::optional<int64_t> minimum_nprobes;
  std::optional<int64_t> maximum_nprobes;
  std::optional<int64_t> refine_factor;
  std::string index = "auto";
  bool fast_search = false;
  std::optional<std::pair<float, float>> distance_range;
  std::optional<std::vector<std::string>> left_select;
  std::optional<std::vector<std::string>> right_select;
  std::string suffix = "_right";
  bool with_row_id = false;
  bool with_query_index = false;
  std::optional<int64_t> right_version;
  std::optional<int64_t> memory_limit_bytes;
  std::optional<int64_t> threads;
  std::string where;
  std::optional<int64_t> ef;
  std::optional<double> search_effort;
  std::string approx_mode = "normal";
  std::string right_tag;
  std::optional<std::vector<std::string>> by;
  std::optional<std::string> exclude_self;  ///< "": the same row of the same table
  bool unordered_pairs = false;
  bool mutual = false;
  bool clusters = false;
  std::optional<double> recall;
};

/// Must not throw: it is called through C.
using ProgressFunction = std::function<void(const kinjo_progress&)>;

/// How a run is watched and stopped. Both must outlive the run.
struct RunOptions {
  const Cancel* cancel = nullptr;
  const ProgressFunction* progress = nullptr;
  bool complete = false;  ///< of Run: all rows are made before they are read
};

namespace detail {

// Borrows from `options`.
inline kinjo_run_options RawRun(const RunOptions& options) {
  kinjo_run_options raw;
  kinjo_run_options_init(&raw, sizeof(raw));
  if (options.cancel != nullptr) raw.cancel = options.cancel->get();
  if (options.progress != nullptr && *options.progress) {
    raw.progress = [](void* context, const kinjo_progress* progress) {
      (*static_cast<const ProgressFunction*>(context))(*progress);
    };
    raw.progress_context = const_cast<ProgressFunction*>(options.progress);
  }
  raw.complete = options.complete;
  return raw;
}

}  // namespace detail

struct SinkOptions {
  std::string format;  ///< "": by the path's ending
  std::string compression;
  std::optional<int64_t> row_group_rows;
  bool overwrite = true;
};

namespace detail {

// Borrows from `sink`.
inline kinjo_sink_options RawSink(const SinkOptions& sink) {
  kinjo_sink_options raw;
  kinjo_sink_options_init(&raw, sizeof(raw));
  raw.format = OrNull(sink.format);
  raw.compression = OrNull(sink.compression);
  raw.row_group_rows = OrUnset(sink.row_group_rows);
  raw.overwrite = sink.overwrite;
  return raw;
}

}  // namespace detail

/// kinjo_parts_options with C++ types.
struct PartsOptions {
  std::string format;  ///< "": parquet
  std::string compression;
  std::optional<int64_t> row_group_rows;
  std::optional<int64_t> part_rows;
};

/// kinjo_scan_options with C++ types.
struct ScanOptions {
  std::optional<std::vector<std::string>> columns;
  std::string where;
  std::optional<int64_t> limit;
  bool with_row_id = false;
  std::optional<int64_t> batch_rows;
  std::optional<std::vector<uint64_t>> fragment_ids;
  std::optional<int64_t> offset;
};

/// The rows of a running join, or of a scan.
class Stream {
 public:
  explicit Stream(kinjo_stream* handle) : handle_(handle) {}

  Result<kinjo::Schema> Schema() const {
    return detail::Filled<kinjo::Schema>([&](auto* schema, kinjo_error** error) {
      return kinjo_stream_get_schema(handle_.get(), schema->get(), error);
    });
  }
  /// The next batch; an empty one at the end.
  Result<Batch> Next() {
    return detail::Filled<Batch>([&](Batch* batch, kinjo_error** error) {
      return kinjo_stream_next(handle_.get(), batch->get(), error);
    });
  }
  /// Exactly max_rows rows, until the tail of the result.
  Result<Batch> Next(int64_t max_rows) {
    return detail::Filled<Batch>([&](Batch* batch, kinjo_error** error) {
      return kinjo_stream_next_rows(handle_.get(), max_rows, batch->get(), error);
    });
  }
  Result<bool> HasMore() {
    return detail::Filled<bool>([&](bool* more, kinjo_error** error) {
      return kinjo_stream_has_more(handle_.get(), more, error);
    });
  }
  /// Works to the end without waiting for reads (kinjo_stream_finish).
  Result<void> Finish() {
    kinjo_error* error = nullptr;
    if (!kinjo_stream_finish(handle_.get(), &error)) return Error::Take(error);
    return {};
  }
  bool is_complete() const { return kinjo_stream_is_complete(handle_.get()); }
  /// Any thread.
  void Cancel() { kinjo_stream_cancel(handle_.get()); }
  Result<void> Close() {
    kinjo_error* error = nullptr;
    if (!kinjo_stream_close(handle_.get(), &error)) return Error::Take(error);
    return {};
  }
  /// Writes the rows that weren't read yet to a file or, for "-", standard output; gives how many.
  Result<int64_t> Write(const std::string& path, const SinkOptions& sink = {}) {
    const kinjo_sink_options raw = detail::RawSink(sink);
    return detail::Filled<int64_t>([&](int64_t* rows, kinjo_error** error) {
      return kinjo_stream_write(handle_.get(), path.c_str(), &raw, rows, error);
    });
  }
  Result<ArrayStream> Export() {
    return detail::Filled<ArrayStream>([&](ArrayStream* out, kinjo_error** error) {
      return kinjo_stream_export(handle_.get(), out->get(), error);
    });
  }

 private:
  std::unique_ptr<kinjo_stream, detail::Free<kinjo_stream_free>> handle_;
};

/// Streams the rows of a dataset (kinjo_dataset_scan).
inline Result<Stream> Scan(const Dataset& dataset, const ScanOptions& options = {},
                           const RunOptions& run_options = {}) {
  kinjo_scan_options raw;
  kinjo_scan_options_init(&raw, sizeof(raw));
  const std::vector<const char*> columns = detail::Pointers(options.columns);
  if (options.columns) raw.columns = columns.data();
  raw.num_columns = columns.size() - 1;
  raw.where = detail::OrNull(options.where);
  raw.limit = detail::OrUnset(options.limit);
  raw.with_row_id = options.with_row_id;
  raw.batch_rows = detail::OrUnset(options.batch_rows);
  raw.offset = detail::OrUnset(options.offset);
  const uint64_t no_fragment = 0;  // data() of no ids may be NULL, which would mean "all"
  if (options.fragment_ids) {
    raw.num_fragment_ids = options.fragment_ids->size();
    raw.fragment_ids = options.fragment_ids->empty() ? &no_fragment : options.fragment_ids->data();
  }
  const kinjo_run_options run = detail::RawRun(run_options);
  kinjo_stream* stream = nullptr;
  kinjo_error* error = nullptr;
  if (!kinjo_dataset_scan(dataset.get(), &raw, &run, &stream, &error)) return Error::Take(error);
  return Stream(stream);
}

/// Counts the rows of a dataset that pass a filter; "": all.
inline Result<int64_t> CountRows(const Dataset& dataset, const std::string& where = "") {
  return detail::Filled<int64_t>([&](int64_t* rows, kinjo_error** error) {
    return kinjo_dataset_count_rows(dataset.get(), detail::OrNull(where), nullptr, rows, error);
  });
}

/// A join: made, explained, run once.
class Join {
 public:
  static Result<Join> Make(const Table& left, const std::string& right_uri,
                           const JoinOptions& options = {}) {
    return Made(options, [&](const auto* raw, kinjo_join** join, kinjo_error** error) {
      return kinjo_join_make(left.get(), right_uri.c_str(), raw, join, error);
    });
  }
  /// On a dataset that is open: its indexes are opened once.
  static Result<Join> Make(const Table& left, const Dataset& right,
                           const JoinOptions& options = {}) {
    return Made(options, [&](const auto* raw, kinjo_join** join, kinjo_error** error) {
      return kinjo_join_make_on_dataset(left.get(), right.get(), raw, join, error);
    });
  }
  /// On a table that can be read again (kinjo_join_make_on_table).
  static Result<Join> Make(const Table& left, const Table& right, const JoinOptions& options = {}) {
    return Made(options, [&](const auto* raw, kinjo_join** join, kinjo_error** error) {
      return kinjo_join_make_on_table(left.get(), right.get(), raw, join, error);
    });
  }
  /// A search: kinjo_search_make.
  static Result<Join> Search(const Dataset& dataset, const Table& queries,
                             const JoinOptions& options = {}) {
    return Made(options, [&](const auto* raw, kinjo_join** join, kinjo_error** error) {
      return kinjo_search_make(dataset.get(), queries.get(), raw, join, error);
    });
  }
  /// Judges the options alone.
  static Result<void> Check(const JoinOptions& options) {
    return WithRaw<void>(options, [](const kinjo_join_options& raw) -> Result<void> {
      kinjo_error* error = nullptr;
      if (!kinjo_join_options_check(&raw, &error)) return Error::Take(error);
      return {};
    });
  }

  Result<kinjo::Schema> Schema() const {
    return detail::Filled<kinjo::Schema>([&](auto* schema, kinjo_error** error) {
      return kinjo_join_get_schema(handle_.get(), schema->get(), error);
    });
  }
  Result<std::string> Explain(bool verbose = false) const {
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_join_explain(handle_.get(), verbose, text, error);
    });
  }
  Result<Stream> Run(const RunOptions& options = {}) {
    const kinjo_run_options raw = Raw(options);
    kinjo_stream* stream = nullptr;
    kinjo_error* error = nullptr;
    if (!kinjo_join_run(handle_.get(), &raw, &stream, &error)) return Error::Take(error);
    return Stream(stream);
  }
  /// Judges where and how rows shall be written, alone.
  static Result<void> CheckSink(const std::string& path, const SinkOptions& sink) {
    const kinjo_sink_options raw = Raw(sink);
    return detail::Done(
        [&](kinjo_error** error) { return kinjo_sink_options_check(path.c_str(), &raw, error); });
  }
  /// Judges the place as well; makes nothing.
  static Result<void> CheckSinkPlace(const std::string& path, const SinkOptions& sink) {
    const kinjo_sink_options raw = Raw(sink);
    return detail::Done(
        [&](kinjo_error** error) { return kinjo_sink_place_check(path.c_str(), &raw, error); });
  }
  /// Runs the join into a file or, for "-", standard output; gives the rows written.
  Result<int64_t> Write(const std::string& path, const SinkOptions& sink = {},
                        const RunOptions& options = {}) {
    const kinjo_sink_options raw_sink = Raw(sink);
    const kinjo_run_options raw = Raw(options);
    return detail::Filled<int64_t>([&](int64_t* rows, kinjo_error** error) {
      return kinjo_join_write(handle_.get(), path.c_str(), &raw_sink, &raw, rows, error);
    });
  }
  /// Judges where and how parts shall be written, alone.
  static Result<void> CheckParts(const std::string& folder, const PartsOptions& parts) {
    const kinjo_parts_options raw = Raw(parts);
    return detail::Done([&](kinjo_error** error) {
      return kinjo_parts_options_check(folder.c_str(), &raw, error);
    });
  }
  /// Runs the join into a folder of parts, or goes on where an earlier run ended
  /// (kinjo_join_write_parts). `info` may be null; it is filled on failure too.
  Result<void> WriteParts(const std::string& folder, const PartsOptions& parts = {},
                          const RunOptions& options = {}, kinjo_parts_info* info = nullptr) {
    const kinjo_parts_options raw_parts = Raw(parts);
    const kinjo_run_options raw = Raw(options);
    if (info != nullptr) info->struct_size = sizeof(*info);
    kinjo_error* error = nullptr;
    if (!kinjo_join_write_parts(handle_.get(), folder.c_str(), &raw_parts, &raw, info, &error)) {
      return Error::Take(error);
    }
    return {};
  }
  /// Any thread.
  Result<kinjo_join_report> Report() const {
    return detail::Filled<kinjo_join_report>([&](auto* report, kinjo_error** error) {
      report->struct_size = sizeof(*report);
      return kinjo_join_get_report(handle_.get(), report, error);
    });
  }
  /// JSON: kinjo_join_describe_report.
  Result<std::string> DescribeReport() const {
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_join_describe_report(handle_.get(), text, error);
    });
  }
  /// Instead of a run; JSON: kinjo_join_tune.
  Result<std::string> Tune(const RunOptions& options = {}) {
    const kinjo_run_options raw = Raw(options);
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_join_tune(handle_.get(), &raw, text, error);
    });
  }
  /// Instead of a run, of that many left rows: kinjo_join_nearest_partitions.
  Result<std::vector<int32_t>> NearestPartitions(int64_t left_rows,
                                                 const RunOptions& options = {}) {
    const kinjo_run_options raw = Raw(options);
    std::vector<int32_t> partitions(static_cast<size_t>(left_rows));
    kinjo_error* error = nullptr;
    if (!kinjo_join_nearest_partitions(handle_.get(), &raw, partitions.data(), left_rows, &error)) {
      return Error::Take(error);
    }
    return partitions;
  }
  Result<std::string> Analyze() const {
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_join_analyze(handle_.get(), text, error);
    });
  }

 private:
  explicit Join(kinjo_join* handle) : handle_(handle) {}

  // Runs one C call that makes a join.
  template <typename Call>
  static Result<Join> Made(const JoinOptions& options, const Call& call) {
    return WithRaw<Join>(options, [&](const kinjo_join_options& raw) -> Result<Join> {
      kinjo_join* join = nullptr;
      kinjo_error* error = nullptr;
      if (!call(&raw, &join, &error)) return Error::Take(error);
      return Join(join);
    });
  }

  // Borrows from `sink`.
  static kinjo_sink_options Raw(const SinkOptions& sink) { return detail::RawSink(sink); }

  // Borrows from `parts`.
  static kinjo_parts_options Raw(const PartsOptions& parts) {
    kinjo_parts_options raw;
    kinjo_parts_options_init(&raw, sizeof(raw));
    raw.format = detail::OrNull(parts.format);
    raw.compression = detail::OrNull(parts.compression);
    raw.row_group_rows = detail::OrUnset(parts.row_group_rows);
    raw.part_rows = detail::OrUnset(parts.part_rows);
    return raw;
  }

  static kinjo_run_options Raw(const RunOptions& options) { return detail::RawRun(options); }

 public:
  /// Calls `call` with the C form of the options, which borrows from `options` and from here.
  template <typename T, typename Call>
  static Result<T> WithRaw(const JoinOptions& options, const Call& call) {
    kinjo_join_options raw;
    kinjo_join_options_init(&raw, sizeof(raw));
    raw.k = options.k;
    raw.on = detail::OrNull(options.on);
    raw.left_on = detail::OrNull(options.left_on);
    raw.right_on = detail::OrNull(options.right_on);
    raw.how = options.how.c_str();
    raw.metric = detail::OrNull(options.metric);
    raw.nprobes = detail::OrUnset(options.nprobes);
    raw.minimum_nprobes = detail::OrUnset(options.minimum_nprobes);
    raw.maximum_nprobes = detail::OrUnset(options.maximum_nprobes);
    raw.refine_factor = detail::OrUnset(options.refine_factor);
    raw.index = options.index.c_str();
    raw.fast_search = options.fast_search;
    raw.has_distance_range = options.distance_range.has_value();
    if (options.distance_range) {
      raw.distance_lower = options.distance_range->first;
      raw.distance_upper = options.distance_range->second;
    }
    const std::vector<const char*> left = detail::Pointers(options.left_select);
    const std::vector<const char*> right = detail::Pointers(options.right_select);
    if (options.left_select) raw.left_select = left.data();
    raw.num_left_select = left.size() - 1;
    if (options.right_select) raw.right_select = right.data();
    raw.num_right_select = right.size() - 1;
    raw.suffix = options.suffix.c_str();
    raw.with_row_id = options.with_row_id;
    raw.with_query_index = options.with_query_index;
    raw.right_version = detail::OrUnset(options.right_version);
    raw.memory_limit_bytes = detail::OrUnset(options.memory_limit_bytes);
    raw.threads = detail::OrUnset(options.threads);
    raw.where = detail::OrNull(options.where);
    raw.ef = detail::OrUnset(options.ef);
    if (options.search_effort) raw.search_effort = *options.search_effort;
    raw.approx_mode = options.approx_mode.c_str();
    raw.right_tag = detail::OrNull(options.right_tag);
    const std::vector<const char*> by = detail::Pointers(options.by);
    if (options.by) raw.by = by.data();
    raw.num_by = by.size() - 1;
    if (options.exclude_self) raw.exclude_self = options.exclude_self->c_str();
    raw.unordered_pairs = options.unordered_pairs;
    raw.mutual = options.mutual;
    raw.clusters = options.clusters;
    if (options.recall) raw.recall = *options.recall;
    return call(raw);
  }

 private:
  std::unique_ptr<kinjo_join, detail::Free<kinjo_join_free>> handle_;
};

}  // namespace kinjo

#include "kinjo/writing.hpp"

#endif  // KINJO_KINJO_HPP_
