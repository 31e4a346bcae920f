// The folder of an index segment, `_indices/UUID`, from when its files are written to when a
// version names it.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "dataset/uncommitted_files.h"
#include "io/random_reader.h"

namespace kinjo::dataset {

/// Makes a folder with a new UUID, and takes it away again with its files unless it is kept.
class SegmentFolder {
 public:
  static arrow::Result<std::unique_ptr<SegmentFolder>> Make(const std::string& dataset_uri);

  const std::string& uuid() const { return uuid_; }
  const io::Location& location() const { return location_; }
  void Keep() { files_.Keep(); }

 private:
  SegmentFolder(const io::Location& root, std::string uuid);

  const std::string uuid_;
  const io::Location location_;
  UncommittedFiles files_;
};

}  // namespace kinjo::dataset
