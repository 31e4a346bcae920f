#include "io/file_info.h"

namespace kinjo::io {

arrow::Status NamePlace(const arrow::Status& status, const char* doing, const std::string& uri) {
  if (status.ok() || dynamic_cast<const base::ErrorDetail*>(status.detail().get()) != nullptr) {
    return status;
  }
  return base::Io("can't ", doing, " ", uri, ": ", base::MessageOf(status));
}

arrow::Result<arrow::fs::FileInfo> LookAt(const Location& location) {
  arrow::Result<arrow::fs::FileInfo> info = location.file_system->GetFileInfo(location.path);
  if (!info.ok()) return NamePlace(info.status(), "look at", location.uri);
  return info;
}

arrow::Result<arrow::fs::FileInfoVector> ListFolder(const Location& folder, int depth) {
  arrow::fs::FileSelector selector;
  selector.base_dir = folder.path;
  selector.allow_not_found = true;
  selector.recursive = depth != 1;
  if (depth > 0) selector.max_recursion = depth - 1;
  arrow::Result<arrow::fs::FileInfoVector> infos = folder.file_system->GetFileInfo(selector);
  if (!infos.ok()) return NamePlace(infos.status(), "list", folder.uri);
  return infos;
}

}  // namespace kinjo::io
