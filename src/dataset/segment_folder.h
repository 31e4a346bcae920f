// The folder of an index segment, `_indices/UUID`, from when its files are written to when a
// version names it.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "io/file_changes.h"

namespace kinjo::dataset {

/// Makes a folder with a new UUID, and takes it away again with its files unless it is kept.
class SegmentFolder {
 public:
  static arrow::Result<std::unique_ptr<SegmentFolder>> Make(const std::string& dataset_uri);
  ~SegmentFolder();
  SegmentFolder(const SegmentFolder&) = delete;
  SegmentFolder& operator=(const SegmentFolder&) = delete;

  const std::string& uuid() const { return uuid_; }
  const io::Location& location() const { return location_; }
  void Keep() { kept_ = true; }

  /// Takes the files of a segment away that no version names, as far as that succeeds: a cleanup
  /// finds the rest.
  static void Remove(const std::string& dataset_uri, const std::string& uuid);

 private:
  SegmentFolder(std::string uuid, io::Location location);

  const std::string uuid_;
  const io::Location location_;
  bool kept_ = false;
};

}  // namespace kinjo::dataset
