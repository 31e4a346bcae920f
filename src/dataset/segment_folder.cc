#include "dataset/segment_folder.h"

#include <utility>

#include "format/table/uuid.h"
#include "io/file_changes.h"

namespace kinjo::dataset {

SegmentFolder::SegmentFolder(const io::Location& root, std::string uuid)
    : uuid_(std::move(uuid)), location_(io::Child(root, "_indices/" + uuid_)), files_(root) {
  files_.AddSegment(uuid_);
}

arrow::Result<std::unique_ptr<SegmentFolder>> SegmentFolder::Make(const std::string& dataset_uri) {
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(dataset_uri));
  auto uuid = format::UuidText(format::NewUuid());
  if (!uuid.has_value()) return base::Internal("a new UUID isn't one");
  std::unique_ptr<SegmentFolder> folder(new SegmentFolder(root, std::move(*uuid)));
  ARROW_RETURN_NOT_OK(io::MakeFolder(folder->location()));
  return folder;
}

}  // namespace kinjo::dataset
