// Building a vector index: its vectors read, the model trained, rows coded and gathered partition
// by partition, the files of a segment written, and the segment committed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/progress.h"
#include "dataset/dataset.h"
#include "dataset/index_commit.h"
#include "dataset/index_params.h"
#include "dataset/index_segment.h"
#include "index/column_vectors.h"

namespace kinjo::dataset {

/// What a build may use, and who watches it.
struct IndexBuildOptions {
  std::optional<int64_t> threads;             ///< nothing = all that the process may use
  std::optional<int64_t> memory_limit_bytes;  ///< nothing = DefaultMemoryLimitBytes()
  base::CancelToken cancel;
  base::ProgressCallback progress;  ///< rows count as parts of the whole work; may be empty
};

/// What a build did.
struct IndexBuildReport {
  ResolvedParams params;
  int64_t trained_rows = 0;  ///< vectors that the model was trained on; 0 = the model was given
  index::LeftOutRows left_out;
  int64_t empty_partitions = 0;
  uint64_t largest_partition = 0;  ///< rows
  int64_t peak_memory_bytes = 0;   ///< the most that was reserved of the memory limit
  double train_s = 0;
  double encode_s = 0;
  double write_s = 0;
};

/// A model that is learnt once for segments which are built apart; what IndexParams takes as given.
struct IndexModel {
  format::Tensor centroids;
  std::optional<format::Tensor> codebook;  ///< PQ
};

/// Learns the model that BuildSegment would over all fragments of an open version, and writes
/// nothing. What else a kind learns (bounds of SQ) or draws (rotations of RQ, by the seed) belongs
/// to each segment.
arrow::Result<IndexModel> TrainIndexModel(const std::shared_ptr<Dataset>& dataset,
                                          const std::string& column, const IndexParams& params,
                                          const IndexBuildOptions& options);

struct BuiltSegment {
  IndexSegment segment;
  IndexBuildReport report;
};

/// Builds one segment over some fragments (nothing = all) of an open version and leaves its files
/// below `_indices`, uncommitted; after an error they are gone. The same data, parameters and
/// memory limit give the same files on any number of threads.
arrow::Result<BuiltSegment> BuildSegment(const std::shared_ptr<Dataset>& dataset,
                                         const std::string& column,
                                         std::optional<std::vector<uint64_t>> fragment_ids,
                                         const IndexParams& params,
                                         const IndexBuildOptions& options);

/// CommitSegments for one segment that was just built; its files are taken away where that fails.
arrow::Result<uint64_t> CommitBuilt(const std::string& uri, const std::string& name,
                                    const IndexSegment& segment, Existing existing,
                                    std::vector<std::string> replaced,
                                    const base::CancelToken& cancel);

struct CreatedIndex {
  std::string name;
  uint64_t version = 0;  ///< the version that has it
  BuiltSegment built;
};

/// Builds an index over all fragments of `dataset`, which was opened at its latest version, and
/// commits it. `name`: "" = that of the column and "_idx". An index of that name is replaced or,
/// unless `replace`, `invalid`.
arrow::Result<CreatedIndex> CreateIndex(const std::shared_ptr<Dataset>& dataset,
                                        const std::string& column, const std::string& name,
                                        bool replace, const IndexParams& params,
                                        const IndexBuildOptions& options);

}  // namespace kinjo::dataset
