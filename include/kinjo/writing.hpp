// The second half of kinjo.hpp, which includes it: Lance datasets written and changed, and their
// vector indexes made and kept. kinjo.h has the contracts.
#ifndef KINJO_WRITING_HPP_
#define KINJO_WRITING_HPP_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kinjo/kinjo.hpp"

namespace kinjo {

/// kinjo_write_options with C++ types.
struct WriteOptions {
  std::string mode = "create";
  std::string data_version;   ///< "": the dataset's own, else "2.2"
  std::string vector_column;  ///< "": none
  std::optional<int64_t> max_rows_per_file;
  std::optional<int64_t> max_bytes_per_file;
  bool stable_row_ids = false;
  std::optional<int64_t> memory_limit_bytes;
};

struct CompactOptions {
  std::optional<int64_t> target_rows;
  std::optional<double> deleted_share_max;
};

struct CleanupOptions {
  std::optional<int64_t> older_than_s;
  std::optional<int64_t> keep_versions;
  std::optional<int64_t> orphans_older_than_s;
};

/// Changes to the dataset at a place, one committed version each; kinjo.h tells what they fill in.
class DatasetWriter {
 public:
  explicit DatasetWriter(std::string uri) : uri_(std::move(uri)) {}

  /// Judges the options alone.
  static Result<void> Check(const WriteOptions& options) {
    const kinjo_write_options raw = Raw(options);
    kinjo_error* error = nullptr;
    if (!kinjo_write_options_check(&raw, &error)) return Error::Take(error);
    return {};
  }
  Result<kinjo_write_report> Write(const Table& rows, const WriteOptions& options = {},
                                   const RunOptions& run = {}) const {
    const kinjo_write_options raw = Raw(options);
    const kinjo_run_options raw_run = detail::RawRun(run);
    return Reported([&](kinjo_write_report* report, kinjo_error** error) {
      return kinjo_dataset_write(uri_.c_str(), rows.get(), &raw, &raw_run, report, error);
    });
  }
  Result<kinjo_write_report> Delete(const std::string& where, const RunOptions& run = {}) const {
    const kinjo_run_options raw_run = detail::RawRun(run);
    return Reported([&](kinjo_write_report* report, kinjo_error** error) {
      return kinjo_dataset_delete(uri_.c_str(), where.c_str(), &raw_run, report, error);
    });
  }
  Result<kinjo_write_report> AddColumns(const Table& columns, const RunOptions& run = {}) const {
    const kinjo_run_options raw_run = detail::RawRun(run);
    return Reported([&](kinjo_write_report* report, kinjo_error** error) {
      return kinjo_dataset_add_columns(uri_.c_str(), columns.get(), &raw_run, report, error);
    });
  }
  Result<kinjo_write_report> DropColumns(const std::vector<std::string>& names) const {
    std::vector<const char*> pointers;
    pointers.reserve(names.size());
    for (const std::string& name : names) pointers.push_back(name.c_str());
    return Reported([&](kinjo_write_report* report, kinjo_error** error) {
      return kinjo_dataset_drop_columns(uri_.c_str(), pointers.data(), names.size(), report, error);
    });
  }
  Result<kinjo_write_report> RenameColumn(const std::string& column,
                                          const std::string& name) const {
    return Reported([&](kinjo_write_report* report, kinjo_error** error) {
      return kinjo_dataset_rename_column(uri_.c_str(), column.c_str(), name.c_str(), report, error);
    });
  }
  Result<kinjo_write_report> Compact(const CompactOptions& options = {},
                                     const RunOptions& run = {}) const {
    kinjo_compact_options raw;
    kinjo_compact_options_init(&raw, sizeof(raw));
    raw.target_rows = detail::OrUnset(options.target_rows);
    if (options.deleted_share_max) raw.deleted_share_max = *options.deleted_share_max;
    const kinjo_run_options raw_run = detail::RawRun(run);
    return Reported([&](kinjo_write_report* report, kinjo_error** error) {
      return kinjo_dataset_compact(uri_.c_str(), &raw, &raw_run, report, error);
    });
  }
  Result<kinjo_write_report> Restore(std::optional<int64_t> version,
                                     const std::string& tag = "") const {
    return Reported([&](kinjo_write_report* report, kinjo_error** error) {
      return kinjo_dataset_restore(uri_.c_str(), detail::OrUnset(version), detail::OrNull(tag),
                                   report, error);
    });
  }
  Result<void> CreateTag(const std::string& tag, std::optional<int64_t> version = {}) const {
    kinjo_error* error = nullptr;
    if (!kinjo_dataset_create_tag(uri_.c_str(), tag.c_str(), detail::OrUnset(version), &error)) {
      return Error::Take(error);
    }
    return {};
  }
  Result<void> UpdateTag(const std::string& tag, std::optional<int64_t> version = {}) const {
    kinjo_error* error = nullptr;
    if (!kinjo_dataset_update_tag(uri_.c_str(), tag.c_str(), detail::OrUnset(version), &error)) {
      return Error::Take(error);
    }
    return {};
  }
  Result<void> DeleteTag(const std::string& tag) const {
    kinjo_error* error = nullptr;
    if (!kinjo_dataset_delete_tag(uri_.c_str(), tag.c_str(), &error)) return Error::Take(error);
    return {};
  }
  Result<kinjo_write_report> CleanUp(const CleanupOptions& options = {},
                                     const RunOptions& run = {}) const {
    kinjo_cleanup_options raw;
    kinjo_cleanup_options_init(&raw, sizeof(raw));
    raw.older_than_s = detail::OrUnset(options.older_than_s);
    raw.keep_versions = detail::OrUnset(options.keep_versions);
    raw.orphans_older_than_s = detail::OrUnset(options.orphans_older_than_s);
    const kinjo_run_options raw_run = detail::RawRun(run);
    return Reported([&](kinjo_write_report* report, kinjo_error** error) {
      return kinjo_dataset_cleanup(uri_.c_str(), &raw, &raw_run, report, error);
    });
  }

