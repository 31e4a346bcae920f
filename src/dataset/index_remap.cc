#include "dataset/index_remap.h"

#include <algorithm>
#include <set>
#include <utility>

#include "dataset/base_locations.h"
#include "dataset/dataset.h"
#include "dataset/segment_folder.h"
#include "format/index_file/segment_copy.h"
#include "format/table/uuid.h"
#include "io/file_changes.h"

namespace kinjo::dataset {

using format::proto::RewriteOperation;

std::vector<size_t> SegmentsToRemap(const Dataset& dataset, const TableVersion& version,
                                    const std::vector<RewriteOperation::Group>& groups) {
  std::set<uint64_t> old_ids;
  for (const RewriteOperation::Group& group : groups) {
    for (const auto& fragment : group.old_fragments) old_ids.insert(fragment.id);
  }
  std::set<std::string> uuids;
  for (const IndexInfo& index : dataset.vector_indexes()) {
    if (!index.unusable_reason.empty()) continue;
    for (const IndexSegmentInfo& segment : index.segments) {
      const auto& covered = segment.fragment_ids;
      const bool moves = std::any_of(covered.begin(), covered.end(),
                                     [&](uint64_t id) { return old_ids.contains(id); });
      if (moves) uuids.insert(segment.uuid);
    }
  }
  std::vector<size_t> entries;
  for (size_t i = 0; i < version.checked.indexes.size(); ++i) {
    if (uuids.contains(version.checked.indexes[i].uuid)) entries.push_back(i);
  }
  return entries;
}

arrow::Result<RewriteOperation::RewrittenIndex> RemapSegment(
    const io::Location& root, const TableVersion& version, size_t entry,
    const MovedAddresses& moved, const base::CancelToken& cancel, UncommittedFiles* files) {
  const format::IndexEntry& old = version.checked.indexes[entry];
  ARROW_ASSIGN_OR_RAISE(const BaseLocations locations,
                        BaseLocations::Make(root, version.name, version.checked.base_paths));
  ARROW_ASSIGN_OR_RAISE(const io::Location from, locations.Index(old.uuid, old.base_id));
  ARROW_ASSIGN_OR_RAISE(const auto folder, SegmentFolder::Make(root.uri));
  ARROW_ASSIGN_OR_RAISE(const auto index,
                        io::CreateFile(io::Child(folder->location(), "index.idx")));
  ARROW_ASSIGN_OR_RAISE(const auto auxiliary,
                        io::CreateFile(io::Child(folder->location(), "auxiliary.idx")));
  ARROW_ASSIGN_OR_RAISE(const format::WrittenSegment written,
                        format::CopySegment(
                            from, index.get(), auxiliary,
                            [&](std::span<uint64_t> row_ids) { moved.Apply(row_ids); }, cancel));
  ARROW_RETURN_NOT_OK(index->Close());
  ARROW_RETURN_NOT_OK(auxiliary->Close());
  folder->Keep();
  files->AddSegment(folder->uuid());
  const format::proto::IndexMetadataMessage& message = version.messages.indexes[entry];
  return RewriteOperation::RewrittenIndex{
      .old_id = message.uuid,
      .new_id = *format::ParseUuid(folder->uuid()),
      .details_url = message.details_url,
      .details = message.details,
      .index_version = static_cast<uint32_t>(message.index_version.value_or(0)),
      .files = {{.path = "auxiliary.idx", .size_bytes = written.auxiliary_bytes},
                {.path = "index.idx", .size_bytes = written.index_bytes}}};
}

}  // namespace kinjo::dataset
