// A file that is either whole at its path or not there: written beside under a hidden name, synced,
// renamed. Also standard output, devices and objects, which have no "beside".
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "arrow/io/interfaces.h"
#include "base/error.h"

namespace kinjo::tabular {

/// One thread. Errors are `io`, name the path and say the system's reason.
class OutputFile {
 public:
  /// Checks the path and begins. A folder as path, a missing or unwritable parent folder, or
  /// (without `overwrite`) an existing file are refused now. A symbolic link is followed: what it
  /// points at is replaced. "-" is standard output; pipes and devices are written as they are; an
  /// object in a store appears when it is committed.
  static arrow::Result<std::unique_ptr<OutputFile>> Open(const std::string& path, bool overwrite);
  /// What Open would refuse of a local path, without making anything. An object store isn't asked.
  static arrow::Status CheckPlace(const std::string& path, bool overwrite);

  /// Discards what wasn't committed.
  virtual ~OutputFile() = default;

  /// Where to write. Lives as long as this; closed by Commit and Discard.
  virtual arrow::io::OutputStream* stream() = 0;
  /// Flushes, syncs and puts the file at its path. After an error nothing is there (or what was
  /// there before still is).
  virtual arrow::Status Commit() = 0;
  /// Removes what was written. Does nothing after Commit or Discard.
  virtual void Discard() = 0;

  /// What a write to stream() returned, with the path and the reason in plain words.
  arrow::Status Explain(const arrow::Status& status) const;

  const std::string& path() const { return path_; }

 protected:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}

 private:
  std::string path_;
};

/// True for the names that files bear beside their place while they are written. One that is left
/// behind is of a process that was killed.
bool IsTemporaryName(std::string_view name);

}  // namespace kinjo::tabular
