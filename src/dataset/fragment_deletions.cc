#include "dataset/fragment_deletions.h"

#include <memory>

namespace kinjo::dataset {

arrow::Result<FragmentDeletions> FragmentDeletions::Make(const io::Location& root,
                                                         const TableVersion& version) {
  FragmentDeletions deletions;
  ARROW_ASSIGN_OR_RAISE(deletions.locations_,
                        BaseLocations::Make(root, version.name, version.checked.base_paths));
  for (const format::Fragment& fragment : version.checked.fragments) {
    deletions.fragments_[fragment.id] = &fragment;
  }
  return deletions;
}

arrow::Result<format::DeadRows> FragmentDeletions::Read(uint64_t fragment_id) const {
  const format::Fragment& fragment = *fragments_.at(fragment_id);
  if (!fragment.deletion_file.has_value()) return format::DeadRows();
  ARROW_ASSIGN_OR_RAISE(const io::Location place, locations_.DeletionFile(*fragment.deletion_file));
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<io::RandomReader> reader, io::OpenFile(place));
  return format::ReadDeletionFile(reader.get(), fragment.deletion_file->type,
                                  fragment.physical_rows);
}

}  // namespace kinjo::dataset
