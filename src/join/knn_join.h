// A join, made (everything checked, the path chosen), explained, and run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrow/type.h"
#include "base/cancel_token.h"
#include "base/error.h"
#include "base/progress.h"
#include "dataset/dataset.h"
#include "join/options.h"
#include "join/probe_curve.h"
#include "join/recall_curve.h"
#include "join/recall_estimate.h"
#include "stream/result_stream.h"
#include "tabular/table_source.h"

namespace kinjo::join {

/// A run with a recall target: what was chosen for it, and what came out.
struct RecallReport {
  double target = 1;
  ProbeSettings chosen;  ///< nothing on the exact path, where all fields below the estimate are 0
  RecallEstimate estimate;
  bool exact = false;         ///< every row was scored: the recall is 1 without being measured
  bool measured = false;      ///< the run has ended and some of its left rows were measured
  int64_t choosing_rows = 0;  ///< left rows that the settings were chosen by
  double choose_s = 0;        ///< seconds spent for it, exact answers included
};

/// Counts of one run. Final once the stream ended.
struct JoinReport {
  std::string path;  ///< "index" or "exact"
  std::string metric;
  std::string index_name;  ///< of the index path
  std::string way;         ///< how that path went (docs/planning.md)
  double estimated_s = 0;  ///< what the planner took that way to need, beside total_s
  bool exact_distances = true;
  int64_t left_rows = 0;
  int64_t resumed_rows = 0;  ///< left rows of parts that earlier runs finished; not in left_rows
  int64_t skipped_null_rows = 0;  ///< null left vectors
  int64_t skipped_non_finite_rows =
      0;                       ///< left vectors with NaN or an infinity (cosine: also zero vectors)
  int64_t duplicate_rows = 0;  ///< left rows answered by an equal one of their block
  int64_t short_rows = 0;      ///< left rows with fewer than k matches
  /// Of the short ones, those that nprobes, maximum_nprobes, fast_search or distance_range cut.
  int64_t capped_rows = 0;
  int64_t result_rows = 0;
  /// Matches that unordered_pairs or mutual kept from coming out.
  int64_t dropped_matches = 0;
  int64_t clusters = 0;  ///< of all left rows, also those of one row; 0 unless asked for
  int64_t partitions_ranked = 0;
  int64_t partitions_probed = 0;  ///< (left row, partition) pairs visited
  int64_t partitions_read = 0;  ///< partitions read and decoded; probed / read = the sharing factor
  int64_t partitions_skipped = 0;  ///< no row of them could match: their row ids alone were read
  int64_t index_comparisons = 0;
  int64_t exact_comparisons = 0;      ///< canonical distances on true vectors
  int64_t rows_refined = 0;           ///< distinct right rows read for a refine
  int64_t rows_scanned = 0;           ///< right rows read by the exact path
  int64_t filter_rows = 0;            ///< right rows that passed the filter
  int64_t filter_rows_evaluated = 0;  ///< right rows read for the filter
  /// So few passed that each was scored and the index that was chosen wasn't searched.
  bool scored_all_passing = false;
  std::vector<std::string> filter_indexes;  ///< scalar indexes that answered parts of it
  std::optional<RecallReport> recall;       ///< when a target was asked for
  int64_t requests = 0;
  int64_t bytes_read = 0;
  int64_t peak_memory_bytes = 0;  ///< reserved of the memory limit
  /// What the process grew by (base/process_memory.h); nothing before the run's end, and where the
  /// system doesn't tell.
  std::optional<int64_t> measured_memory_bytes;
  double filter_s = 0, rank_s = 0, probe_s = 0, refine_s = 0, exact_s = 0, take_s = 0, total_s = 0;
};

/// Which left rows a run joins, and where it cuts them.
struct PartCut {
  int64_t part_rows = 0;  ///< left rows of a part; 0 = all rows are one, and no end is marked
  int64_t first_row = 0;  ///< rows before are skipped; a multiple of part_rows
};

/// Made once, run once. Make and Explain read no left row.
class KnnJoin {
 public:
  /// Checks the options against both sides and chooses the path.
  /// `right_uri` is a Lance dataset, else a Parquet/Arrow file, folder or glob.
  static arrow::Result<std::unique_ptr<KnnJoin>> Make(std::shared_ptr<tabular::TableSource> left,
                                                      const std::string& right_uri,
                                                      const JoinOptions& options);
  /// The same on a dataset that is open already: what it opened of its indexes is used again.
  static arrow::Result<std::unique_ptr<KnnJoin>> Make(std::shared_ptr<tabular::TableSource> left,
                                                      std::shared_ptr<dataset::Dataset> right,
                                                      const JoinOptions& options);
  /// The same on a table: one that can be read again, whose rows the join numbers. `left` and
  /// `right` may be one table. A table that is a Lance dataset is joined as that dataset.
  static arrow::Result<std::unique_ptr<KnnJoin>> Make(std::shared_ptr<tabular::TableSource> left,
                                                      std::shared_ptr<tabular::TableSource> right,
                                                      const JoinOptions& options);
  virtual ~KnnJoin() = default;

  virtual std::shared_ptr<arrow::Schema> output_schema() const = 0;
  /// What the memory plan leaves to who writes the rows, in bytes.
  virtual int64_t output_bytes() const = 0;
  /// The plan as a tree of operators with the path and why, the indexes not taken, the estimated
  /// memory, the memory limit and threads; `verbose` adds how the memory is shared out.
  virtual std::string Explain(bool verbose) const = 0;

  /// Starts the join.
  virtual arrow::Result<std::unique_ptr<stream::ResultStream>> Run(
      base::CancelToken cancel, base::ProgressCallback progress,
      stream::ResultStream::Kind kind = stream::ResultStream::Kind::kPending) = 0;
  /// The same for the rows and in the parts of `cut`: behind the rows of each part comes an empty
  /// batch. Rows that don't exist are no part, but of no rows at all there is one, empty.
  virtual arrow::Result<std::unique_ptr<stream::ResultStream>> RunParts(
      PartCut cut, base::CancelToken cancel, base::ProgressCallback progress) = 0;
  /// What decides the answer, to be compared with that of another run (join/run_identity.h).
  virtual arrow::Result<std::vector<tabular::Trait>> Identity() const = 0;
  /// Instead of a run: the recall of settings from few to all partitions, on a sample of the left.
  virtual arrow::Result<RecallCurve> Tune(const base::CancelToken& cancel) = 0;
  /// Instead of a run: where each left row lies in the index (join/nearest_partitions.h).
  virtual arrow::Result<std::vector<int32_t>> NearestPartitions(
      const base::CancelToken& cancel) = 0;
  /// What happened so far. Any thread.
  virtual JoinReport report() const = 0;
  /// The plan with what was measured; after the stream ended.
  virtual std::string Analyze() const = 0;
};

}  // namespace kinjo::join
