#include "dataset/segment_folder.h"

#include <utility>

#include "format/table/uuid.h"

namespace kinjo::dataset {

namespace {

io::Location FolderOf(const io::Location& root, const std::string& uuid) {
  return io::Child(root, "_indices/" + uuid);
}

void RemoveFolder(const io::Location& folder) {
  for (const char* name : {"index.idx", "auxiliary.idx"}) {
    (void)io::RemoveFile(io::Child(folder, name));
  }
  (void)io::RemoveEmptyFolder(folder);
}

}  // namespace

SegmentFolder::SegmentFolder(std::string uuid, io::Location location)
    : uuid_(std::move(uuid)), location_(std::move(location)) {}

SegmentFolder::~SegmentFolder() {
  if (!kept_) RemoveFolder(location_);
}

arrow::Result<std::unique_ptr<SegmentFolder>> SegmentFolder::Make(const std::string& dataset_uri) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(dataset_uri));
  auto uuid = format::UuidText(format::NewUuid());
  if (!uuid.has_value()) return base::Internal("a new UUID isn't one");
  io::Location location = FolderOf(root, *uuid);
  ARROW_RETURN_NOT_OK(io::MakeFolder(location));
  return std::unique_ptr<SegmentFolder>(new SegmentFolder(std::move(*uuid), std::move(location)));
}

void SegmentFolder::Remove(const std::string& dataset_uri, const std::string& uuid) {
  const auto root = io::ResolveUri(dataset_uri);
  if (root.ok()) RemoveFolder(FolderOf(*root, uuid));
}

}  // namespace kinjo::dataset
