// What the owner of some files has to say about them: where a link may lead, and why one is
// missing.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "io/random_reader.h"

namespace kinjo::io {

/// Thread-safe.
class FileGuard {
 public:
  virtual ~FileGuard() = default;

  /// OK when the local file at `real_path`, absolute and free of links, may be read as `uri`.
  virtual arrow::Status Admit(const std::string& uri, const std::string& real_path) const = 0;

  /// What to say in place of a `not_found` error, under the same code.
  virtual arrow::Status Explain(const arrow::Status& missing) const = 0;
};

/// The path with every link followed; empty when nothing is there.
std::string RealPath(const std::string& path);

/// Asks the guard whether the file that `location` names may be opened. What isn't there may.
arrow::Status AskGuard(const FileGuard& guard, const Location& location);

/// A reader whose `not_found` errors the guard explains.
std::shared_ptr<RandomReader> Guarded(std::shared_ptr<RandomReader> reader,
                                      std::shared_ptr<const FileGuard> guard);

}  // namespace kinjo::io
