// Changes to the list of indexes: segments added under a name, an index dropped or renamed. Each is
// one commit; none reads or writes an index file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "dataset/index_segment.h"
#include "dataset/uncommitted_files.h"

namespace kinjo::dataset {

/// What becomes of what has the name already.
enum class Existing : uint8_t {
  kRefuse,   ///< `invalid` where there is such an index
  kReplace,  ///< the segments take its place
  kKeep,     ///< the segments come beside its own, but for those in `replaced`
};

struct SegmentCommit {
  std::string name;
  std::vector<IndexSegment> segments;  ///< of one column, type and metric; no fragment twice
  Existing existing = Existing::kRefuse;
  std::vector<std::string> replaced;  ///< UUIDs that go, with kKeep; each must still be there
};

/// Whether CommitSegments would take this name now.
arrow::Status CheckIndexName(const std::string& uri, const std::string& name, Existing existing);

/// Gives the new version. `conflict` when another writer changed the index or took fragments away
/// since the segments were built. `files` as with Commit().
arrow::Result<uint64_t> CommitSegments(const std::string& uri, const SegmentCommit& commit,
                                       const base::CancelToken& cancel,
                                       UncommittedFiles* files = nullptr);

/// Takes an index of any kind out of the dataset; its files stay until a cleanup. Gives the new
/// version; `not_found` lists the names that there are.
arrow::Result<uint64_t> DropIndex(const std::string& uri, const std::string& name,
                                  const base::CancelToken& cancel);

/// Gives an index another name, which must be free.
arrow::Result<uint64_t> RenameIndex(const std::string& uri, const std::string& name,
                                    const std::string& new_name, const base::CancelToken& cancel);

/// The name of an index that was given none.
std::string DefaultIndexName(const std::string& column);

}  // namespace kinjo::dataset
