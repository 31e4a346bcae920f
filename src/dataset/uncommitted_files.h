// Files below a dataset's folder that no version names yet: whoever wrote them takes them away
// again where no commit names them.
#pragma once

#include <string>
#include <vector>

#include "format/proto/table_messages.h"
#include "io/random_reader.h"

namespace kinjo::dataset {

/// One change's files. Dropped, it removes them, unless Keep() was called; best effort: a cleanup
/// finds the rest. One thread.
class UncommittedFiles {
 public:
  explicit UncommittedFiles(io::Location root) : root_(std::move(root)) {}
  ~UncommittedFiles() { Remove(); }
  UncommittedFiles(const UncommittedFiles&) = delete;
  UncommittedFiles& operator=(const UncommittedFiles&) = delete;

  /// `name` is relative to the dataset's folder.
  void Add(std::string name) { files_.push_back(std::move(name)); }
  void AddDataFiles(const std::vector<format::proto::DataFragmentMessage>& fragments);
  /// The files of an index segment, and their folder.
  void AddSegment(const std::string& uuid);

  /// They are the dataset's now, or may be.
  void Keep();
  void Remove();

 private:
  const io::Location root_;
  std::vector<std::string> files_;
  std::vector<std::string> folders_;
};

}  // namespace kinjo::dataset
