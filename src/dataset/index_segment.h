// One segment of a vector index whose files are in place: what a commit needs to know of it. Made
// by a build; may travel as text to whoever commits several of them together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/index_params.h"
#include "format/proto/table_messages.h"

namespace kinjo::dataset {

struct IndexSegment {
  std::string uuid;  ///< in text form: its folder below `_indices`
  std::string column;
  int32_t field_id = -1;
  uint64_t dataset_version = 0;        ///< that it was built from
  std::vector<uint64_t> fragment_ids;  ///< covered, rising
  std::string type;                    ///< "IVF_PQ", ...
  std::string metric;                  ///< "l2", ...
  std::string details;                 ///< VectorIndexDetails, encoded
  uint64_t num_rows = 0;               ///< stored
  uint64_t index_bytes = 0;            ///< size of index.idx
  uint64_t auxiliary_bytes = 0;        ///< size of auxiliary.idx
};

/// The details of an index built so.
std::string EncodeIndexDetails(const ResolvedParams& params);

/// The entry of an index section; `invalid` when the uuid or a fragment id isn't one.
arrow::Result<format::proto::IndexMetadataMessage> MakeIndexEntry(const IndexSegment& segment,
                                                                  const std::string& name,
                                                                  uint64_t created_at_ms);

}  // namespace kinjo::dataset
