#include "dataset/uncommitted_files.h"

#include "io/file_changes.h"

namespace kinjo::dataset {

void UncommittedFiles::AddDataFiles(
    const std::vector<format::proto::DataFragmentMessage>& fragments) {
  for (const format::proto::DataFragmentMessage& fragment : fragments) {
    for (const format::proto::DataFileMessage& file : fragment.files) Add("data/" + file.path);
  }
}

void UncommittedFiles::AddSegment(const std::string& uuid) {
  folders_.push_back("_indices/" + uuid);
  for (const char* name : {"index.idx", "auxiliary.idx"}) Add(folders_.back() + "/" + name);
}

void UncommittedFiles::Keep() {
  files_.clear();
  folders_.clear();
}

void UncommittedFiles::Remove() {
  bool reached = true;
  for (const std::string& file : files_) {
    // A store that is away is waited for once, not once a file.
    reached = reached && io::RemoveFile(io::Child(root_, file)).ok();
  }
  for (const std::string& folder : folders_) {
    if (reached) (void)io::RemoveEmptyFolder(io::Child(root_, folder));
  }
  Keep();
}

}  // namespace kinjo::dataset