 private:
  template <typename Call>
  static Result<kinjo_write_report> Reported(const Call& call) {
    return detail::Filled<kinjo_write_report>([&](auto* report, kinjo_error** error) {
      report->struct_size = sizeof(*report);
      return call(report, error);
    });
  }

  // Borrows from `options`.
  static kinjo_write_options Raw(const WriteOptions& options) {
    kinjo_write_options raw;
    kinjo_write_options_init(&raw, sizeof(raw));
    raw.mode = options.mode.c_str();
    raw.data_version = detail::OrNull(options.data_version);
    raw.vector_column = detail::OrNull(options.vector_column);
    raw.max_rows_per_file = detail::OrUnset(options.max_rows_per_file);
    raw.max_bytes_per_file = detail::OrUnset(options.max_bytes_per_file);
    raw.stable_row_ids = options.stable_row_ids;
    raw.memory_limit_bytes = detail::OrUnset(options.memory_limit_bytes);
    return raw;
  }

  std::string uri_;
};

struct IndexOptions {
  std::string column;  ///< "": the only column of vectors
  std::string name;    ///< "": the column's and "_idx"
  bool replace = false;
  std::string type;    ///< "": IVF_PQ
  std::string metric;  ///< "": by the column
  std::optional<int64_t> num_partitions;
  std::optional<int64_t> target_partition_size;
  std::optional<int64_t> num_sub_vectors;
  std::optional<int64_t> num_bits;
  std::optional<int64_t> m;
  std::optional<int64_t> ef_construction;
  std::optional<int64_t> max_level;
  std::optional<int64_t> sample_rate;
  std::optional<int64_t> max_iterations;
  std::optional<int64_t> seed;
  std::optional<int64_t> threads;
  std::optional<int64_t> memory_limit_bytes;
  // A model trained elsewhere; elements of the column's type (kinjo_index_options). Borrowed.
  const void* centroids = nullptr;
  std::optional<int64_t> num_centroids;
  const void* codebook = nullptr;
  std::string model;  ///< instead of both: what Index::Train gave; "": none
};

struct IndexOptimizeOptions {
  std::optional<int64_t> num_indices_to_merge;
  bool retrain = false;
  std::optional<int64_t> threads;
  std::optional<int64_t> memory_limit_bytes;
};

/// Making and keeping vector indexes of a dataset.
class Index {
 public:
  /// JSON: kinjo_index_create.
  static Result<std::string> Create(const std::string& dataset_uri, const IndexOptions& options,
                                    const RunOptions& run = {}) {
    const kinjo_index_options raw = Raw(options);
    const kinjo_run_options raw_run = detail::RawRun(run);
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_index_create(dataset_uri.c_str(), &raw, &raw_run, text, error);
    });
  }
  /// The text for IndexOptions::model.
  static Result<std::string> Train(const std::string& dataset_uri, const IndexOptions& options,
                                   const RunOptions& run = {}) {
    const kinjo_index_options raw = Raw(options);
    const kinjo_run_options raw_run = detail::RawRun(run);
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_index_train(dataset_uri.c_str(), &raw, &raw_run, text, error);
    });
  }
  /// The text that CommitSegments takes.
  static Result<std::string> BuildSegment(const std::string& dataset_uri,
                                          const IndexOptions& options,
                                          const std::vector<uint64_t>& fragment_ids,
                                          const RunOptions& run = {}) {
    const kinjo_index_options raw = Raw(options);
    const kinjo_run_options raw_run = detail::RawRun(run);
    const uint64_t none = 0;  // data() of no ids may be NULL
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_index_build_segment(dataset_uri.c_str(), &raw,
                                       fragment_ids.empty() ? &none : fragment_ids.data(),
                                       fragment_ids.size(), &raw_run, text, error);
    });
  }
  /// Gives the new version. `name` "": as IndexOptions::name.
  static Result<uint64_t> CommitSegments(const std::string& dataset_uri,
                                         const std::vector<std::string>& segments,
                                         const std::string& name = "", bool replace = false) {
    std::vector<const char*> pointers;
    pointers.reserve(segments.size() + 1);
    for (const std::string& segment : segments) pointers.push_back(segment.c_str());
    pointers.push_back(nullptr);  // so that data() of none isn't NULL
    return detail::Filled<uint64_t>([&](uint64_t* version, kinjo_error** error) {
      return kinjo_index_commit_segments(dataset_uri.c_str(), pointers.data(), segments.size(),
                                         detail::OrNull(name), replace, version, error);
    });
  }
  /// JSON: kinjo_index_optimize.
  static Result<std::string> Optimize(const std::string& dataset_uri, const std::string& name,
                                      const IndexOptimizeOptions& options = {},
                                      const RunOptions& run = {}) {
    kinjo_index_optimize_options raw;
    kinjo_index_optimize_options_init(&raw, sizeof(raw));
    raw.num_indices_to_merge = detail::OrUnset(options.num_indices_to_merge);
    raw.retrain = options.retrain;
    raw.threads = detail::OrUnset(options.threads);
    raw.memory_limit_bytes = detail::OrUnset(options.memory_limit_bytes);
    const kinjo_run_options raw_run = detail::RawRun(run);
    return detail::Text([&](char** text, kinjo_error** error) {
      return kinjo_index_optimize(dataset_uri.c_str(), name.c_str(), &raw, &raw_run, text, error);
    });
  }
  /// Both give the new version.
  static Result<uint64_t> Drop(const std::string& dataset_uri, const std::string& name) {
    return detail::Filled<uint64_t>([&](uint64_t* version, kinjo_error** error) {
      return kinjo_index_drop(dataset_uri.c_str(), name.c_str(), version, error);
    });
  }
  static Result<uint64_t> Rename(const std::string& dataset_uri, const std::string& name,
                                 const std::string& new_name) {
    return detail::Filled<uint64_t>([&](uint64_t* version, kinjo_error** error) {
      return kinjo_index_rename(dataset_uri.c_str(), name.c_str(), new_name.c_str(), version,
                                error);
    });
  }

 private:
  // Borrows from `options`.
  static kinjo_index_options Raw(const IndexOptions& options) {
    kinjo_index_options raw;
    kinjo_index_options_init(&raw, sizeof(raw));
    raw.column = detail::OrNull(options.column);
    raw.name = detail::OrNull(options.name);
    raw.replace = options.replace;
    raw.type = detail::OrNull(options.type);
    raw.metric = detail::OrNull(options.metric);
    raw.num_partitions = detail::OrUnset(options.num_partitions);
    raw.target_partition_size = detail::OrUnset(options.target_partition_size);
    raw.num_sub_vectors = detail::OrUnset(options.num_sub_vectors);
    raw.num_bits = detail::OrUnset(options.num_bits);
    raw.m = detail::OrUnset(options.m);
    raw.ef_construction = detail::OrUnset(options.ef_construction);
    raw.max_level = detail::OrUnset(options.max_level);
    raw.sample_rate = detail::OrUnset(options.sample_rate);
    raw.max_iterations = detail::OrUnset(options.max_iterations);
    raw.seed = detail::OrUnset(options.seed);
    raw.threads = detail::OrUnset(options.threads);
    raw.memory_limit_bytes = detail::OrUnset(options.memory_limit_bytes);
    raw.centroids = options.centroids;
    raw.num_centroids = detail::OrUnset(options.num_centroids);
    raw.codebook = options.codebook;
    raw.model = detail::OrNull(options.model);
    return raw;
  }
};

}  // namespace kinjo

#endif  // KINJO_WRITING_HPP_
