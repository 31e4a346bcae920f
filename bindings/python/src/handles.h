// The handles of the C ABI as Python objects: tables, datasets and joins. They hold no rule of
// their own; kinjo/kinjo.h has the contracts.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "errors.h"
#include "kinjo/kinjo.h"
#include "options.h"
#include "process.h"
#include "stream.h"
#include "watch.h"

namespace kinjo::python {

/// Owns a C handle; knows the process that it belongs to.
template <typename T, void (*kFree)(T*)>
class Handle {
 public:
  explicit Handle(T* raw) : raw_(raw) {}
  Handle(Handle&& other) noexcept
      : raw_(std::exchange(other.raw_, nullptr)), made_in_(other.made_in_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (raw_ == nullptr || made_in_ != ProcessNumber()) return;
    const nanobind::gil_scoped_release released;  // it may hold the last reference to others' data
    kFree(raw_);
  }

  /// The handle, for a call; `what` names it in the error of a forked process.
  T* Get(const char* what) const {
    RequireThisProcess(made_in_, what);
    return raw_;
  }

 private:
  T* raw_;
  uint64_t made_in_ = ProcessNumber();
};

class Table {
 public:
  static Table Open(const std::string& uri, std::optional<int64_t> version);
  /// `keep` reads the stream now and keeps its rows.
  static Table FromStream(nanobind::handle capsule, const std::string& name, bool keep);
  static Table FromArray(nanobind::handle schema, nanobind::handle array, const std::string& name);
  /// Vectors in a buffer of num_vectors x width elements.
  static Table FromVectors(nanobind::handle buffer, const std::string& element_type,
                           int64_t num_vectors, int64_t width);
  static Table FromVectorLists(nanobind::handle buffer, const std::string& element_type,
                               const std::vector<int64_t>& list_lengths, int64_t width);

  /// None when only reading would tell.
  nanobind::object NumRows() const;
  nanobind::capsule Schema() const;
  kinjo_table* get() const { return handle_.Get("this table"); }

 private:
  explicit Table(kinjo_table* raw) : handle_(raw) {}
  Handle<kinjo_table, kinjo_table_free> handle_;
};

class Dataset {
 public:
  /// `version` is a number or None, `tag` a text or None.
  static Dataset Open(const std::string& uri, nanobind::handle version, nanobind::handle tag);

  nanobind::capsule Schema() const;
  /// JSON.
  std::string Describe() const;
  std::string DescribeIndex(const std::string& name) const;
  int64_t Version() const;
  /// What is None here and below isn't given.
  int64_t CountRows(nanobind::handle where) const;
  Stream Scan(nanobind::handle columns, nanobind::handle where, nanobind::handle limit,
              nanobind::handle offset, nanobind::handle with_row_id,
              nanobind::handle batch_rows) const;
  kinjo_dataset* get() const { return handle_.Get("this Dataset"); }

 private:
  explicit Dataset(kinjo_dataset* raw) : handle_(raw) {}
  Handle<kinjo_dataset, kinjo_dataset_free> handle_;
};

class Join {
 public:
  static Join OnUri(const Table& left, const std::string& right, const Options& options);
  static Join OnDataset(const Table& left, const Dataset& right, const Options& options);
  static Join OnTable(const Table& left, const Table& right, const Options& options);
  static Join Search(const Dataset& dataset, const Table& queries, const Options& options);

  nanobind::capsule Schema() const;
  std::vector<std::string> ColumnNames() const;
  std::string Explain(bool verbose) const;
  std::string Report() const;
  std::string Analyze() const;
  Stream Run(nanobind::object progress) const;
  /// Gives the rows written.
  int64_t Write(const std::string& path, const std::string& format, nanobind::handle compression,
                nanobind::handle row_group_rows, nanobind::handle overwrite,
                nanobind::object progress) const;
  std::string Tune() const;

 private:
  explicit Join(kinjo_join* raw) : handle_(raw) {}
  template <typename Making>
  static Join Make(const nanobind::dict& given, const Making& making);
  kinjo_join* get() const { return handle_.Get("this join"); }
  Handle<kinjo_join, kinjo_join_free> handle_;
};

}  // namespace kinjo::python
